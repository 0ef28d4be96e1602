package dispatch

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/redact"
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
	for _, args := range []string{`{"path":"a.go","content":"hunter\n"}`, `{"command":"go test ./..."}`, `{"tokens":4096,"name":"key"}`} {
		if got := string(auditedArguments(json.RawMessage(args), r)); got != args {
			t.Errorf("%s became %s", args, got)
		}
	}
}
