package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRecord: what is kept of a call has no value where a secret stands, however plain it
// looks, and all else as it is.
func TestRecord(t *testing.T) {
	r := New()
	for _, text := range []string{
		"DB_PASSWORD=hunter make", "PASSWORD=hunter make", "export API_KEY='hunter'", `PGPASSWORD="hunter" psql`, "curl -u bob:hunter http://x", "curl --user=bob:hunter http://x",
		"mysql -u root -phunter db", "sshpass -p hunter ssh x", "docker login -u bob -p hunter", "redis-cli -a hunter ping", "tool --password hunter", "tool --api-key=hunter x",
		"tool --db-password 'hunter'", "curl -H 'X-Api-Key: hunter'", "curl -H 'Authorization: Bearer hunter'", "curl -H \"Authorization: token hunter\"", "curl -H 'Cookie: sid=hunter'",
		"git clone https://bob:hunter@example.org/x", `{"password": "hunter"}`, "password: hunter\n", "secret = 'hunter'", "my.auth.token=hunter", "x.npmrc: //host/:_authToken=hunter",
		"$env:GITHUB_TOKEN = 'hunter'", "printf 'TOKEN=hunter\\n' > .env", "AWS_SECRET_ACCESS_KEY=hunter aws s3 ls", "cat <<E > .env\nSTRIPE_KEY=hunter\nE", "--header=Authorization:hunter", "MYSQL_PWD=hunter mysql", "set -x GH_PAT=hunter",
	} {
		got := r.Record("", r.Text(text))
		if strings.Contains(got, "hunter") || !strings.Contains(got, "[REDACTED") {
			t.Errorf("%s: %s", text, got)
		}
		data, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			t.Fatal(err)
		}
		if whole := r.Record("", r.Text(string(data))); strings.Contains(whole, "hunter") || !json.Valid([]byte(whole)) {
			t.Errorf("%s, as JSON: %s", text, whole)
		}
	}
	for _, name := range []string{"password", "apiKey", "API_KEY", "accessToken", "client_secret", "auth", "x-api-key"} {
		if got := r.Record(name, "hunter"); got != marked {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"", "path", "content", "keyboard", "tokens", "author"} {
		if got := r.Record(name, "hunter"); got != "hunter" {
			t.Errorf("%s: %s", name, got)
		}
	}
	long := strings.Repeat("an ordinary line of text\n", inRecord) + "PASSWORD=hunter\n" + strings.Repeat("x", 3*inRecord) + " TOKEN=hunter\n"
	if got := r.Record("", long); strings.Contains(got, "hunter") || len(got) < len(long) {
		t.Error("a long text has its secrets")
	}
	for _, text := range []string{
		"go test ./...", "make TOKENS=4096", `{"max_tokens":100}`, `{"token":5,"secret":false,"key":null}`, "echo $API_KEY", "export TOKEN=$OTHER", "PASSWORD=${X} make", "keyboard: us", "passes: 3 of 4", "tokenize = fast",
		"git push -u origin main", "ssh -p 22 host", "monkey=banana", "author=me", "grep -rn password .", "cp -u a b", "http://localhost:8080/x", "the token was lost",
	} {
		if got := r.Record("", r.Text(text)); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}
