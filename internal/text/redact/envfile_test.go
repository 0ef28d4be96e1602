package redact

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestEnvValues(t *testing.T) {
	const file = `# a comment with SECRET=not-this-one-7
export API_KEY=from-export-1
QUOTED="two words \"and\" more $5"
SINGLE='it is # not a comment' # this is
SPACED = spaced-value-2   # a comment
yaml_token: yaml-value-3
DB_PASSWORD=hunter2
DATABASE_URL=postgres://app:pa55-in-url@db.example.org/x
KEY=value-that-nobody-knows
SOMETHING=k9-unnamed-4
EMPTY=
SHORT_KEY=abc
NODE_ENV=development-2
PORT=8080
APP_URL=http://localhost:3000/path
AWS_REGION=us-east-1
APP_NAME=my-app-name
LOG=/var/log/app-1.log
PASSWORD=changeme
SECRET=your-secret-here
DEBUG=true
GREETING=Hello to all of you
CERT="-----BEGIN-----
first-line-of-a-long-one
second-line-of-a-long-one
-----END-----"
AFTER_KEY=after-the-lines-5
OPEN_KEY="never closed
LAST_KEY=the-last-one-6
`
	got := EnvValues(file)
	want := []string{"from-export-1", `two words "and" more $5`, "it is # not a comment", "spaced-value-2", "yaml-value-3", "hunter2",
		"pa55-in-url", "postgres://app:pa55-in-url@db.example.org/x", "value-that-nobody-knows", "k9-unnamed-4",
		"-----BEGIN-----\nfirst-line-of-a-long-one\nsecond-line-of-a-long-one\n-----END-----", "first-line-of-a-long-one", "second-line-of-a-long-one",
		"after-the-lines-5", `"never closed`, "the-last-one-6"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if n := len(EnvValues(strings.Repeat("A_KEY=same-value-1\n", 10*maxPairs))); n != 1 {
		t.Errorf("%d values of one", n)
	}
}

// A source's values take the place of those that it named before, those of
// other sources stay, and there are never more than so many.
func TestKnow(t *testing.T) {
	r := New("from-the-start-1")
	hides := func(want bool, values ...string) {
		t.Helper()
		for _, v := range values {
			for _, form := range encodings(v) {
				if (r.Text("x "+form+" y") != "x "+form+" y") != want {
					t.Errorf("%q of %q: hidden: %v", form, v, !want)
				}
			}
		}
	}
	r.Know("file", []string{"old <value> a/b-2", "kept-value-3"})
	hides(true, "from-the-start-1", "old <value> a/b-2", "kept-value-3")
	r.Know("file", []string{"kept-value-3", "new-value-4"})
	hides(true, "from-the-start-1", "kept-value-3", "new-value-4")
	if s := "old <value> a/b-2"; r.Text(s) != s {
		t.Error("a value is hidden that nobody holds any more")
	}
	r.Know("file", nil)
	r.Know("", nil)
	if s := "from-the-start-1 kept-value-3"; r.Text(s) != s {
		t.Error("nothing is known, and something hidden")
	}
	var many []string
	for i := range 2 * maxValues {
		many = append(many, fmt.Sprintf("value-number-%06d", i))
	}
	r.Know("file", append(many, "a-longer-value-than-the-others"))
	hides(true, "a-longer-value-than-the-others", many[0])
	if s := many[len(many)-1]; r.Text(s) != s {
		t.Error("there is no bound")
	}
	for _, short := range []string{"abc", "", strings.Repeat("x", maxKnown+1)} {
		r.Know("file", []string{short})
		if s := "abc " + short; r.Text(s) != s {
			t.Errorf("%d bytes are hidden", len(short))
		}
	}
}

// TestStandIns: a word in the place of a key is not hidden, wherever it came from.
// Controls: short and simple passwords are, and secrets that have such a word in them.
func TestStandIns(t *testing.T) {
	for _, word := range []string{"none", "None", "NULL", "ollama", "dummy", "lm-studio", "local", "test", "placeholder", "changeme", "xxxx", "xxxxxxxx", "XXXX-XXXX", "****",
		"your-key-here", "YOUR_API_KEY", "your-openai-api-key", "sk-your-key-here", "insert_your_token_here", "my-secret-key", "<api key>", "${API_KEY}", "sk-no-key-required"} {
		r := New(word)
		if s := "it says " + word + " here"; r.Text(s) != s {
			t.Errorf("%s is hidden: %s", word, r.Text(s))
		}
		if list := EnvValues("OPENAI_API_KEY=" + word + "\n"); len(list) > 0 {
			t.Errorf("of a file: %q", list)
		}
	}
	for _, secret := range []string{"hunt", "qwer", "fox1", "abcd", "0000", "7777", "nones", "ollama1", "test1234", "none-of-it", "local-7f3a", "xxxx1", "xyx-y", "sunshine", "dragon", "letmein",
		"your-key-7f3a", "your-mother-was-a-hamster", "my-dog-has-a-key-ring", "changeme!", "${not a template", "<b4nana>", "${b4nana}", "placeholder-for-2026"} {
		if s := "it says " + secret + " here"; New(secret).Text(s) == s {
			t.Errorf("control: %s is not hidden", secret)
		}
	}
}
