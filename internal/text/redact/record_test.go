package redact

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// lines are those of a file of test data; `n in one is the end of a line.
func linesOf(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func recordOf(r *Redactor, name, text string) string {
	return r.Record(name, []string{r.Text(text)}, nil)[0]
}

// TestRecord: what is kept of a call has no value where a secret stands, however plain it
// looks.
func TestRecord(t *testing.T) {
	r := New()
	const hidden = "hunter2correcthorse"
	for _, line := range linesOf(t, "recordmisses.txt") {
		text := strings.NewReplacer("@@", hidden+"@", "@", hidden, "`n", "\n").Replace(line)
		if got := recordOf(r, "", text); strings.Contains(got, hidden) || !strings.Contains(got, "[REDACTED") {
			t.Errorf("%s: %s", line, got)
		}
	}
	for _, text := range []string{"DB_PASSWORD=hunter make", "curl -u bob:hunter http://x", "mysql -u root -phunter db", "tool --password hunter", "curl -H 'X-Api-Key: hunter'", "printf 'TOKEN=hunter\\n' > .env"} {
		data, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			t.Fatal(err)
		}
		if whole := recordOf(r, "", string(data)); strings.Contains(whole, "hunter") || !json.Valid([]byte(whole)) {
			t.Errorf("%s, as JSON: %s", text, whole)
		}
	}
	long := strings.Repeat("an ordinary line of text\n", 1000) + "PASSWORD=hunter\n" + strings.Repeat("x", 40_000) + " TOKEN=hunter\n"
	if got := recordOf(r, "", long); strings.Contains(got, "hunter") || len(got) < len(long) {
		t.Error("a long text has its secrets")
	}
	if got := recordOf(r, "", "x?a=1&token="+strings.Repeat("hunter", 5000)+"&b=2"); strings.Contains(got, "hunter") || !strings.HasSuffix(got, "&b=2") {
		t.Error("a long value is kept in part")
	}
}

