package match

import "math/bits"

// distance is the Levenshtein distance of two strings in bytes, found with
// Myers' bit vectors, 64 cells of a column at a time (Hyyrö's block form).
func distance(a, b string) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return len(b)
	}
	if len(a) <= 64 {
		return distance64(a, b)
	}
	return distanceLong(a, b)
}

func distance64(a, b string) int {
	var eq [256]uint64
	for i := range len(a) {
		eq[a[i]] |= 1 << i
	}
	pv, mv := ^uint64(0), uint64(0)
	last := uint64(1) << (len(a) - 1)
	score := len(a)
	for i := range len(b) {
		e := eq[b[i]]
		xv := e | mv
		xh := (((e & pv) + pv) ^ pv) | e
		ph, mh := mv|^(xh|pv), pv&xh
		if ph&last != 0 {
			score++
		}
		if mh&last != 0 {
			score--
		}
		ph, mh = ph<<1|1, mh<<1
		pv, mv = mh|^(xv|ph), ph&xv
	}
	return score
}

func distanceLong(a, b string) int {
	words := (len(a) + 63) / 64
	eq := make([]uint64, 256*words)
	for i := range len(a) {
		eq[int(a[i])*words+i/64] |= 1 << (i % 64)
	}
	pv, mv := make([]uint64, words), make([]uint64, words)
	for i := range pv {
		pv[i] = ^uint64(0)
	}
	last := uint64(1) << ((len(a) - 1) % 64)
	score := len(a)
	for i := range len(b) {
		pin, min := uint64(1), uint64(0)
		row := eq[int(b[i])*words:]
		for w := range words {
			e := row[w]
			xv := e | mv[w]
			e |= min
			xh := (((e & pv[w]) + pv[w]) ^ pv[w]) | e
			ph, mh := mv[w]|^(xh|pv[w]), pv[w]&xh
			if w == words-1 {
				if ph&last != 0 {
					score++
				}
				if mh&last != 0 {
					score--
				}
			}
			pout, mout := ph>>63, mh>>63
			ph, mh = ph<<1|pin, mh<<1|min
			pv[w], mv[w] = mh|^(xv|ph), ph&xv
			pin, min = pout, mout
		}
	}
	return score
}

// withinTable is the smallest distance of a pattern to any part of b. The
// pattern has n bytes, 1 to 64, and eq says where each of them occurs in it.
func withinTable(eq *[256]uint64, n int, b string) int {
	pv, mv := ^uint64(0), uint64(0)
	shift := n - 1
	score, best := n, n
	for i := range len(b) {
		e := eq[b[i]]
		xv := e | mv
		xh := (((e & pv) + pv) ^ pv) | e
		ph, mh := mv|^(xh|pv), pv&xh
		score += int(ph>>shift&1) - int(mh>>shift&1)
		best = min(best, score)
		ph, mh = ph<<1, mh<<1
		pv, mv = mh|^(xv|ph), ph&xv
	}
	return best
}

// key hashes a line without its white space; 0 stands for a blank line.
func key(s string) uint64 {
	const prime = 0x9E3779B97F4A7C15
	h, n := uint64(0), uint64(0)
	for i := range len(s) {
		c := s[i]
		if c == ' ' || c == '\t' {
			continue
		}
		h = (h ^ uint64(c)) * prime
		n++
	}
	if n == 0 {
		return 0
	}
	return bits.RotateLeft64(h, 29) ^ n | 1
}
