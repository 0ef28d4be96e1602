package match

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// sources returns Go files of the standard library.
func sources(t testing.TB, n int) []*Text {
	t.Helper()
	var texts []*Text
	for _, dir := range []string{"net/http", "go/types", "encoding/json", "reflect", "strconv", "text/template"} {
		files, err := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err == nil && len(data) > 8<<10 {
				texts = append(texts, New(string(data)))
			}
		}
	}
	if len(texts) == 0 {
		needs.Skip(t, needs.Sources, "no sources of the standard library here")
	}
	rand.New(rand.NewPCG(7, 7)).Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts[:min(n, len(texts))]
}

// mutations are the slips that models make when they copy lines.
var mutations = []struct {
	name string
	min  int     // lines of the block
	rate float64 // share that must be found
	do   func(r *rand.Rand, lines []string) []string
}{
	{"none", 3, 0.99, func(_ *rand.Rand, l []string) []string { return l }},
	{"tabs to spaces", 3, 0.99, spaces},
	{"trailing space", 3, 0.99, func(r *rand.Rand, l []string) []string {
		i := r.IntN(len(l))
		l[i] += "  "
		return l
	}},
	{"indentation lost", 3, 0.99, func(_ *rand.Rand, l []string) []string {
		cut := Indent(l[0])
		for _, line := range l {
			for trim(line) != "" && !strings.HasPrefix(line, cut) {
				cut = cut[:len(cut)-1]
			}
		}
		for i := range l {
			l[i] = strings.TrimPrefix(l[i], cut)
		}
		return l
	}},
	{"one slip", 8, 0.99, func(r *rand.Rand, l []string) []string { return slips(r, l, 1) }},
	{"three slips", 16, 0.99, func(r *rand.Rand, l []string) []string { return slips(r, l, 3) }},
	{"line dropped", 12, 0.99, dropped},
	{"three letters changed", 20, 0.96, func(r *rand.Rand, l []string) []string { return letters(r, l, 3) }},
	{"spaces, three letters changed, line dropped", 20, 0.96, func(r *rand.Rand, l []string) []string {
		return spaces(r, letters(r, dropped(r, l), 3))
	}},
	{"spaces, three slips, line dropped", 20, 0.99, func(r *rand.Rand, l []string) []string {
		return spaces(r, slips(r, dropped(r, l), 3))
	}},
}

func spaces(_ *rand.Rand, l []string) []string {
	for i := range l {
		in := Indent(l[i])
		l[i] = strings.ReplaceAll(in, "\t", "    ") + l[i][len(in):]
	}
	return l
}

// slips mistypes letters inside of longer words.
func slips(r *rand.Rand, l []string, n int) []string {
	done := map[string]bool{}
	for tries := 0; n > 0 && tries < 1000; tries++ {
		i := r.IntN(len(l))
		ws := words(l[i])
		if len(ws) == 0 {
			continue
		}
		w := ws[r.IntN(len(ws))]
		if len(w) < 5 || strings.ContainsAny(w, "0123456789") || done[w] {
			continue
		}
		at := 1 + r.IntN(len(w)-3)
		bad := w
		switch r.IntN(3) {
		case 0:
			bad = w[:at] + w[at+1:]
		case 1:
			bad = w[:at] + w[at:at+1] + w[at:]
		case 2:
			bad = w[:at] + w[at+1:at+2] + w[at:at+1] + w[at+2:]
		}
		if bad == w {
			continue
		}
		done[w], done[bad] = true, true
		l[i] = strings.Replace(l[i], w, bad, 1)
		n--
	}
	return l
}

// letters changes letters anywhere. That can make one name of another, which
// nobody can tell from a block that is meant for another place.
func letters(r *rand.Rand, l []string, n int) []string {
	for tries := 0; n > 0 && tries < 1000; tries++ {
		i := r.IntN(len(l))
		if len(l[i]) == 0 {
			continue
		}
		at := r.IntN(len(l[i]))
		if c := l[i][at] | 0x20; c < 'a' || c > 'z' {
			continue
		}
		l[i] = l[i][:at] + string(rune('a'+r.IntN(26))) + l[i][at+1:]
		n--
	}
	return l
}

