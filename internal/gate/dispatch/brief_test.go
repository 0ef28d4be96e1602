package dispatch

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// TestBrief: a person who sees three lines of a question sees what would be
// done, and that there is more if there is.
func TestBrief(t *testing.T) {
	text := func(s string) []byte { return []byte(s) }
	many := strings.Repeat("same\n", 10)
	for name, c := range map[string]struct {
		changes []workspace.Change
		want    string
	}{
		"a line":              {[]workspace.Change{{Path: "README.md", Before: text("# t\n\nCounts words.\n"), After: text("# t\n\nTells words.\n")}}, "README.md:3: -Counts words. / +Tells words."},
		"added":               {[]workspace.Change{{Path: "a", Before: text("1\n"), After: text("1\n  2\n")}}, "a:2: +2"},
		"removed":             {[]workspace.Change{{Path: "a", Before: text("1\n2\n"), After: text("2\n")}}, "a:1: -1"},
		"new":                 {[]workspace.Change{{Path: "a", After: text("1\n2\n3\n4\n")}}, "a: new: +1 / +2 / … 2 more lines"},
		"deleted":             {[]workspace.Change{{Path: "a", Before: text("1\n")}}, "a: deleted: -1"},
		"renamed":             {[]workspace.Change{{Path: "b", From: "a", Before: text("1\n"), After: text("1\n")}}, "a → b"},
		"bytes":               {[]workspace.Change{{Path: "a", Before: text("\x00\x01"), After: text("1\n")}}, "a: modify, not text: 2 and 2 bytes"},
		"long":                {[]workspace.Change{{Path: "a", After: text(strings.Repeat("x", 500))}}, "a: new: +" + strings.Repeat("x", 60) + "…"},
		"a name of two lines": {[]workspace.Change{{Path: "a\nb", After: text("1\n")}}, `a\nb: new: +1`},
		"places": {[]workspace.Change{
			{Path: "a", Before: text("1\n" + many + "1\n" + many + "1\n"), After: text("2\n" + many + "2\n" + many + "2\n")}, {Path: "b", After: text("1\n")},
		}, "a:1: -1 / +2\na:12: -1 / +2\n… and 2 more places"},
		"nothing": {nil, ""},
	} {
		if got, _ := brief(c.changes); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		after string
		whole bool
	}{"all of it": {"2\n", true}, "white space": {"\t1\n", false}, "a long line": {strings.Repeat("x", 61) + "\n", false}, "three lines": {"2\n3\n4\n", false}} {
		if _, whole := brief([]workspace.Change{{Path: "a", Before: text("1\n"), After: text(c.after)}}); whole != c.whole {
			t.Errorf("%s: the brief tells all: %v", name, whole)
		}
	}
}
