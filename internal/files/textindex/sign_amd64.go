package textindex

import "golang.org/x/sys/cpu"

// markAVX2 marks the hashes of the runs that begin in the first bytes of data,
// of which there are n, and returns how many bytes that are. Hashes that don't
// count mark 0.
//
//go:noescape
func markAVX2(seen *[1 << maxBits]byte, data *byte, n int, mask uint16) int

// packAVX2 makes bits of n bytes that are 0 or 1. n is a multiple of 128.
//
//go:noescape
func packAVX2(to *uint64, seen *byte, n int)

// mark marks the hashes of data.
func (s *signer) mark(data []byte, mask uint16) {
	if cpu.X86.HasAVX2 && len(data) >= 64 {
		data = data[markAVX2(&s.seen, &data[0], len(data), mask):]
	}
	s.markGeneric(data, mask)
}

// pack makes bits of bytes that are 0 or 1, which are 64 for each of to.
func pack(to []uint64, seen []byte) {
	if cpu.X86.HasAVX2 {
		packAVX2(&to[0], &seen[0], len(seen))
	} else {
		packGeneric(to, seen)
	}
}
