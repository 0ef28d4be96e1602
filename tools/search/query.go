package search

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// Query is a search for lines.
type Query struct {
	Pattern string
	Plain   bool // Pattern is text, not an expression
	Fold    bool // upper and lower case are the same
	Walk    workspace.WalkOptions
	Context int  // lines to keep before and after each match
	Limit   int  // matching lines (with Count or First: files) to keep, in the order of paths; 0 keeps all
	Count   bool // keep no lines, count those of each file
	First   bool // look for one line in each file
}

// Matches is what a query found.
type Matches struct {
	Files    []*FileMatches // in the order of paths; those dropped by the limit are missing
	Lines    int            // matching lines, kept or not; with First, files
	Found    int            // files with matching lines
	Searched int            // files
	Binary   int            // files left out because they are binary
	TooLarge int            // files left out because of their size
	kept     int
}

// FileMatches are the matching lines of one file.
type FileMatches struct {
	Path  string
	Count int // matching lines, kept or not
	Lines []Line
	text  []byte // of all lines
	kept  int    // matching lines in Lines
}

// Line is a line of a file.
type Line struct {
	Number     int   // from one
	At         int32 // where in the text the match is, or near there
	start, end int32 // in FileMatches.text
	Match      bool
}

// Text returns the line without its line break. The bytes are the file's, and
// need not be UTF-8.
func (f *FileMatches) Text(l Line) []byte { return f.text[l.start:l.end] }

// Run searches files. The result is the same on every run.
func (q *Query) Run(ctx context.Context, files workspace.Files) (*Matches, error) {
	p, err := compilePattern(q.Pattern, q.Plain, q.Fold)
	if err != nil {
		return nil, err
	}
	opts := q.Walk
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	c := &collector{limit: q.Limit, units: q.Count || q.First, context: q.Context}
	workers := make([]*searcher, opts.Workers)
	err = files.Walk(ctx, opts, func(e *workspace.Entry) error {
		s := workers[e.Worker]
		if s == nil {
			s = &searcher{q: q, c: c, m: newMatcher(ctx, p)}
			workers[e.Worker] = s
		}
		s.visit(e)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	res := c.result()
	for _, s := range workers {
		if s != nil {
			res.Searched += s.searched
			res.Binary += s.binary
			res.TooLarge += s.tooLarge
		}
	}
	return res, nil
}

// searcher is one worker of a query.
type searcher struct {
	q       *Query
	c       *collector
	m       *matcher
	buf     []byte // the file
	decoded []byte // the file, when it was UTF-16
	hits    []match

	piece   []byte
	whole   []byte      // the file, when it came in one piece
	head    [sniff]byte // its beginning, when it did not
	headLen int
	first   bool // the next piece is the first
	hit     bool // there may be something in a piece

	searched, binary, tooLarge int
}

// sniff is how much of a file is looked at for NUL, the sign of a binary file,
// before it is searched. A file that matches is looked at in full.
const sniff = 1 << 10

func (s *searcher) visit(e *workspace.Entry) {
	data, matched, err := s.look(e)
	switch {
	case errors.Is(err, workspace.ErrTooLarge):
		s.tooLarge++
		return
	case err != nil:
		return
	}
	s.searched++
	if bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0 {
		s.binary++
		return
	}
	if !matched {
		return
	}
	s.m.reset(data)
	l, ok := s.m.next(0)
	if !ok {
		return
	}
	if bytes.IndexByte(data, 0) >= 0 {
		s.binary++
		return
	}
	f := &FileMatches{Path: e.Path}
	room := s.c.room(e.Path)
	s.hits = s.hits[:0]
	for ok {
		f.Count++
		if !s.q.Count && len(s.hits) < room {
			s.hits = append(s.hits, l)
		}
		if s.q.First {
			break
		}
		l, ok = s.m.next(l.end + 1)
	}
	if !s.c.units {
		s.keep(f, data)
	}
	s.c.add(f)
}

// pieceSize is how much of a file is read at a time as long as nothing
// matches: it stays in the processor's cache, and most files fit.
const pieceSize = 128 << 10

// look reads a file. It returns the whole text, or its beginning with matched
// false when it is sure that no line matches.
func (s *searcher) look(e *workspace.Entry) (data []byte, matched bool, err error) {
	if e.Scan != nil {
		if s.piece == nil {
			s.piece = make([]byte, pieceSize)
		}
		s.whole, s.hit, s.first = nil, false, true
		err = e.Scan(s.piece, s.scan)
		switch {
		case err != nil && !errors.Is(err, bufio.ErrTooLong):
			return nil, false, err
		case s.whole != nil:
			return s.whole, true, nil
		case err == nil && !s.hit:
			return s.head[:s.headLen], false, nil
		}
	}
	data, err = e.Read(s.buf)
	if cap(data) > cap(s.buf) {
		s.buf = data
	}
	return s.decode(data), true, err
}

// scan takes a piece of the file. A file that is read in one piece is left
// for later; of others it finds out whether there is anything to find.
func (s *searcher) scan(data []byte, last bool) bool {
	first := s.first
	s.first = false
	if first {
		if last {
			s.whole = s.decode(data)
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

// keep copies the lines that were hit, with their context, out of the buffer.
func (s *searcher) keep(f *FileMatches, data []byte) {
	pos, number := 0, 1 // a line's beginning, and its number
	kept := 0           // where the lines not yet kept begin
	size := 0
	for i := range s.hits {
		size += s.hits[i].end - s.hits[i].start
	}
	f.Lines, f.text = make([]Line, 0, len(s.hits)), make([]byte, 0, size)
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

// sortFiles sorts by path.
func sortFiles(files []*FileMatches) {
	slices.SortFunc(files, func(a, b *FileMatches) int { return strings.Compare(a.Path, b.Path) })
}
