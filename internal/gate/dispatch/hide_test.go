package dispatch

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// TestHideJSON: a secret in a string is hidden as the string's reader sees it,
// not as it is encoded; one that only its name gives away, by the whole text.
// What has none stays byte for byte.
func TestHideJSON(t *testing.T) {
	r := redact.New("sesame\topen \"now\"")
	const token = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vWx3yZ"
	secrets := map[string]string{
		"behind a colour":      "\x1b[32m" + token,
		"behind a tab":         "a\t" + token,
		"behind a line":        "a\n" + token,
		"over two lines":       "token " + token[:20] + "\n    " + token[20:],
		"behind a bell":        "\a" + token,
		"known, with escapes":  "sesame\topen \"now\"",
		"behind an apostrophe": "<" + token + ">",
	}
	held := 0
	for name, s := range secrets {
		data, err := json.Marshal(map[string]any{"stdout": s, "n": json.Number("12345678901234567890")})
		if err != nil {
			t.Fatal(err)
		}
		got, ok := hideJSON(data, r.Text, nil)
		var out struct {
			Stdout string
			N      json.Number
		}
		if !ok || json.Unmarshal(got, &out) != nil || out.Stdout != r.Text(s) || !strings.Contains(out.Stdout, redact.Marker) || out.N != "12345678901234567890" {
			t.Errorf("%s: %s, %v", name, got, ok)
			continue
		}
		held++
	}
	if got, ok := hideJSON([]byte(`{"db_password":"xK93jd8Qm2Lz41"}`), r.Text, nil); !ok || !strings.Contains(string(got), redact.Marker) {
		t.Errorf("by its name: %s, %v", got, ok)
	}
	controls := 0
	for _, plain := range []string{`{"b":1,"a":"x\ty\u003c"}`, `[1.0, 2e3]`, `"x"`} {
		if got, ok := hideJSON([]byte(plain), r.Text, nil); !ok || string(got) != plain {
			t.Errorf("%s becomes %s, %v", plain, got, ok)
			continue
		}
		controls++
	}
	if _, ok := hideJSON([]byte(`{"a":`), r.Text, nil); ok {
		t.Error("half a text is taken for JSON")
	}
	t.Logf("%d of %d held, %d controls", held, len(secrets), controls)
}

// TestRecorded: of arguments no value that stands where a secret does is kept, nor the text of
// a file that may hold them, and all else is.
func TestRecorded(t *testing.T) {
	r := redact.New()
	for args, kept := range map[string]string{
		`{"command":"DB_PASSWORD=hunter make all"}`:                                "make all",
		`{"password":"hunter","user":"bob"}`:                                       "bob",
		`{"headers":{"X-Api-Key":"hunter"},"url":"http://x"}`:                      "http://x",
		`{"path":".env","content":"A=hunter\nB=hunter\n"}`:                         ".env",
		`{"path":"config/.env.local","edits":[{"search":"a","replace":"hunter"}]}`: "config/.env.local",
		`{"args":["--token","x"],"line":"tool --token hunter"}`:                    "tool",
	} {
		got := string(auditedArguments(json.RawMessage(args), r))
		if strings.Contains(got, "hunter") || !strings.Contains(got, kept) || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s", args, got)
		}
	}
	for _, args := range []string{`{"path":"a.go","content":"hunter\n"}`, `{"command":"go test ./..."}`, `{"tokens":4096,"name":"key"}`, `{"key":"sidecar.review.mode","value":"review"}`, `{"auth":"none","key":"a/b.txt","pat":"*.go"}`,
		`{"message":"token: refresh before expiry"}`, `{"headers":[{"name":"Accept","value":"text/html"}]}`, `{"argv":["go","test","-run","A"],"keys":["a"],"pattern":"x"}`} {
		if got := string(auditedArguments(json.RawMessage(args), r)); got != args {
			t.Errorf("%s became %s", args, got)
		}
	}
}

