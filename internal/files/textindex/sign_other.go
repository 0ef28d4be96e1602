//go:build !amd64

package textindex

// mark marks the hashes of data.
func (s *signer) mark(data []byte, mask uint16) { s.markGeneric(data, mask) }

// pack makes bits of bytes that are 0 or 1, which are 64 for each of to.
func pack(to []uint64, seen []byte) { packGeneric(to, seen) }
