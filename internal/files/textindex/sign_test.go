package textindex

import (
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// randomText has words, numbers, spaces, signs and bytes of all kinds.
func randomText(r *rand.Rand, n int) []byte {
	kinds := []string{"abcdefghijklmnopqrstuvwxyz_", "abcXYZ019_", " \t\n(){};.,->=*", "\xc3\xa9\x80\xff\x00\x7f\x1f@`[{^~"}
	var b []byte
	for len(b) < n {
		kind := kinds[min(r.IntN(7)/2, 3)]
		for range r.IntN(12) {
			b = append(b, kind[r.IntN(len(kind))])
		}
	}
	return b[:n]
}

// What vectors mark, and what is marked without branches, is what one run after
// another marks.
func TestMarkIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		data := randomText(r, i+r.IntN(1+i*i/40))
		mask := uint16(1<<(minBits+i%(maxBits-minBits+1)) - 1)
		var want, fast, slow signer
		want.seen[0], fast.seen[0], slow.seen[0] = 1, 1, 1
		for _, h := range hashesOf(data) {
			want.seen[h&mask] = 1
		}
		fast.mark(slices.Clone(data), mask)
		slow.markGeneric(data, mask)
		if fast.seen != want.seen || slow.seen != want.seen {
			t.Fatalf("%d bytes, mask %#x: %q", len(data), mask, data)
		}
		n := (int(mask) + 1) / 64
		a, b := make([]uint64, n), make([]uint64, n)
		pack(a, fast.seen[:64*n])
		packGeneric(b, slow.seen[:64*n])
		if !slices.Equal(a, b) {
			t.Fatalf("%x is packed to %x", b, a)
		}
	}
}

// A part of a text has no hash that the text has not, in whatever letter case:
// else a search would miss it.
func TestHashesOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	otherCase := func(text []byte) []byte {
		out := slices.Clone(text)
		for i, c := range out {
			if lower := c | 0x20; 'a' <= lower && lower <= 'z' && r.IntN(2) == 0 {
				out[i] ^= 0x20
			}
		}
		return out
	}
	hashes := 0
	for range 3000 {
		text := randomText(r, 1+r.IntN(80))
		from := r.IntN(len(text))
		part := text[from : from+r.IntN(len(text)-from+1)]
		whole := hashesOf(otherCase(text))
		for _, h := range hashesOf(otherCase(part)) {
			hashes++
			if !slices.Contains(whole, h) {
				t.Fatalf("%q in %q", part, text)
			}
		}
	}
	if hashes < 20_000 {
		t.Errorf("only %d hashes were looked for", hashes)
	}
}

// Text with no four letters of a word side by side is looked for by all its
// runs, but for those that have one byte between two words.
func TestHashesOfShortWords(t *testing.T) {
	for text, want := range map[string]int{
		"a->b": 1, "x[i]": 1, "!= nil": 3, ".Get(": 2, "->ops->": 4, "if (!p": 3, "err != nil": 7, "&& !": 1, "$(CC)": 2, "(*p)": 1,
		"ab.c": 0, "a.bc": 0, "ab.cd": 0, "abc.def": 2, "a.b.c": 2, "err := x.y": 7, "a{\n}b": 0,
	} {
		if got := len(hashesOf([]byte(text))); got != want {
			t.Errorf("%q has %d hashes, not %d", text, got, want)
		}
	}
}

// A block of text that is nothing but chance doesn't have all bits set, else every
// search would read it.
func TestSignatureOfChance(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var text []byte
	for len(text) < blockSize {
		for range 76 {
			text = append(text, digits[r.IntN(len(digits))])
		}
		text = append(text, '\n')
	}
	var s signer
	s.block(text)
	set := 0
	for _, w := range s.bits {
		set += bits.OnesCount64(w)
	}
	if share := float64(set) / float64(64*len(s.bits)); share > 0.85 {
		t.Errorf("of 2^%d bits %.2f are set", s.log2[0], share)
	}
}

// The package's own source, again and again, as a file of common size.
func BenchmarkSign(b *testing.B) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		b.Fatal(err)
	}
	var text []byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		text = append(text, data...)
	}
	text = text[:min(len(text), blockSize/2)]
	b.SetBytes(int64(len(text)))
	var s signer
	for b.Loop() {
		s.cut(mark{})
		s.add(text, true)
	}
}
