//go:build cgo

package treesitter

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// Scripts that the parser does not get still have an outline.
func TestShellWithoutParser(t *testing.T) {
	src := read(t, "testdata/outline/run.sh")
	lang := Language("run.sh", src)
	more := append(src[:len(src):len(src)], strings.Repeat("cat <<END\nx\nEND\n", 200)...)
	if survivable(lang, more) {
		t.Fatal("the parser would get this")
	}
	var want, got []string
	for _, s := range extract(t, "run.sh", src) {
		if s.Kind != pki.Variable && s.Depth == 0 {
			want = append(want, s.Name+s.Doc)
		}
	}
	for _, s := range extract(t, "run.sh", more) {
		if s.Name != "inner" && s.Name != "not_a_function" { // what a line cannot tell
			got = append(got, s.Name+s.Doc)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-parser +lines:\n%s", d)
	}
}

func TestTimeLimit(t *testing.T) {
	// A parse that cannot end in a microsecond, whatever the machine.
	src := []byte(strings.Repeat("int f(int a) { return (a + 1) * 2; }\n", 20000))
	g := grammarOf("c")
	if symbols, err := g.symbols(src, 1000); !errors.Is(err, ErrTimeout) || symbols != nil {
		t.Errorf("got %d symbols and %v, want %v", len(symbols), err, ErrTimeout)
	}
	// The one that was given up leaves nothing behind for the next.
	symbols, err := Extract("c", []byte("int g(void) { return 1; }\n"))
	if err != nil || len(symbols) != 1 || symbols[0].Name != "g" {
		t.Errorf("after a timeout: %+v, %v", symbols, err)
	}
}

func TestQueries(t *testing.T) {
	for i := range grammars {
		g := &grammars[i]
		if err := g.compile(); err != nil {
			t.Errorf("%s: %v", g.lang, err)
			continue
		}
		for i, c := range g.captures {
			if c.role == roleNone {
				t.Errorf("%s: capture @%s means nothing", g.lang, g.compiled.CaptureNameForId(uint32(i)))
			}
		}
		for p := range g.compiled.PatternCount() {
			if len(g.compiled.PredicatesForPattern(p)) > 0 {
				t.Errorf("%s: pattern %d has a predicate; nothing evaluates it", g.lang, p)
			}
		}
	}
}
