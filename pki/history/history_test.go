package history_test

import (
	"fmt"
	"math/rand/v2"
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
	of := func(file string) history.Changes {
		c, _ := h.Changes(file, 0)
		return c
	}
	a, b, c := of("a"), of("b"), of("c")
	if a.All != 1 || b.All != 2 || c.All != 2 {
		t.Errorf("counted %v, %v and %v changes", a.All, b.All, c.All)
	}
	if a.Lately != 1 || b.Lately <= 1.3 || b.Lately >= 1.4 || c.Lately > 0.001 || b.Years <= 1.8 || b.Years >= 2 {
		t.Errorf("lately %v, %v and %v; %v in years", a.Lately, b.Lately, c.Lately, b.Years)
	}
	if a.Last != 0 || b.Last != 0 || c.Last != 4000 {
		t.Errorf("last %v, %v and %v days ago", a.Last, b.Last, c.Last)
	}
	if none, known := h.Changes("d", 0); known || none != (history.Changes{}) {
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
	retry, upload := l.Of("retry.go", 0), l.Of("upload.go", 0)
	if retry.Share <= upload.Share || retry.Share > 1 || upload.Share <= 0 {
		t.Errorf("of the likest commits retry.go has %v, upload.go %v", retry.Share, upload.Share)
	}
	if retry.Words <= upload.Words || retry.Words >= 1 || upload.Words <= 0 {
		t.Errorf("of the words retry.go was told %v, upload.go %v", retry.Words, upload.Words)
	}
	if max(retry.Best, upload.Best) != 1 {
		t.Errorf("neither was changed by the likest commit: %v, %v", retry.Best, upload.Best)
	}
	for _, name := range []string{"manual.md", "x", "nowhere"} {
		if v := l.Of(name, 0); v != (history.Told{}) {
			t.Errorf("%s %v", name, v)
		}
	}
	if v := h.Like(words("manual")).Of("manual.md", 0); v.Share != 1 || v.Best != 1 || v.Words <= 0.5 {
		t.Errorf("asked for it, manual.md is %v", v)
	}
}

// TestUnits: what a unit was told is apart from what its file was.
func TestUnits(t *testing.T) {
	one, two := history.NameOf("Server", "one"), history.NameOf("pkg.Server", "two")
	touch := func(c history.Commit, units ...history.Name) history.Commit {
		c.Units = [][]history.Name{units}
		return c
	}
	h := history.Of([]history.Commit{
		touch(commit(0, "Retry uploads", "a.go"), one),
		touch(commit(100, "Retry longer", "a.go"), one, two),
		touch(commit(200, "Close sockets", "a.go"), two),
		commit(300, "Retry others", "b.go"), // it is not known what it touched
	})
	l := h.Like(words("retry"))
	a, b := l.Of("a.go", one), l.Of("a.go", two)
	if a.Share <= b.Share || a.Words <= b.Words || a.Best < b.Best || b.Words <= 0 {
		t.Errorf("one was told %v, two %v", a, b)
	}
	if f := l.Of("a.go", 0); f.Share != a.Share || f.Words <= 0 || f.Words >= a.Words {
		t.Errorf("their file was told %v, one %v", f, a)
	}
	if c := l.Of("b.go", one); c != (history.Told{}) {
		t.Errorf("one of another file was told %v", c)
	}
	if c, known := h.Changes("a.go", two); !known || c.All != 2 || c.Last != 100 {
		t.Errorf("two changed %v, %v", c, known)
	}
	if c, known := h.Changes("b.go", two); known {
		t.Errorf("two of another file changed %v", c)
	}
}

// TestManyWords: more words than can be told apart do no harm.
func TestManyWords(t *testing.T) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "word%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'q')
	}
	h := history.Of([]history.Commit{commit(0, text.String(), "a"), commit(1, "something else", "b")})
	l := h.Like(words(text.String()))
	if v := l.Of("a", 0); v.Share != 1 || v.Best != 1 || v.Words <= 0 || v.Words > 1 {
		t.Errorf("told %v", v)
	}
	if v := l.Of("b", 0); v != (history.Told{}) {
		t.Errorf("something else was told %v", v)
	}
}

// TestNothing: without commits, and with odd ones, nothing is known and nothing
// breaks.
func TestNothing(t *testing.T) {
	var none *history.History
	for _, h := range []*history.History{none, history.Of(nil), history.Of([]history.Commit{
		commit(0, "", "a"), commit(0, "no files"), commit(0, strings.Repeat("\xff\x00 the ", 5000), "a"), {Time: -1 << 62, Files: []string{"b"}},
	})} {
		if v := h.Like(words("anything")).Of("a", 0); v != (history.Told{}) {
			t.Errorf("like nothing: %v", v)
		}
		if v := h.Like(nil).Of("a", 0); v != (history.Told{}) {
			t.Errorf("like no question: %v", v)
		}
		if v, _ := h.Changes("b", 0); v.Lately > 0.001 {
			t.Errorf("long before everything: %v", v)
		}
	}
}

// BenchmarkLike compares a question of 20 words with as many commits as are
// read, and looks up 80 files and 150 units.
func BenchmarkLike(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%cx%cy", 'a'+random.IntN(26), 'a'+random.IntN(26)) }
	some := func(n int) string {
		var text strings.Builder
		for range n {
			text.WriteString(word() + " ")
		}
		return text.String()
	}
	file := func(i int) string { return fmt.Sprint("dir/file", i) }
	unit := func(i int) history.Name { return history.NameOf("", fmt.Sprint(i)) }
	var commits []history.Commit
	for i := range history.MaxCommits {
		// A few files change often.
		a, c := random.IntN(1+random.IntN(1000)), random.IntN(1+random.IntN(1000))
		one := commit(int64(i), some(20), file(a), file(c))
		one.Units = [][]history.Name{{unit(random.IntN(20)), unit(random.IntN(20))}, {unit(random.IntN(20))}}
		commits = append(commits, one)
	}
	h := history.Of(commits)
	question := words(some(20))
	for b.Loop() {
		l := h.Like(question)
		for i := range 80 {
			l.Of(file(i), 0)
		}
		for i := range 150 {
			l.Of(file(i%50), unit(i%20))
		}
	}
}
