package segment

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// Builder makes segments, one after the other. It is not safe for concurrent
// use.
type Builder struct {
	words *interner

	seg   *Segment
	text  []byte
	emits []uint64 // term, unit and where

	// The unit that is being read: its terms, and for every term which unit
	// had it last and at which index of seen.
	seen  []seen
	last  []last // by term
	now   uint32
	count int // words of its body
	doc   int // words of its comment

	modules modules // that are imported
}

type seen struct {
	term  uint32
	body  uint32
	where byte
}

// last is the unit that had a term last, and its index in seen.
type last struct{ unit, slot uint32 }

// maxUnits bounds a segment: a unit's number has 24 bits in emits.
const maxUnits = 1<<24 - 1

// NewBuilder makes a builder. small is for segments of one file.
func NewBuilder(small bool) *Builder {
	size := 1 << 17
	if small {
		size = 1 << 12
	}
	return &Builder{words: newInterner(size), seg: &Segment{}}
}

// Bytes is how much source the segment under way has.
func (b *Builder) Bytes() int64 { return b.seg.source }

// Len is the number of its files.
func (b *Builder) Len() int { return len(b.seg.Files) }

// Full reports whether the segment should be finished.
func (b *Builder) Full() bool {
	return b.seg.source >= 24<<20 || len(b.seg.Files) >= 16<<10 || len(b.seg.Units) > maxUnits/2 || len(b.emits) > 4<<20
}

// Add adds a file, its units and what it imports. src may be nil for a file of
// which only the path is known. f.First and f.Count are filled in.
func (b *Builder) Add(f File, src []byte, units []scan.Unit, imports []Import) {
	f.First, f.Count = uint32(len(b.seg.Units)), uint32(1+len(units))
	file := uint32(len(b.seg.Files))
	b.seg.Files = append(b.seg.Files, f)
	b.seg.source += int64(len(src))
	lines := lineCounter{src: src, line: 1}

	last := uint32(bytes.Count(src, []byte{'\n'}))
	if last == 0 || src[len(src)-1] != '\n' {
		last++
	}
	b.begin(Unit{File: file, Start: 1, End: last, kind: kindCode(FileKind)}, "", path.Base(f.Path))
	b.pathWords(f.Path)
	b.imports(imports)
	if len(src) > 0 && f.Flags&(Generated|Skipped) == 0 {
		at := b.leading(src, units)
		b.own(src, Range{Start: at, End: len(src)}, -1, units)
	}
	b.end()

	owner := []byte(nil)
	for i := range units {
		u := &units[i]
		owner = appendOwner(owner[:0], src, units, i)
		name := u.Called
		if name == "" {
			name = u.Name.Of(src)
		}
		b.begin(Unit{File: file, Start: lines.at(u.Start), End: 0, kind: kindCode(u.Kind)}, string(owner), name)
		// The end is behind the last byte, which may be a line's end.
		b.seg.Units[len(b.seg.Units)-1].End = lines.peek(max(u.Start, u.End-1))
		b.field(src, u.Name.Start, u.Name.End, InName)
		if len(owner) > 0 {
			b.field(owner, 0, len(owner), InOwner)
		}
		if f.Flags&Generated == 0 {
			b.field(src, u.Start, u.Name.Start, InHeader)
			b.field(src, u.Name.End, u.Body, InHeader)
			b.field(src, u.Doc.Start, u.Doc.End, InDoc)
			b.own(src, Range{Start: u.Body, End: u.End}, i, units)
		}
		b.end()
	}
}

// Range is a part of a source.
type Range = scan.Range

// appendOwner appends the names of what encloses a unit.
func appendOwner(out, src []byte, units []scan.Unit, i int) []byte {
	if units[i].Called != "" {
		return append(out, units[i].In[:min(len(units[i].In), 200)]...)
	}
	if p := units[i].Parent; p >= 0 {
		out = appendOwner(out, src, units, p)
		if units[p].Kind != pki.Module || units[i].Owner.Len() == 0 && units[p].Name.Len() < 40 && units[p].Kind != pki.Module {
			if len(out) > 0 {
				out = append(out, '.')
			}
			out = append(out, src[units[p].Name.Start:units[p].Name.End]...)
		}
	}
	if o := units[i].Owner; o.Len() > 0 {
		if len(out) > 0 {
			out = append(out, '.')
		}
		out = append(out, src[o.Start:o.End]...)
	}
	return out[:min(len(out), 200)]
}

