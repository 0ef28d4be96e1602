package lsp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// oneByOne is what ChangeAll has to come to.
func oneByOne(d *Document, changes []ContentChange, enc Encoding) *Document {
	for _, c := range changes {
		d = d.Change(c, enc)
	}
	return d
}

// TestChangeAll: whatever the order of the changes, and whatever their ranges
// mean, making many at once comes to the same as making one after the other.
func TestChangeAll(t *testing.T) {
	slow.Test(t)
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "bc", "ä", "😀", "\n", "\n", "\n", "x\ny", "", "\r", "\r\n"}
	text := func(n, kinds int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pieces[rng.IntN(kinds)])
		}
		return b.String()
	}
	atOnce := 0
	for range 20_000 {
		kinds := len(pieces) - 2*rng.IntN(2) // with \r and without
		enc := []Encoding{UTF8, UTF16, UTF32}[rng.IntN(3)]
		d := NewDocument(text(rng.IntN(200), kinds))
		var changes []ContentChange
		order := rng.IntN(3)
		n := manyChanges + rng.IntN(manyChanges)
		offsets := make([]int, n)
		for i := range offsets {
			offsets[i] = rng.IntN(len(d.Text()) + 1)
		}
		switch order {
		case 0:
			slices.Sort(offsets)
		case 1:
			slices.Sort(offsets)
			slices.Reverse(offsets)
		}
		now := d
		for i := range n {
			// Ranges that mean the text as it is then, more or less.
			at := offsets[i]
			if order == 0 {
				at += len(now.Text()) - len(d.Text())
			}
			start := now.Position(at, enc)
			end := now.Position(at+rng.IntN(3), enc)
			if order == 1 && i > 0 && rng.IntN(8) > 0 {
				end = now.Position(min(at+rng.IntN(3), max(at, offsets[i-1])), enc)
			}
			switch rng.IntN(60) {
			case 0:
				start, end = end, start
			case 1:
				end.Character += uint32(rng.IntN(5))
			case 2:
				end.Line += uint32(rng.IntN(5))
			}
			c := ContentChange{Range: &Range{Start: start, End: end}, Text: text(rng.IntN(3), kinds)}
			if rng.IntN(200) == 0 {
				c = ContentChange{Text: text(20, kinds)}
			}
			changes = append(changes, c)
			now = now.Change(c, enc)
		}
		steps := 0
		got, want := d.ChangeAll(changes, enc, func(*Document) { steps++ }), oneByOne(d, changes, enc)
		if got.Text() != want.Text() || !slices.Equal(got.starts, want.starts) {
			t.Fatalf("%q after %+v\nis   %q\nwant %q", d.Text(), changes, got.Text(), want.Text())
		}
		if steps < n {
			atOnce++
		}
	}
	if atOnce < 5_000 {
		t.Errorf("only %d of 20000 had changes that were made at once", atOnce)
	}
}

// TestChangeAllAtOnce: what editors report of an edit of very many places is
// made in a few steps, from the last place to the first or the other way round.
func TestChangeAllAtOnce(t *testing.T) {
	const n = 10_000
	d := NewDocument(strings.Repeat("one\ntwo\n", n))
	var up, down []ContentChange
	for i := range n {
		at := func(line int) *Range {
			return &Range{Start: Position{Line: uint32(line)}, End: Position{Line: uint32(line + 1)}}
		}
		up = append(up, ContentChange{Range: at(2 * (n - 1 - i)), Text: "1\n1.5\n"})
		down = append(down, ContentChange{Range: at(3 * i), Text: "1\n1.5\n"})
	}
	want := strings.Repeat("1\n1.5\ntwo\n", n)
	for name, changes := range map[string][]ContentChange{"upwards": up, "downwards": down} {
		steps := 0
		if got := d.ChangeAll(changes, UTF16, func(*Document) { steps++ }); got.Text() != want || steps > 2 {
			t.Errorf("%s: %d steps, right: %v", name, steps, got.Text() == want)
		}
	}
}

func BenchmarkChangeAll(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 50_000, 200_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := NewDocument(strings.Repeat("one\ntwo\n", n))
			var changes []ContentChange
			for i := range n {
				line := uint32(2 * (n - 1 - i))
				changes = append(changes, ContentChange{Range: &Range{Start: Position{Line: line}, End: Position{Line: line, Character: 3}}, Text: "three"})
			}
			for b.Loop() {
				d.ChangeAll(changes, UTF16, func(*Document) {})
			}
		})
	}
}