// dropped leaves out a line that is unlike those around it.
func dropped(r *rand.Rand, l []string) []string {
	for range 100 {
		i := 1 + r.IntN(len(l)-2)
		if len(trim(l[i])) < 4 || trim(l[i]) == trim(l[i-1]) || trim(l[i]) == trim(l[i+1]) {
			continue
		}
		return append(l[:i:i], l[i+1:]...)
	}
	return l
}

// TestMutations finds changed copies of blocks again. A block that is in its
// file more than once has no right place and is passed over.
func TestMutations(t *testing.T) {
	slow.Test(t)
	texts := sources(t, 60)
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			right, refused, wrong := 0, 0, 0
			reasons := map[string]int{}
			for _, text := range texts {
				for range rounds {
					size := m.min + r.IntN(m.min+4)
					if len(text.Lines) < size+2 {
						continue
					}
					first := r.IntN(len(text.Lines) - size)
					block := Texts(text.Lines[first : first+size])
					if trim(block[0]) == "" || trim(block[size-1]) == "" || !recoverable(text, block) {
						continue
					}
					mut := m.do(r, append([]string(nil), block...))
					p, err := Find(t.Context(), text, mut, Options{})
					switch {
					case err != nil:
						refused++
						reasons[fmt.Sprintf("%T", err)]++
						if miss := (*Missing)(nil); errors.As(err, &miss) {
							reasons[miss.Reason]++
						}
					case p.First == first && p.Last == first+size:
						right++
						replaced(t, text, p, mut, first, size)
					default:
						wrong++
						t.Errorf("wrong place %d–%d for %d–%d (%s):\n%s", p.First, p.Last, first, first+size, p.Tier, strings.Join(block, "\n"))
					}
				}
			}
			total := right + refused + wrong
			t.Logf("%d blocks: %.2f %% right, %d refused %v, %d wrong", total, 100*float64(right)/float64(total), refused, reasons, wrong)
			if float64(right) < float64(total)*m.rate {
				t.Errorf("only %d of %d blocks found", right, total)
			}
		})
	}
}

// replaced puts another line in place of the block: nothing around it changes.
func replaced(t *testing.T, text *Text, p Match, block []string, first, size int) {
	t.Helper()
	c, err := Apply(text, p, Script(block, []string{"REPLACED"}), KeepFinal)
	if err != nil {
		t.Errorf("block of %d lines at %d: %v", size, first, err)
		return
	}
	got, err := text.With([]Change{c.Trim(text)})
	if err != nil {
		t.Error(err)
		return
	}
	before, after := 0, len(text.Body)
	for _, l := range text.Lines[:first] {
		before += len(l.Text) + len(l.EOL)
	}
	for _, l := range text.Lines[first+size:] {
		after -= len(l.Text) + len(l.EOL)
	}
	pre, post := text.Body[:before], text.Body[after:]
	mid, ok := strings.CutPrefix(got, pre)
	mid, ok2 := strings.CutSuffix(mid, post)
	if !ok || !ok2 || strings.TrimSpace(mid) != "REPLACED" {
		t.Errorf("block of %d lines at %d became %.200q", size, first, mid)
	}
}

// recoverable reports whether a block is one of a kind in its file, not in
// doubt even for a reader: nothing else there is nearly like it.
func recoverable(t *Text, block []string) bool {
	if !distinctive(block) {
		return false
	}
	b := newBlock(block)
	n := 0
	for _, r := range b.regions(t, 0) {
		if r.dist < 0.15 {
			n++
		}
	}
	return n == 1 && b.solid >= len(block)*2/3
}

