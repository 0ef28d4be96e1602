package rank

import (
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

func weightOf(q Question, id terms.ID) float32 {
	for _, t := range q.Terms {
		if t.ID == id {
			return t.Weight
		}
	}
	return 0
}

func TestRead(t *testing.T) {
	r := NewReader(Default())
	q := r.Read("Parser fails on `readFile`\nThe parser of internal/parse/lexer.go:12 calls Lexer.next and skips blanks.\n```\nfrobnicate(parser)\n```\n" +
		"Traceback:\n  File \"/home/u/site-packages/app/core.py\", line 3, in run_all\n    at Server.handle (/srv/web/server.js:10:5)\n")
	for what, c := range map[string]struct{ more, less terms.ID }{
		"a title over a body":            {terms.Word("parser"), terms.Word("lexer")},
		"a body over code":               {terms.Word("blank"), terms.Word("frobnicate")},
		"ticks over what stands without": {terms.Whole("readFile"), terms.Word("blank")},
	} {
		if a, b := weightOf(q, c.more), weightOf(q, c.less); a <= b || b <= 0 {
			t.Errorf("%s: %v and %v", what, a, b)
		}
	}
	for _, n := range []Name{{"readFile", ""}, {"next", "Lexer"}, {"run_all", ""}, {"handle", "Server"}, {"frobnicate", ""}} {
		if !slices.Contains(q.Names, n) {
			t.Errorf("%v is not among the names %v", n, q.Names)
		}
	}
	for _, p := range []string{"internal/parse/lexer.go", "app/core.py", "srv/web/server.js"} {
		if !slices.Contains(q.Paths, p) {
			t.Errorf("%s is not among the paths %q", p, q.Paths)
		}
	}
	if q.Tests || !r.Read("which tests cover the parser?").Tests {
		t.Error("questions about tests are not told apart")
	}
	if weightOf(q, terms.Word("the")) != 0 || len(r.Read("what is the").Terms) == 0 {
		t.Error("stop words count, or a question of nothing else is empty")
	}
	for text, want := range map[string][]Name{
		"where is hello used": {{"hello", ""}, {"used", ""}}, "hello xyz": {{"hello", ""}}, "who calls get?": {{"get", ""}},
		"where is it": nil, "how do requests get from the router to their handlers": nil,
	} {
		if got := r.Read(text).Names; !slices.Equal(got, want) {
			t.Errorf("%q names %v, want %v", text, got, want)
		}
	}
	if n := len(r.Read(strings.Repeat("a.b.c `d` /e/f.go:1 ", 5000)).Names); n > 60 {
		t.Errorf("%d names", n)
	}
}

func TestPlaces(t *testing.T) {
	for path, want := range map[string][2]float32{
		"net/http/server.go": {1, 0.25}, "server.go": {1, 1}, "x/y/server.go": {0.25, 0.25}, "net/http": {0.3, 0}, "client.go": {0, 0},
	} {
		q := &Question{Paths: []string{path}}
		if a, b := pathShare(q, "src/net/http/server.go"), pathShare(q, "web/server.go"); a != want[0] || b != want[1] {
			t.Errorf("%s: %v and %v, want %v", path, a, b, want)
		}
	}
}

// TestPairs: words side by side stand for a name, words apart don't.
func TestPairs(t *testing.T) {
	r := NewReader(Default())
	for text, want := range map[string]bool{"the file writer": true, "file-writer": true, "a file. writer": false, "file the writer": false, "writer file": false} {
		if got := weightOf(r.Read(text), terms.Whole("fileWriter")) > 0; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestScope: what a title is about is told from the title.
func TestScope(t *testing.T) {
	r := NewReader(Default())
	for text, want := range map[string]bool{
		"lexer: skip blanks": true, "fix(lexer): skip blanks": true, "fix: lexer": false, "skip blanks in lexer": false, "see http://lexer": false,
	} {
		got := slices.ContainsFunc(r.Read(text).Terms, func(t Term) bool { return t.ID == terms.Word("lexer") && t.Scope })
		if got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
