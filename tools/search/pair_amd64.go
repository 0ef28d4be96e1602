package search

import "golang.org/x/sys/cpu"

// pairAVX2 looks at the first n places of p, 64 at a time, for the first i
// where p[i]|mask1 is want1 and p[i+off]|mask2 is want2. When there is none it
// returns the complement of how many places it has looked at.
//
//go:noescape
func pairAVX2(p *byte, n, off int, want1, want2, mask1, mask2 byte) int

// index returns the first of n places in data where the pair is, or -1. Data
// must have n+off bytes.
func (p *pair) index(data []byte, n int) int {
	if n < 64 || !cpu.X86.HasAVX2 {
		return p.indexGeneric(data, n)
	}
	i := pairAVX2(&data[0], n, p.off, p.want[0], p.want[1], p.mask[0], p.mask[1])
	if i >= 0 {
		return i
	}
	done := ^i
	if i = p.indexGeneric(data[done:], n-done); i >= 0 {
		i += done
	}
	return i
}