// TestAbsent looks for blocks that are not in the text although something like
// them is: the sibling must not be taken for it.
func TestAbsent(t *testing.T) {
	texts := sources(t, 60)
	r := rand.New(rand.NewPCG(3, 4))
	taken, total := 0, 0
	for _, text := range texts {
		for range 6 {
			size := 4 + r.IntN(16)
			if len(text.Lines) < size+2 {
				continue
			}
			first := r.IntN(len(text.Lines) - size)
			block := append([]string(nil), Texts(text.Lines[first:first+size])...)
			// The block's own lines go; what is left may be like it.
			rest := append(append([]Line(nil), text.Lines[:first]...), text.Lines[first+size:]...)
			var body strings.Builder
			for _, l := range rest {
				body.WriteString(l.Text + l.EOL)
			}
			without := New(body.String())
			if strings.Contains(body.String(), strings.Join(block, "\n")) || !distinctive(block) {
				continue
			}
			total++
			if p, err := Find(t.Context(), without, block, Options{}); err == nil && p.Tier == Similar {
				taken++
				t.Errorf("taken (%.3f):\n%s\nfor:\n%s", p.Score, strings.Join(block, "\n"), strings.Join(Texts(without.Lines[p.First:p.Last]), "\n"))
			}
		}
	}
	t.Logf("%d blocks that are not there: %d taken for another", total, taken)
}

func TestSiblingIsNotTaken(t *testing.T) {
	body := "package x\n\nfunc TestAlpha(t *testing.T) {\n\tx := setup(t)\n\tdefer x.Close()\n\tcheck(x, 1)\n\tx.Finish()\n}\n"
	for _, c := range []struct{ name, block string }{
		{"another function's name", "func TestGamma(t *testing.T) {\n\tx := setup(t)\n\tdefer x.Close()\n\tcheck(x, 1)\n\tx.Finish()\n}"},
		{"another number", "\tx := setup(t)\n\tdefer x.Close()\n\tcheck(x, 2)\n\tx.Finish()\n}"},
		{"a name of one letter", "\tx := setup(t)\n\tdefer y.Close()\n\tcheck(x, 1)\n\tx.Finish()\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p, err := Find(t.Context(), New(body), strings.Split(c.block, "\n"), Options{}); err == nil {
				t.Errorf("taken at line %d by %s", p.First+1, p.Tier)
			}
		})
	}
	p, err := Find(t.Context(), New(body), strings.Split("\tx := setup(t)\n\tdefer x.Cloose()\n\tcheck(x, 1)\n\tx.Finish()\n}", "\n"), Options{})
	if err != nil || p.First != 3 || p.Tier != Similar {
		t.Errorf("a slip: %+v, %v; want line 4 by similarity", p, err)
	}
}

// bigText is a Go file of 10,000 lines.
func bigText(t testing.TB) *Text {
	var b strings.Builder
	for _, s := range sources(t, 60) {
		for _, l := range s.Lines {
			b.WriteString(l.Text + "\n")
		}
	}
	text := New(b.String())
	if len(text.Lines) < 10_000 {
		needs.Skip(t, needs.Sources, "too few")
	}
	end := 0
	for _, l := range text.Lines[:10_000] {
		end += len(l.Text) + 1
	}
	return New(text.Body[:end])
}

// BenchmarkLocate10k locates a block of 20 lines with spaces for tabs,
// three slips and a line dropped, in 10,000 lines, splitting included.
func BenchmarkLocate10k(b *testing.B) {
	text := bigText(b)
	r := rand.New(rand.NewPCG(5, 6))
	var block []string
	for first := 6000; ; first++ {
		block = Texts(text.Lines[first : first+20])
		if recoverable(text, block) && trim(block[0]) != "" && trim(block[19]) != "" {
			block = spaces(r, slips(r, dropped(r, append([]string(nil), block...)), 3))
			if _, err := Find(b.Context(), text, block, Options{}); err == nil {
				break
			}
		}
	}
	b.SetBytes(int64(len(text.Body)))
	for b.Loop() {
		if _, err := Find(b.Context(), New(text.Body), block, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNearest10k is the same block when nothing is like it.
func BenchmarkNearest10k(b *testing.B) {
	text := bigText(b)
	var block []string
	for i := range 20 {
		block = append(block, fmt.Sprintf("whatever %d is said here, nothing of it is there", i))
	}
	for b.Loop() {
		if _, err := Find(b.Context(), New(text.Body), block, Options{}); err == nil {
			b.Fatal("found")
		}
	}
}
