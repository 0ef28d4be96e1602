package search

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// searcher is one worker of a query.
type searcher struct {
	q       *Query
	c       *collector
	m       *matcher
	reader  *textindex.Reader // nil without an index
	buf     []byte            // the file
	decoded []byte            // the file, when it was UTF-16
	hits    []match

	piece   []byte
	whole   []byte      // the file, when it came in one piece
	inOne   bool        // it did
	head    [sniff]byte // its beginning, when it did not
	headLen int
	first   bool // the next piece is the first
	hit     bool // there may be something in a piece

	file     *FileMatches // being gathered
	isBinary bool         // the file
	number   int          // of the first line of the piece
	room     int          // how many of the file's lines to keep

	searched, binary, tooLarge int
}

// sniff is how much of a file is looked at for NUL, the sign of a binary file,
// before it is searched. A file that matches is looked at in full.
const sniff = 1 << 10

func (s *searcher) visit(e *workspace.Entry) {
	if s.reader != nil && s.q.Context == 0 {
		if parts := s.reader.Parts(e); parts != nil && s.visitParts(e, parts) == nil {
			return
		}
	}
	data, found, err := s.find(e)
	if found == inPieces {
		err = s.pieces(e)
		if errors.Is(err, bufio.ErrTooLong) {
			found = inText
			data, err = s.read(e)
		}
	}
	switch {
	case errors.Is(err, workspace.ErrTooLarge):
		s.tooLarge++
		return
	case err != nil:
		return
	}
	s.searched++
	if found == inPieces {
		s.done()
		return
	}
	if bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0 {
		s.binary++
		return
	}
	if found == nowhere {
		return
	}
	s.m.reset(data)
	l, ok := s.m.next(0)
	if !ok {
		return
	}
	s.begin(e.Path)
	if s.isBinary = bytes.IndexByte(data, 0) >= 0; !s.isBinary {
		s.gather(data, l, ok)
	}
	s.done()
}

// begin starts a file in which something matches.
func (s *searcher) begin(path string) {
	s.file, s.isBinary, s.number, s.room = &FileMatches{Path: path}, false, 1, s.c.room(path)
}

// gather takes the matching lines of the file's text, or of its next piece,
// from the first one on.
func (s *searcher) gather(data []byte, l match, ok bool) {
	s.hits = s.hits[:0]
	for ok {
		s.file.Count++
		if !s.q.Count && s.file.kept+len(s.hits) < s.room {
			s.hits = append(s.hits, l)
		}
		if s.q.First {
			break
		}
		l, ok = s.m.next(l.end + 1)
	}
	if !s.c.units {
		s.addText(s.file, data)
	}
}

// done hands over the file's lines.
func (s *searcher) done() {
	switch f := s.file; {
	case s.isBinary:
		s.binary++
	case f.Count > 0:
		s.c.add(f)
	}
	s.file = nil
}

// pieces searches a long file in which something matches once more, now for
// all of its lines.
func (s *searcher) pieces(e *workspace.Entry) error {
	s.begin(e.Path)
	return e.Scan(s.piece, func(data []byte, _ bool) bool {
		if s.isBinary = bytes.IndexByte(data, 0) >= 0; s.isBinary {
			return false
		}
		if s.q.First && s.file.Count > 0 {
			return true
		}
		s.m.reset(data)
		l, ok := s.m.next(0)
		s.gather(data, l, ok)
		s.number += bytes.Count(data, []byte{'\n'})
		return s.m.ctx.Err() == nil
	})
}

// visitParts searches only some of a long file: in the rest, nothing matches.
func (s *searcher) visitParts(e *workspace.Entry, parts []textindex.Part) error {
	s.begin(e.Path)
	for _, p := range parts {
		s.buf = slices.Grow(s.buf[:0], int(p.To-p.From))[:p.To-p.From]
		if err := e.ReadAt(s.buf, int64(p.From)); err != nil {
			return err
		}
		s.m.reset(s.buf)
		if l, ok := s.m.next(0); ok {
			s.number = int(p.Line)
			s.gather(s.buf, l, ok)
			if s.q.First {
				break
			}
		}
	}
	s.searched++
	s.done()
	return nil
}

// pieceSize is how much of a file is read at a time as long as nothing
// matches: it stays in the processor's cache, and most files fit.
const pieceSize = 128 << 10

// matchIn is where the lines that match a file are to be looked for.
type matchIn int

