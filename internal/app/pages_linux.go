package app

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"syscall"
)

// forgetStart lets go of the pages of this program's file that its start has
// used: tables are built and hundreds of packages set up once, and what of the
// program does that would stay mapped for good. What is needed again comes
// back from the page cache. Below a debugger, whose breakpoints stand in these
// pages, and wherever the program is laid out in another way, nothing is done.
func forgetStart() {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || !bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
		return
	}
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil {
		return
	}
	page := uint64(os.Getpagesize())
	for _, s := range unwritable(head[:n]) {
		// Only pages that are the segment's as a whole.
		if start, end := (s.start+page-1)&^(page-1), s.end&^(page-1); start < end {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(start), uintptr(end-start), syscall.MADV_DONTNEED)
		}
	}
}

// segment is where a part of the program is in memory.
type segment struct{ start, end uint64 }

// unwritable are the segments of a program that can't have been written since
// it was loaded, by the head of its file: those that were never writable. What
// is protected only after relocation is not among them. It knows programs of
// 64 bits, of low bytes first, that are loaded where their file says.
func unwritable(head []byte) []segment {
	const (
		header  = 64 // bytes of the file header
		entry   = 56 // of a program header
		load    = 1
		write   = 2
		atPlace = 2 // ET_EXEC
	)
	le := binary.LittleEndian
	if len(head) < header || !bytes.HasPrefix(head, []byte("\x7fELF\x02\x01")) || le.Uint16(head[16:]) != atPlace || le.Uint16(head[54:]) != entry {
		return nil
	}
	at, count := le.Uint64(head[32:]), uint64(le.Uint16(head[56:]))
	if at > uint64(len(head)) || count*entry > uint64(len(head))-at {
		return nil
	}
	var found []segment
	for p := head[at : at+count*entry]; len(p) > 0; p = p[entry:] {
		start, size := le.Uint64(p[16:]), le.Uint64(p[40:])
		if le.Uint32(p) == load && le.Uint32(p[4:])&write == 0 {
			found = append(found, segment{start, start + size})
		}
	}
	return found
}
