package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

func load[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []T `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("%s: %d cases, %v", name, len(file.Cases), err)
	}
	return file.Cases
}

type secretCase struct {
	ID    string   `json:"id"`
	Parts []string `json:"parts"`
	Start int      `json:"secret_start"`
	Len   int      `json:"secret_len"`
}

// leaks reports whether a part of secret that is worth something is in text.
func leaks(text, secret string) bool {
	const enough = 12
	for i := 0; i+min(enough, len(secret)) <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+min(enough, len(secret))]) {
			return true
		}
	}
	return false
}

func TestSecrets(t *testing.T) {
	r := New()
	cases := load[secretCase](t, "secrets.json")
	missed := 0
	for _, c := range cases {
		text := strings.Join(c.Parts, "")
		secret := text[c.Start : c.Start+c.Len]
		if !leaks(text, secret) {
			t.Fatalf("%s: the case has no secret", c.ID)
		}
		got := r.Text(text)
		if leaks(got, secret) {
			missed++
			t.Logf("%s: missed", c.ID)
		}
		if again := r.Text(got); again != got {
			t.Errorf("%s: a second time changes the text: %q", c.ID, again)
		}
	}
	if missed*50 > len(cases) {
		t.Errorf("%d of %d missed", missed, len(cases))
	}
	t.Logf("%d of %d found, %d controls", len(cases)-missed, len(cases), len(cases))
}

func TestHarmlessTextStays(t *testing.T) {
	r := New()
	type harmless struct{ ID, Text string }
	cases := load[harmless](t, "secrets-negative.json")
	for _, text := range []string{
		"token := lexer.NextToken(1234)", "password = getpass.getpass('Password2: ')", "secret: config.Secrets.Version2", "tokenBucketLimit2: 100000000",
		"https://localhost:8080/a@b", "http://user:password@host/", "postgres://app:${PG_PASS}@db", "Basic functionality of the tool",
		"api_key: string (required)", `"token": "access_token_v2"`, "sk-learn-contrib-and-other-names", "-----BEGIN PRIVATE KEY-----", "[REDACTED:jwt]", "password=[REDACTED:secret]",
	} {
		cases = append(cases, harmless{text, text})
	}
	changed := 0
	for _, c := range cases {
		if got := r.Text(c.Text); got != c.Text {
			changed++
			t.Errorf("%s: %q became %q", c.ID, c.Text, got)
		}
	}
	controls := 0
	for _, c := range load[secretCase](t, "secrets.json") {
		if text := strings.Join(c.Parts, ""); r.Text(text) != text {
			controls++
		}
	}
	t.Logf("%d of %d unchanged, %d controls", len(cases)-changed, len(cases), controls)
}

func TestTypesAreNamed(t *testing.T) {
	r := New()
	for in, want := range map[string]string{
		"api_key = ghp" + "_aKsHOFoBGy9PzbNcsZFSGyNvoCyHfHMvUYRe.": "api_key = [REDACTED:github-token].",
		"-gh" + "p_aKsHOFoBGy9PzbNcsZFSGyNvoCyHfHMvUYRe":           "-[REDACTED:github-token]",
		`{"password": "Oar4vv%oJnnB2@OzUB"}`:                       `{"password": "[REDACTED:secret]"}`,
		`{\"password\": \"Oar4vv%oJnnB2@OzUB\"}`:                   `{\"password\": \"[REDACTED:secret]\"}`,
		"postgres://app:sv6avZp6NVzVD9CM@db":                       "postgres://app:[REDACTED:url-password]@db",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestKnownValues(t *testing.T) {
	const value = `pass "word"/ü+1`
	r := New("abc")
	if got := r.Text("abc"); got != "abc" {
		t.Errorf("a short value was hidden: %q", got)
	}
	r.Know("added", []string{value, "other-value"})
	quoted, _ := json.Marshal(value)
	for name, form := range map[string]string{
		"plain": value, "query": url.QueryEscape(value), "path": url.PathEscape(value), "json": string(quoted[1 : len(quoted)-1]),
		"hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		"base64": base64.StdEncoding.EncodeToString([]byte(value)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(value)), "other": "other-value",
	} {
		got := r.Text("x" + form + "y")
		if !strings.HasPrefix(got, "x"+Marker) || !strings.HasSuffix(got, "y") || leaks(got, form) {
			t.Errorf("%s: %q", name, got)
		}
		if again := r.Text(got); again != got {
			t.Errorf("%s: a second time: %q", name, again)
		}
	}
	for shift := range 3 {
		form := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("u", shift+1) + ":" + value + ":after"))
		if got := r.Text(form); leaks(got, form[6:len(form)-10]) {
			t.Errorf("base64 moved by %d: %q", shift, got)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, c := range load[secretCase](f, "secrets.json") {
		f.Add(strings.Join(c.Parts, ""))
	}
	r := New("known-value")
	f.Fuzz(func(t *testing.T, s string) {
		once := r.Text(s)
		if twice := r.Text(once); twice != once {
			t.Errorf("once %q, twice %q", once, twice)
		}
		if strings.Contains(once, "known-value") {
			t.Errorf("%q", once)
		}
	})
}

func goroot(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		needs.Skip(tb, needs.Sources, "no go command at hand")
	}
	return strings.TrimSpace(string(out))
}

// source is Go code from the standard library, without tests.
func source(tb testing.TB, most int) string {
	var b strings.Builder
	_ = filepath.WalkDir(filepath.Join(goroot(tb), "src"), func(path string, d os.DirEntry, err error) error {
		if err != nil || b.Len() > most {
			return filepath.SkipAll
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "testdata") {
			data, _ := os.ReadFile(path)
			b.Write(data)
		}
		return nil
	})
	if b.Len() < most/2 {
		needs.Skip(tb, needs.Sources, "no standard library at hand")
	}
	return b.String()
}

func TestFalseAlarms(t *testing.T) {
	text := source(t, 16<<20)
	r := New()
	found := strings.Count(r.Text(text), Marker) - strings.Count(text, Marker)
	if found*(1<<20) > len(text) {
		t.Errorf("%d in %d bytes", found, len(text))
	}
	t.Logf("%d in %d bytes", found, len(text))
}

func BenchmarkText(b *testing.B) {
	r := New("a-known-value", "another-known-value")
	long := "{\"k\":\"" + strings.Repeat("lorem ipsum token=abc; key: 123, https://example.test/x?y=z ", 10<<20/60) + "\"}"
	for _, c := range []struct{ name, text string }{
		{"small", "internal/app/app.go:12: func run(ctx context.Context, args []string) error { return nil }"},
		{"source", source(b, 4<<20)},
		{"oneLine10MB", long},
		{"hostile10MB", strings.Repeat("password=eyJ-eyJ -----BEGIN PRIVATE KEY-----://a:b", 10<<20/50)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Text(c.text)
			}
		})
	}
}

