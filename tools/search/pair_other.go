//go:build !amd64

package search

// index returns the first of n places in data where the pair is, or -1. Data
// must have n+off bytes.
func (p *pair) index(data []byte, n int) int { return p.indexGeneric(data, n) }