// leading reads the comment at the head of a file, unless it is that of a
// unit, and returns where it ends.
func (b *Builder) leading(src []byte, units []scan.Unit) int {
	at := 0
	for at < len(src) {
		text := bytes.TrimLeft(src[at:], " \t\r\n\ufeff")
		begin := len(src) - len(text)
		if len(units) > 0 && begin >= units[0].Doc.Start && units[0].Doc.Len() > 0 {
			break
		}
		end := 0
		switch {
		case bytes.HasPrefix(text, []byte("/*")):
			end = bytes.Index(text, []byte("*/")) + 2
		case bytes.HasPrefix(text, []byte(`"""`)):
			end = bytes.Index(text[3:], []byte(`"""`)) + 6
		case bytes.HasPrefix(text, []byte("//")), bytes.HasPrefix(text, []byte("#")) && !bytes.HasPrefix(text, []byte("#include")) && !bytes.HasPrefix(text, []byte("#if")) && !bytes.HasPrefix(text, []byte("#define")):
			end = bytes.IndexByte(text, '\n') + 1
		}
		if end <= 2 && !bytes.HasPrefix(text, []byte("#\n")) && !bytes.HasPrefix(text, []byte("//\n")) {
			break
		}
		b.field(src, begin, begin+end, InDoc)
		at = begin + max(end, 1)
	}
	return at
}

// own reads the text of a unit (-1: the file) that belongs to none inside.
func (b *Builder) own(src []byte, r Range, unit int, units []scan.Unit) {
	at := r.Start
	for i := unit + 1; i < len(units) && units[i].Start < r.End; i++ {
		if units[i].Parent != unit {
			continue
		}
		start := units[i].Start
		if d := units[i].Doc; d.Len() > 0 && d.End <= start {
			start = d.Start
		}
		b.body(src, at, start)
		at = max(at, units[i].End)
	}
	if unit >= 0 {
		if d := units[unit].Doc; d.Start >= at && d.Len() > 0 && d.End <= r.End {
			b.body(src, at, d.Start)
			at = d.End
		}
	}
	b.body(src, at, r.End)
}

func (b *Builder) pathWords(name string) {
	dir, base := path.Split(name)
	b.field([]byte(base), 0, len(base), InName)
	stem, _, _ := strings.Cut(base, ".")
	b.add(b.words.number(terms.Whole(stem)), InName|AsWhole)
	b.add(b.words.number(terms.Whole(base)), InName|AsWhole)
	b.field([]byte(dir), 0, len(dir), InOwner)
}

// imports notes what the file imports.
func (b *Builder) imports(list []Import) {
	for _, i := range list {
		b.seg.imports = append(b.seg.imports, b.modules.number(i.Path))
		b.add(b.words.number(i.Word), 0)
	}
	b.seg.importEnds = append(b.seg.importEnds, uint32(len(b.seg.imports)))
}

func (b *Builder) begin(u Unit, owner, name string) {
	owner, name = owner[:min(len(owner), 200)], name[:min(len(name), 200)]
	u.text, u.owner, u.name = uint32(len(b.text)), uint16(len(owner)), uint16(len(name))
	b.text = append(append(b.text, owner...), name...)
	b.seg.Units = append(b.seg.Units, u)
	b.now, b.count, b.doc, b.seen = uint32(len(b.seg.Units)), 0, 0, b.seen[:0]
}

// end emits the terms of the unit.
func (b *Builder) end() {
	unit := uint64(len(b.seg.Units) - 1)
	u := &b.seg.Units[unit]
	u.Length, u.Doc = LengthClass(b.count), LengthClass(b.doc)
	for _, s := range b.seen {
		if s.where&InName != 0 {
			u.Parts++
		}
	}
	u.Parts = min(u.Parts, NameParts)
	for _, s := range b.seen {
		b.emits = append(b.emits, uint64(s.term)<<32|unit<<8|uint64(s.where|bodyClass(s.body)))
	}
}

// termOf returns where the unit keeps a term.
func (b *Builder) termOf(term uint32) *seen {
	if int(term) >= len(b.last) {
		n := max(int(term)+1, 2*len(b.last), 1024)
		b.last = append(b.last, make([]last, n-len(b.last))...)
	}
	l := &b.last[term]
	if l.unit != b.now {
		*l = last{b.now, uint32(len(b.seen))}
		b.seen = append(b.seen, seen{term: term})
	}
	return &b.seen[l.slot]
}

func (b *Builder) add(term uint32, where byte) { b.termOf(term).where |= where }

