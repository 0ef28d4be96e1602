package history_test

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

const day = 24 * 60 * 60

func words(text string) []history.Word {
	var out []history.Word
	for _, w := range strings.Fields(text) {
		out = append(out, history.Word{ID: terms.Word(w), Weight: 1})
	}
	return out
}

func commit(age int64, message string, files ...string) history.Commit {
	return history.New(1_700_000_000-age*day, message, files, terms.Stops())
}

func TestChanges(t *testing.T) {
	h := history.Of([]history.Commit{
		commit(0, "now", "a", "b"), commit(120, "months ago", "b"), commit(5000, "long ago", "c"), commit(4000, "again", "c"),
	})
	a, b, c := h.Changes("a"), h.Changes("b"), h.Changes("c")
	if a.All != 1 || b.All != 2 || c.All != 2 {
		t.Errorf("counted %v, %v and %v changes", a.All, b.All, c.All)
	}
	if a.Lately != 1 || b.Lately <= 1.3 || b.Lately >= 1.4 || c.Lately > 0.001 || b.Years <= 1.8 || b.Years >= 2 {
		t.Errorf("lately %v, %v and %v; %v in years", a.Lately, b.Lately, c.Lately, b.Years)
	}
	if none := h.Changes("d"); none != (history.Changes{}) {
		t.Errorf("a file that never changed: %v", none)
	}
}

func TestLike(t *testing.T) {
	everything := make([]string, history.MaxFiles+1)
	for i := range everything {
		everything[i] = strings.Repeat("x", i+1)
	}
	h := history.Of([]history.Commit{
		commit(1, "Retry uploads after a timeout", "upload.go", "retry.go"),
		commit(2, "Retries wait longer", "retry.go"),
		commit(3, "Typo in the manual", "manual.md"),
		commit(4, "New licence for every timeout", everything...),
	})
	l := h.Like(words("retry waiting timeout"))
	if retry, upload := l.Of("retry.go"), l.Of("upload.go"); retry != 1 || upload <= 0 || upload >= 1 {
		t.Errorf("retry.go %v, upload.go %v", retry, upload)
	}
	for _, name := range []string{"manual.md", "x", "nowhere"} {
		if v := l.Of(name); v != 0 {
			t.Errorf("%s %v", name, v)
		}
	}
	if v := h.Like(words("manual")).Of("manual.md"); v != 1 {
		t.Errorf("asked for it, manual.md is %v", v)
	}
}

// TestNothing: without commits, and with odd ones, nothing is known and nothing
// breaks.
func TestNothing(t *testing.T) {
	var none *history.History
	for _, h := range []*history.History{none, history.Of(nil), history.Of([]history.Commit{
		commit(0, "", "a"), commit(0, "no files"), commit(0, strings.Repeat("\xff\x00 the ", 5000), "a"), {Time: -1 << 62, Files: []string{"b"}},
	})} {
		if v := h.Like(words("anything")).Of("a"); v != 0 {
			t.Errorf("like nothing: %v", v)
		}
		if v := h.Like(nil).Of("a"); v != 0 {
			t.Errorf("like no question: %v", v)
		}
		if v := h.Changes("b"); v.Lately > 0.001 {
			t.Errorf("long before everything: %v", v)
		}
	}
}