// TestRecordPlain: what holds no secret is kept as it is, byte for byte.
func TestRecordPlain(t *testing.T) {
	r := New()
	for _, text := range linesOf(t, "recordplain.txt") {
		if got := recordOf(r, "", text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	for _, text := range []string{`{"max_tokens":100}`, `{"token":5,"secret":false,"key":null}`, "make TOKENS=4096", "passes: 3 of 4", "tokenize = fast", "the token was lost", "PASSWORD=${X} make"} {
		if got := recordOf(r, "", text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// TestRecordNames: a member that holds a secret, by its name.
func TestRecordNames(t *testing.T) {
	r := New()
	for _, name := range []string{"password", "apiKey", "API_KEY", "accessToken", "client_secret", "x-api-key", "secretKey", "accessKey", "privateKey", "AccountKey", "SharedAccessKey", "SECRETKEY", "ACCESSKEY", "DBPASS",
		"ROOTPASS", "MYSQLPWD", "PASSWORD2", "password_1", "passwords", "passcode", "pw", "pin", "otp", "bearer", "JWT", "SECRET_KEY_BASE", "authorization", "Cookie", "STRIPE_KEY", "GITHUB_PAT", "_authToken"} {
		if got := r.Record(name, []string{"hunter"}, nil)[0]; got != marked {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"", "path", "content", "keyboard", "tokens", "author", "key", "pat", "pass", "auth", "primary_key", "sortKey", "nextToken", "token_type", "password_file", "keyName", "bypass", "compass", "one-pass", "cwd", "max_tokens"} {
		if got := r.Record(name, []string{"hunter"}, nil)[0]; got != "hunter" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := recordOf(r, "task", "say: the token: is old, and run curl -u bob:hunter http://x"); strings.Contains(got, "hunter") || !strings.Contains(got, "the token: is old") {
		t.Error(got)
	}
	for name, text := range map[string]string{"message": "token: refresh before expiry", "pattern": "password: z.string()", "title": "auth: fix token", "key": "sidecar.review"} {
		if got := recordOf(r, name, text); got != text {
			t.Errorf("%s: %s became %s", name, text, got)
		}
	}
}

// TestRecordWords: the words of one command, each a text of its own.
func TestRecordWords(t *testing.T) {
	r := New()
	for _, words := range [][]string{{"--password", "hunter"}, {"mysql", "-uroot", "-phunter"}, {"curl", "-u", "u:hunter"}, {"curl", "-H", "Authorization: Bearer hunter", "x"}, {"x", "A=b", "DB_PASSWORD=hunter of it"}, {"sh", "-c", "mysql -phunter x"}} {
		if got := strings.Join(r.Record("args", words, nil), " "); strings.Contains(got, "hunter") || !strings.Contains(got, marked) {
			t.Errorf("%s: %s", words, got)
		}
	}
	plain := []string{"go", "test", "-run", "x y", "--key", "a"}
	if got := r.Record("args", plain, nil); strings.Join(got, "|") != strings.Join(plain, "|") {
		t.Errorf("became %s", got)
	}
}

// TestRecordWrites: what a line writes to a file that may hold secrets is not kept.
func TestRecordWrites(t *testing.T) {
	r := New()
	secret := func(path string) bool { return strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], ".env") }
	for _, line := range []string{
		"cat > .env <<EOF\nA=hunter\nEOF", "cat <<'E' >> config/.env && ls\nA=hunter\nE\n", "echo APP=hunter >> .env", "echo APP=hunter >.env", `printf 'A=hunter\n' | tee .env.local`, "echo A=hunter | sudo tee -a .env >/dev/null",
		"(echo A=1; echo B=hunter) > .env", "{ echo A=hunter; echo B; } > .env", "{ echo A=hunter; echo B; } | tee .env", "for x in a; do echo hunter; done > .env", "sed -i 's/A=.*/A=hunter/' .env", "tee .env <<< A=hunter",
		`python3 -c "open('.env','w').write('A=hunter')"`, "bash -c 'echo A=hunter > .env'", "> .env echo A=hunter", "cat <<-E > '.env'\n\tA=hunter\n\tE", "echo hunter | dd of=.env", "Set-Content .env 'A=hunter'", "echo A=hunter &> .env",
	} {
		if got := r.Record("", []string{line}, secret)[0]; strings.Contains(got, "hunter") || !strings.Contains(got, "[REDACTED:file]") {
			t.Errorf("%s: %s", line, got)
		}
		other := strings.ReplaceAll(line, ".env", ".txt")
		if got := r.Record("", []string{other}, secret)[0]; got != other {
			t.Errorf("%s became %s", other, got)
		}
	}
	if got := r.Record("code", []string{"open('.env', 'w').write('A=hunter')"}, secret)[0]; strings.Contains(got, "hunter") {
		t.Error(got)
	}
	for _, line := range []string{"cat .env", "grep hunter .env", "echo hunter > a && cat .env", "cat <<E > a\nhunter\nE\n", "cp .env.example .env", "python3 -c \"print(open('.env').read())\""} {
		if got := r.Record("", []string{line}, secret)[0]; got != line {
			t.Errorf("%s became %s", line, got)
		}
	}
}

// FuzzRecord: no text makes it fail, and one without a secret's place stays as long.
func FuzzRecord(f *testing.F) {
	for _, s := range []string{"", "'", `"`, "a\\", "$(", "`", "<<", "<<E", ")", "#", "a=(", "x\\\n", "password:", "password=[", "password:\n", "<password>", "://@", "-u", `"$(`, "name: PASSWORD\nvalue:", "(PASSWORD '", "password: |"} {
		f.Add(s)
	}
	r := New()
	f.Fuzz(func(t *testing.T, s string) {
		all := func(string) bool { return true }
		r.Record("", []string{s}, all)
		r.Record("", []string{s, s}, nil)
		r.Record("code", []string{s}, all)
	})
}

func BenchmarkRecord(b *testing.B) {
	r := New()
	data, err := os.ReadFile("recordvalues.go")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(data), 10)
	for name, f := range map[string]func(){"text": func() { r.Text(text) }, "record": func() { r.Record("content", []string{text}, nil) }} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				f()
			}
		})
	}
}