const (
	nowhere  matchIn = iota // no line matches
	inText                  // in the whole text
	inPieces                // in the file, piece by piece
)

// find reads a file. It returns the whole text, or its beginning when that
// isn't needed.
func (s *searcher) find(e *workspace.Entry) (data []byte, found matchIn, err error) {
	if e.Scan != nil {
		if s.piece == nil {
			s.piece = make([]byte, pieceSize)
		}
		s.inOne, s.hit, s.first = false, false, true
		err = e.Scan(s.piece, s.scan)
		switch {
		case err != nil && !errors.Is(err, bufio.ErrTooLong):
			return nil, nowhere, err
		case s.inOne:
			return s.whole, inText, nil
		case err == nil && !s.hit:
			return s.head[:s.headLen], nowhere, nil
		case err == nil && s.q.Context == 0 && s.head[0] < 0xef:
			return nil, inPieces, nil
		}
	}
	data, err = s.read(e)
	return data, inText, err
}

// read reads the whole text.
func (s *searcher) read(e *workspace.Entry) ([]byte, error) {
	data, err := e.Read(s.buf)
	if cap(data) > cap(s.buf) {
		s.buf = data
	}
	return s.decode(data), err
}

// scan takes a piece of the file. A file that is read in one piece is left
// for later; of others it finds out whether there is anything to find.
func (s *searcher) scan(data []byte, last bool) bool {
	first := s.first
	s.first = false
	if first {
		if last {
			s.whole, s.inOne = s.decode(data), true
			return false
		}
		s.headLen = copy(s.head[:], data)
		if s.hit = data[0] >= 0xef; s.hit { // perhaps a byte order mark
			return false
		}
		if bytes.IndexByte(s.head[:s.headLen], 0) >= 0 {
			return false
		}
	}
	s.m.reset(data)
	_, s.hit = s.m.next(0)
	return !s.hit && s.m.ctx.Err() == nil
}

// decode returns the text as UTF-8 and without a byte order mark.
func (s *searcher) decode(data []byte) []byte {
	switch {
	case len(data) < 2 || data[0] < 0xef:
		return data
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return s.decodeUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return s.decodeUTF16(data[2:], binary.BigEndian)
	}
	return data
}

func (s *searcher) decodeUTF16(data []byte, order binary.ByteOrder) []byte {
	out := s.decoded[:0]
	for ; len(data) >= 2; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) && len(data) >= 4 {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(data[2:]))); pair != utf8.RuneError {
				r, data = pair, data[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	s.decoded = out
	return out
}

// addText copies the lines that were hit, with their context, out of the buffer.
func (s *searcher) addText(f *FileMatches, data []byte) {
	pos, number := 0, s.number // a line's beginning, and its number
	kept := 0                  // where the lines not yet kept begin
	size := 0
	for i := range s.hits {
		size += s.hits[i].end - s.hits[i].start
	}
	f.Lines, f.text = slices.Grow(f.Lines, len(s.hits)), slices.Grow(f.text, size)
	add := func(end int, hit *match) {
		l := Line{Number: number, start: int32(len(f.text))}
		if hit != nil {
			l.Match, l.At = true, int32(max(hit.at-hit.start, 0))
			f.kept++
		}
		f.text = append(f.text, withoutCR(data[pos:end])...)
		l.end = int32(len(f.text))
		f.Lines = append(f.Lines, l)
		pos = min(end+1, len(data))
		number++
		kept = pos
	}
	for i := range s.hits {
		hit := &s.hits[i]
		from := max(linesBack(data, hit.start, s.q.Context), kept)
		number += bytes.Count(data[pos:from], []byte{'\n'})
		for pos = from; pos < hit.start; {
			add(lineEnd(data, pos), nil)
		}
		add(hit.end, hit)
		until := len(data)
		if i+1 < len(s.hits) {
			until = s.hits[i+1].start
		}
		for n := 0; n < s.q.Context && pos < until; n++ {
			add(lineEnd(data, pos), nil)
		}
	}
}

func withoutCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// linesBack returns where the line n lines above the one at pos begins.
func linesBack(data []byte, pos, n int) int {
	for ; n > 0 && pos > 0; n-- {
		pos = bytes.LastIndexByte(data[:pos-1], '\n') + 1
	}
	return pos
}

func lineEnd(data []byte, pos int) int {
	if n := bytes.IndexByte(data[pos:], '\n'); n >= 0 {
		return pos + n
	}
	return len(data)
}