// TestRecordedMembers: what stands in a secret, beside the name of one, or as a word of a command
// behind an option is not kept.
func TestRecordedMembers(t *testing.T) {
	r := redact.New()
	for _, args := range []string{
		`{"headers":{"Authorization":"Bearer hunter"}}`, `{"headers":{"Authorization":"hunter"}}`, `{"headers":[{"name":"Authorization","value":"Bearer hunter"}]}`, `{"headers":{"Cookie":"sid=hunter"}}`, `{"authorization":"hunter"}`, `{"cookie":"hunter"}`,
		`{"password":{"value":"hunter"}}`, `{"password":["hunter"]}`, `{"args":["--password","hunter"]}`, `{"argv":["mysql","-uroot","-phunter"]}`, `{"argv":["curl","-u","u:hunter"]}`, `{"argv":["curl","-H","Authorization: Bearer hunter"]}`,
		`{"name":"DB_PASSWORD","value":"hunter"}`, `{"passwords":["hunter"]}`, `{"pin":"hunter"}`, `{"auth":{"user":"u","pass":"hunter"}}`, `{"basic":{"username":"u","pw":"hunter"}}`, `{"env":{"DBPASS":"hunter"}}`, `{"env":["DB_PASSWORD=hunter"]}`,
		`{"secretKey":"hunter"}`, `{"credentials":{"user":"u","value":"hunter"}}`, `{"connectionString":"Server=h;Pwd=hunter"}`, `{"env":[{"name":"A_TOKEN","value":"hunter"}]}`,
	} {
		got := string(auditedArguments(json.RawMessage(args), r))
		if strings.Contains(got, "hunter") || !strings.Contains(got, "[REDACTED:secret]") || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s", args, got)
		}
	}
}

// TestRecordedFiles: the text of a file that may hold secrets is not kept, by whatever road it
// is written; that of others is.
func TestRecordedFiles(t *testing.T) {
	r := redact.New()
	audited := func(args map[string]any) string {
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		got := auditedArguments(data, r)
		if !json.Valid(got) {
			t.Errorf("no JSON: %s", got)
		}
		return string(got)
	}
	for _, args := range []map[string]any{
		{"patch": "*** Begin Patch\n*** Add File: .env\n+APP=hunter\n+B=hunter\n*** End Patch\n"},
		{"patch": "*** Begin Patch\n*** Update File: a.go\n-a\n+b\n*** Update File: x/.env\n@@ A=hunter\n-A=1\n+A=hunter\n*** End Patch\n"},
		{"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: .env\n@@\n-A=1\n+A=hunter\n*** End Patch\n"},
		{"patch": "--- a/.env\n+++ b/.env\n@@ -1 +1 @@ A=hunter\n-A=hunter\n+A=hunter\n"},
		{"patch": "--- /dev/null\r\n+++ b/.env\r\n@@ -0,0 +1 @@\r\n+A=hunter\r\n"},
		{"diff": "diff --git a/.env b/.env\nnew file mode 100644\n--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+A=hunter\n"},
		{"command": "apply_patch <<'E'\n*** Begin Patch\n*** Add File: .env\n+APP=hunter\n*** End Patch\nE"},
		{"command": "cat > .env <<EOF\nAPP=hunter\nEOF"}, {"command": "echo APP=hunter >> .env"}, {"command": "printf 'A=hunter\\n' | tee .env.local"},
		{"command": "echo " + strings.Repeat("hunter ", 2000) + "> .env"},
		{"language": "python", "code": "with open('.env', 'w') as f:\n    f.write('APP=hunter')\n"}, {"language": "bash", "code": "echo APP=hunter > .env"}, {"language": "javascript", "code": "fs.writeFileSync(\".env\", \"APP=hunter\")"},
		{"path": ".env", "new_text": "hunter"}, {"path": ".env", "lines": []string{"A=hunter"}}, {"path": ".env", "oldString": "A", "newString": "hunter"}, {"file": ".env", "key": "A", "value": "hunter"},
	} {
		if got := audited(args); strings.Contains(got, "hunter") || !strings.Contains(got, fileText) {
			t.Errorf("%v: %s", args, got)
		}
	}
	for _, args := range []map[string]any{
		{"patch": "*** Begin Patch\n*** Add File: a.txt\n+APP=hunter\n*** End Patch\n"}, {"patch": "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+hunter\n"}, {"patch": "*** Begin Patch\n*** Update File: .env\n+x\n*** Update File: a.go\n+hunter\n*** End Patch\n"},
		{"command": "echo hunter > a.txt"}, {"code": "print('hunter')"}, {"code": "open('a.txt', 'w').write('hunter')"}, {"command": "grep hunter .env"},
	} {
		if got := audited(args); !strings.Contains(got, "hunter") {
			t.Errorf("%v: %s", args, got)
		}
	}
}