// TestKnownAcrossLines: a known value is hidden where lines are broken within
// it, however wide they are. What stands around it stays, and so do words that a
// short value is made of.
func TestKnownAcrossLines(t *testing.T) {
	const value, short = "correct horse/battery+staple 7", "ab12"
	r := New(value, short)
	held, tried, controls := 0, 0, 0
	for _, end := range []string{"\n", "\r\n", "\n    ", "\r\n\t", "\n+", "\n-  "} {
		for cut := 1; cut < len(value)-1; cut++ {
			if value[cut-1] == ' ' || value[cut] == ' ' || value[cut] == '+' {
				continue // the blank, or the sign, is gone with the end of the line
			}
			text := "line one\nlong: " + value[:cut] + end + value[cut:] + "\nline four\n"
			tried++
			if got := r.Text(text); got == "line one\nlong: [REDACTED:known]\nline four\n" {
				held++
			} else {
				t.Errorf("%q becomes %q", text, got)
			}
			if New(short).Text(text) == text {
				controls++
			}
		}
	}
	twice := "x " + value[:9] + "\n  " + value[9:20] + "\n  " + value[20:] + " y"
	if got := r.Text(twice); got != "x [REDACTED:known] y" {
		t.Errorf("over three lines: %q", got)
	}
	for _, harmless := range []string{"a\nb12", "ab\n12 is a word", "correct\n\nhorse"} {
		if got := r.Text(harmless); got != harmless {
			t.Errorf("%q becomes %q", harmless, got)
		}
	}
	t.Logf("%d of %d held, %d controls", held, tried, controls)
}

// TestBlanksStay: what documentation writes in the place of a token stays
// readable. The controls are tokens with such a word in them by chance.
func TestBlanksStay(t *testing.T) {
	r := New()
	for _, text := range []string{"xoxb-your-token", "SLACK=xoxb-your-bot-token-here", "sk-ant-your-api-key-goes-here", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "glpat-xxxxxxxxxxxxxxxxxxxx", "sk-proj-YOUR_OPENAI_KEY_GOES_HERE", "AIzaYourGoogleApiKeyGoesHereAsExampleText"} {
		if got := r.Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for _, text := range []string{"xoxb-123456789012-1234567890123-yourAbCdEfGhIjKlMnOpQrSt", "ghp_youraB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW", "sk-ant-api03-herexQ9mK2vL5nR8tY1wZ4"} {
		if got := r.Text(text); !strings.HasPrefix(got, Marker) {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestAddressAsPath: the password of an address that was taken for a path, and
// made clean as one, is hidden.
func TestAddressAsPath(t *testing.T) {
	r := New()
	for text, want := range map[string]string{
		"https:/me:xK93jd8Qm2@h.test/a.git: there is no such file":   "https:/me:[REDACTED:url-password]@h.test/a.git: there is no such file",
		"a/https:/5f0c3b9ad1e24c7788aa5f0c3b9ad1e24c7788ab@h.test/x": "a/https:/[REDACTED:url-token]@h.test/x",
		"https://me:xK93jd8Qm2@h.test":                               "https://me:[REDACTED:url-password]@h.test",
		"C:/Users/me:x@y":                                            "C:/Users/me:x@y",
		"see a:/b/c@v1.2.3 and file:/etc/hosts":                      "see a:/b/c@v1.2.3 and file:/etc/hosts",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
