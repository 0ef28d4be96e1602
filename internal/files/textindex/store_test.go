package textindex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// What is in a text is found, in whatever class and form its signature is
// kept; most of what is not, is not.
func TestStoreFindsWhatIsThere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, 4+r.IntN(12))
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_ (;\xc3\x89"[r.IntN(56)]
		}
		return string(b)
	}
	var s store
	var g signer
	texts := make([]string, 3*slabColumns+77)
	columns := make([][]column, len(texts))
	for i := range texts {
		var b strings.Builder
		for range []int{1, 5, 30, 100, 500, 2000}[r.IntN(6)] {
			b.WriteString(word())
			b.WriteByte(" \n"[r.IntN(2)])
		}
		texts[i] = b.String()
		g.cut(mark{})
		g.add([]byte(texts[i]), true)
		from := 0
		for j, log2 := range g.log2 {
			to := from + 1<<log2/64
			columns[i] = append(columns[i], s.add(int32(i), g.parts[j], log2, g.bits[from:to]))
			from = to
		}
	}
	find := func(texts ...[]string) []int32 {
		var need clauses
		for _, clause := range texts {
			var c []alternative
			for _, text := range clause {
				c = append(c, hashesOf([]byte(text)))
			}
			need = append(need, c)
		}
		var got []int32
		s.find(need, func(f int32, _ Part) { got = append(got, f) })
		slices.Sort(got)
		return slices.Compact(got)
	}
	wrong := 0
	for i, text := range texts {
		at := r.IntN(len(text))
		line, _, _ := strings.Cut(text[at:], "\n")
		if len(line) < 4 {
			continue
		}
		part := strings.ToUpper(line[:min(len(line), 4+r.IntN(20))])
		if !slices.Contains(find([]string{part}), int32(i)) || !slices.Contains(find([]string{"zqxzqx", part}, []string{part}), int32(i)) {
			t.Fatalf("%q of %d is not found", part, i)
		}
		wrong += len(find([]string{part + "zqxjkvq"}))
	}
	if wrong > 5*len(texts) { // of a million and more
		t.Errorf("%d texts were found in vain", wrong)
	}
	for i, cs := range columns {
		if i%2 == 0 {
			for _, c := range cs {
				s.drop(c)
			}
		}
	}
	for _, f := range find() {
		if f%2 == 0 {
			t.Fatalf("%d was dropped", f)
		}
	}
	if n := len(find()); n != len(texts)/2 {
		t.Errorf("%d are left", n)
	}
}

// The parts of a file are all of it, in whatever pieces it came, and begin
// with the lines that they say.
func TestParts(t *testing.T) {
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, "line %d%s\n", i, strings.Repeat("x", i%97*(i%11/10)))
	}
	text := b.String()
	for _, size := range []int{100, 5000, blockSize, 3 * blockSize, len(text)} {
		var g signer
		g.cut(mark{})
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			n += strings.IndexByte(rest[n-1:], '\n')
			g.add([]byte(rest[:n]), n == len(rest))
			rest = rest[n:]
		}
		at := uint32(0)
		for _, p := range g.parts {
			if p.From != at || p.To <= p.From || int(p.Line) != 1+strings.Count(text[:p.From], "\n") {
				t.Fatalf("pieces of %d: %+v after %d", size, p, at)
			}
			at = p.To
		}
		if int(at) != len(text) || len(g.parts) != len(g.log2) {
			t.Errorf("pieces of %d: the parts end at %d of %d", size, at, len(text))
		}
	}
}

func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	columns := make([][]uint64, slabColumns)
	for i := range columns {
		columns[i] = []uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
	}
	slab := transpose(columns)
	for c, want := range columns {
		if got := untranspose(slab, c, nil); !slices.Equal(got, want) {
			t.Fatal(fmt.Sprint(c, got, want))
		}
	}
}