// field reads a part that is not a body.
func (b *Builder) field(src []byte, i, end int, where byte) {
	end = min(end, len(src))
	for i < end {
		if terms.Classes[src[i]] == terms.Other {
			i++
			continue
		}
		j := min(terms.Ident(src, i), end)
		if j-i >= 2 && j-i <= terms.MaxIdent {
			w := b.words.word(src[i:j])
			if where == InDoc && !w.stop {
				b.doc++
			}
			if !w.stop || where == InName {
				pool := b.words.pool[w.first : w.first+uint32(w.count)]
				for n, term := range pool {
					as := where
					// The last of several terms is the whole.
					if where != InDoc && (w.sole || n == len(pool)-1) {
						as |= AsWhole
					}
					b.add(term, as)
				}
			}
		}
		i = j
	}
}

// body counts the terms of a body.
func (b *Builder) body(src []byte, i, end int) {
	end = min(end, len(src))
	for i < end {
		if terms.Classes[src[i]] == terms.Other {
			if src[i] == '\\' {
				i++ // the letter of an escape
			}
			i++
			continue
		}
		j := i + 1
		for j < end && terms.Classes[src[j]] != terms.Other {
			j++
		}
		if n := j - i; n >= 2 && n <= terms.MaxIdent {
			w := b.words.word(src[i:j])
			if !w.stop {
				b.count++
				pool := b.words.pool[w.first : w.first+uint32(w.count)]
				for n, term := range pool {
					s := b.termOf(term)
					s.body++
					if w.sole || n == len(pool)-1 {
						s.where |= AsWhole
					}
				}
			}
		}
		i = j
	}
}

// Finish returns the segment and begins a new one.
func (b *Builder) Finish() *Segment {
	s := b.seg
	s.text = string(b.text)
	b.modules.finish(s)
	s.Files, s.Units = slices.Clip(s.Files), slices.Clone(s.Units)
	b.order(s)
	s.mark()
	s.arrange()
	b.words.reset()
	clear(b.last)
	b.seg, b.text, b.emits = &Segment{}, b.text[:0], b.emits[:0]
	return s
}

// order sorts what was emitted by term, and writes it down in the order of the
// terms' hashes.
func (b *Builder) order(s *Segment) {
	ids := b.words.ids
	starts := make([]uint32, len(ids)+1)
	for _, e := range b.emits {
		starts[e>>32+1]++
	}
	for i := range ids {
		starts[i+1] += starts[i]
	}
	sorted := make([]uint32, len(b.emits)) // unit and where, as the lower half of an emit
	next := slices.Clone(starts)
	for _, e := range b.emits {
		t := e >> 32
		sorted[next[t]] = uint32(e)
		next[t]++
	}
	byHash := make([]uint64, 0, len(ids))
	for t, id := range ids {
		if starts[t+1] > starts[t] {
			byHash = append(byHash, uint64(id)<<32|uint64(t))
		}
	}
	sortHigh(byHash)
	s.hashes, s.starts = make([]uint32, len(byHash)), make([]uint32, len(byHash)+1)
	out := make([]byte, 0, len(sorted)*5/2+len(byHash)*2)
	for i, h := range byHash {
		t := uint32(h)
		s.hashes[i], s.starts[i] = uint32(h>>32), uint32(len(out))
		out = s.appendPostings(out, sorted[starts[t]:starts[t+1]])
	}
	s.starts[len(byHash)] = uint32(len(out))
	s.posts = slices.Clone(out)
}

// sortHigh sorts numbers by their higher halves, which are spread evenly.
func sortHigh(list []uint64) {
	const (
		bits = 11
		few  = 1 << 9 // of which comparing is faster
	)
	if len(list) < few {
		slices.SortFunc(list, cmp.Compare[uint64])
		return
	}
	from, to := list, make([]uint64, len(list))
	for shift := 32; shift < 64; shift += bits {
		var ends [1<<bits + 1]uint32
		for _, v := range from {
			ends[v>>shift&(1<<bits-1)+1]++
		}
		for i := range ends[1:] {
			ends[i+1] += ends[i]
		}
		for _, v := range from {
			at := &ends[v>>shift&(1<<bits-1)]
			to[*at] = v
			*at++
		}
		from, to = to, from
	}
	copy(list, from)
}

func varint(out []byte, v uint32) []byte {
	for v >= 0x80 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v))
}

// lineCounter turns offsets into lines, cheaply when they come in order.
type lineCounter struct {
	src  []byte
	pos  int
	line uint32
}

func (l *lineCounter) at(i int) uint32 {
	if i < l.pos {
		l.pos, l.line = 0, 1
	}
	l.line += uint32(bytes.Count(l.src[l.pos:min(i, len(l.src))], []byte{'\n'}))
	l.pos = i
	return l.line
}

// peek leaves the counter where it is.
func (l *lineCounter) peek(i int) uint32 {
	if i < l.pos {
		return l.line
	}
	return l.line + uint32(bytes.Count(l.src[l.pos:min(i, len(l.src))], []byte{'\n'}))
}
