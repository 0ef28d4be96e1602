// Package segment is a part of the index that never changes: the terms of some
// files, and what is known about their units. An index is a list of segments,
// of which each says less as its files change.
package segment

import (
	"math/bits"
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// What a posting says about its term in its unit: where it stands, and in the
// lowest bits how often in the body, as BodyCount reads it.
const (
	bodyBits = 7
	InName   = 1 << 3
	InOwner  = 1 << 4 // in the names of what encloses the unit; of a file, in its directories
	InHeader = 1 << 5
	InDoc    = 1 << 6
	AsWhole  = 1 << 7 // as an identifier of its own, in the name or the body
)

// BodyCount is how often a term is in the body, by the lowest bits of a posting.
var BodyCount = [...]float32{0, 1, 2, 3.5, 6, 11, 22, 45}

func bodyClass(n uint32) byte {
	switch {
	case n <= 2:
		return byte(n)
	case n <= 4:
		return 3
	case n <= 8:
		return 4
	case n <= 16:
		return 5
	case n <= 32:
		return 6
	}
	return 7
}

// HasBody reports whether a posting's term is in the body.
func HasBody(where byte) bool { return where&bodyBits != 0 }

// FileFlag says what kind of file it is.
type FileFlag uint8

// The flags.
const (
	Test      FileFlag = 1 << iota
	Generated          // by a program: only its names are known
	Skipped            // only its path is known
	Refined            // its units come from a parser
	Prose              // documentation and data
	Aside              // examples, and what others wrote
	Unparsed           // no parser takes it
)

// File is one file of a segment.
type File struct {
	Path  string
	Hash  uint64 // of its content
	Flags FileFlag
	Kinds Kinds // of its units

	First, Count uint32 // its units; the first one stands for the file
}

// Unit is one unit of a segment.
type Unit struct {
	File, Start, End uint32 // lines, counted from one
	text             uint32 // where owner and name stand
	owner, name      uint16 // their lengths
	Length           uint8  // how long the body is, see LengthClass
	kind             uint8
	Parts            uint8 // of the name: words, NameParts at most
	Doc              uint8 // how long the comment is, as Length
}

// NameParts is the number of words of a name that are told apart.
const NameParts = 7

var kinds = [...]pki.Kind{
	"file", pki.Function, pki.Method, pki.Class, pki.Interface, pki.Struct, pki.Enum, pki.Type,
	pki.Constant, pki.Variable, pki.Module, pki.Extension, pki.Heading,
}

// FileKind is the kind of the unit that stands for a file.
const FileKind pki.Kind = "file"

func kindCode(k pki.Kind) uint8 { return uint8(max(0, slices.Index(kinds[:], k))) }

// Kind returns the unit's kind.
func (u *Unit) Kind() pki.Kind { return kinds[u.kind] }

// KindOf returns the kind of a code, see Form.
func KindOf(code uint8) (k pki.Kind, ok bool) {
	if int(code) >= len(kinds) {
		return "", false
	}
	return kinds[code], true
}

// Kinds is a set of kinds: a bit for the code of each.
type Kinds uint16

// KindsOf returns the kinds that pass.
func KindsOf(pass func(pki.Kind) bool) (set Kinds) {
	for code, k := range kinds {
		if pass(k) {
			set |= 1 << code
		}
	}
	return set
}

// LengthClasses is the number of classes of lengths.
const LengthClasses = 32

// LengthClass sorts a number of words into classes, two for each doubling.
func LengthClass(n int) uint8 {
	if n < 1 {
		return 0
	}
	top := bits.Len(uint(n)) // 2^(top-1) ≤ n
	half := 0
	if top > 1 {
		half = n >> (top - 2) & 1
	}
	return uint8(min(2*top-1+half, LengthClasses-1))
}

// ClassLength is a length of the class, in words.
func ClassLength(c uint8) float32 {
	if c == 0 {
		return 0
	}
	top := (c + 1) / 2
	n := float32(uint64(1) << (top - 1))
	if c%2 == 0 {
		n *= 1.5
	}
	return n * 1.2
}

// Form is what a ranking needs of every unit that has a word, in little space:
// its file, its kind, and what lengths make of the weight of its words.
type Form uint32

// Codes is the number of codes of kinds that there may be.
const Codes = 16

func formOf(u *Unit) Form {
	return Form(u.File<<17 | uint32(u.kind)<<13 | uint32(u.Parts)<<10 | uint32(u.Doc)<<5 | uint32(u.Length))
}

// File is the number of the unit's file.
func (f Form) File() uint32 { return uint32(f >> 17) }

// Code stands for the unit's kind, see KindOf.
func (f Form) Code() uint8 { return uint8(f>>13) % Codes }

// Parts is the unit's Parts.
func (f Form) Parts() uint8 { return uint8(f>>10) & NameParts }

// Doc is the unit's Doc.
func (f Form) Doc() uint8 { return uint8(f>>5) % LengthClasses }

// Length is the unit's Length.
func (f Form) Length() uint8 { return uint8(f) % LengthClasses }

// arrange fills in what is made of files and units.
func (s *Segment) arrange() {
	s.Forms, s.Lengths = make([]Form, len(s.Units)), make([]float32, len(s.Files))
	for i := range s.Units {
		u := &s.Units[i]
		s.Forms[i] = formOf(u)
		s.Lengths[u.File] += ClassLength(u.Length)
		s.Files[u.File].Kinds |= 1 << u.kind
	}
	s.sortHashes()
	s.memory = int64(len(s.Files))*80 + int64(len(s.Units))*28 + int64(len(s.marks.list))*8 + int64(len(s.hashes)+len(s.buckets)+len(s.starts)+len(s.imports)+len(s.importEnds)+len(s.moduleEnds))*4 + int64(len(s.posts)+len(s.text)+len(s.modules))
	s.Extensions = map[string]uint32{}
	for i := range s.Files {
		f := &s.Files[i]
		s.memory += int64(len(f.Path))
		s.Extensions[path.Ext(f.Path)] += f.Count
	}
}

// maxFiles bounds the files of a segment.
const maxFiles = 1 << 15

// Segment is safe for concurrent use.
type Segment struct {
	Files []File
	Units []Unit

	Forms   []Form    // of the units
	Lengths []float32 // of the files, in words

	Extensions map[string]uint32 // how many units are in files whose names end so

	names   names
	hashes  []uint32 // of the terms, in order
	buckets []uint32 // of the hashes that begin with the same bits, all but so many: where the first one is; and the end
	shift   int
	starts  []uint32 // of their postings, and the end of the last
	posts   []byte
	marks   marks
	text    string

	imports    []uint32 // numbers of modules, file by file
	importEnds []uint32 // of each file
	modules    string   // the paths of what is imported, one after the other
	moduleEnds []uint32

	source int64 // bytes
	memory int64 // bytes
}

// Bytes is how much memory the segment takes, about.
func (s *Segment) Bytes() int64 { return s.memory }

// Name returns the unit's own name.
func (s *Segment) Name(u uint32) string {
	r := &s.Units[u]
	from := r.text + uint32(r.owner)
	return s.text[from : from+uint32(r.name)]
}

// Owner returns the qualified name of what the unit belongs to.
func (s *Segment) Owner(u uint32) string {
	r := &s.Units[u]
	return s.text[r.text : r.text+uint32(r.owner)]
}

// Qualified returns owner and name, joined by a dot.
func (s *Segment) Qualified(u uint32) string {
	if o := s.Owner(u); o != "" {
		return o + "." + s.Name(u)
	}
	return s.Name(u)
}

// Postings are the places of one term, in the order of the units.
type Postings struct {
	Units, Files uint32 // how many hold it
	data         []byte
	marks        []mark
}

// Postings returns the places of a term.
func (s *Segment) Postings(id terms.ID) (p Postings, ok bool) {
	i, ok := s.find(uint32(id))
	if !ok {
		return p, false
	}
	if p = s.postings(i); p.Units >= marked {
		p.marks = s.marks.of(i)
	}
	return p, true
}

// postings are those of a term, by the index of its hash.
func (s *Segment) postings(term int) Postings {
	p := Postings{data: s.posts[s.starts[term]:s.starts[term+1]]}
	p.Units = p.varint()
	p.Files = p.varint()
	return p
}

// find returns the index of a hash.
func (s *Segment) find(hash uint32) (at int, ok bool) {
	bucket := hash >> s.shift
	lo := int(s.buckets[bucket])
	i, ok := slices.BinarySearch(s.hashes[lo:s.buckets[bucket+1]], hash)
	return lo + i, ok
}

// sortHashes says which of the hashes begin alike. They are spread evenly, so
// that these are next to each other in memory.
func (s *Segment) sortHashes() {
	const few = 4 // as a power of two: so many begin alike, about
	s.shift = min(31, 32+few-bits.Len(uint(len(s.hashes))))
	s.buckets = make([]uint32, 1<<(32-s.shift)+1)
	for _, h := range s.hashes {
		s.buckets[h>>s.shift+1]++
	}
	for i := range s.buckets[1:] {
		s.buckets[i+1] += s.buckets[i]
	}
}

func (p *Postings) varint() uint32 {
	v, shift := uint32(0), 0
	for i, c := range p.data {
		v |= uint32(c&0x7f) << shift
		if shift += 7; c < 0x80 {
			p.data = p.data[i+1:]
			return v
		}
	}
	p.data = nil
	return v
}

// Each calls f with every posting until f returns false.
func (p Postings) Each(f func(unit uint32, where byte) bool) {
	for c := p.Cursor(); c.Next(); {
		if !f(c.Unit, c.Where) {
			return
		}
	}
}

// Cursor goes through postings.
func (p Postings) Cursor() Cursor { return Cursor{data: p.data} }

// Cursor is a posting after each Next.
type Cursor struct {
	Unit  uint32
	Where byte
	data  []byte
}

// Next goes to the next posting, if there is one.
func (c *Cursor) Next() bool {
	if len(c.data) < 2 {
		return false
	}
	if d := c.data[0]; d < 0x80 {
		c.Unit, c.Where, c.data = c.Unit+uint32(d), c.data[1], c.data[2:]
		return true
	}
	return c.far()
}

// Posting is a unit and, in the lowest byte, where the term is in it.
type Posting uint32

// Unit is the number of the unit.
func (p Posting) Unit() uint32 { return uint32(p >> 8) }

// Where says where in the unit.
func (p Posting) Where() byte { return byte(p) }

// Read goes to as many of the next places as to has room for, and returns how
// many there were. It costs less than as many calls of Next.
func (c *Cursor) Read(to []Posting) (n int) {
	unit, data := c.Unit, c.data
	for ; n < len(to) && len(data) >= 2; n++ {
		d := uint32(data[0])
		if d < 0x80 {
			unit += d
			to[n], data = Posting(unit<<8|uint32(data[1])), data[2:]
			continue
		}
		if e := uint32(data[1]); e < 0x80 && len(data) > 2 {
			unit += d&0x7f | e<<7
			to[n], data = Posting(unit<<8|uint32(data[2])), data[3:]
			continue
		}
		c.Unit, c.data = unit, data
		if !c.far() {
			return n
		}
		unit, data = c.Unit, c.data
		to[n] = Posting(unit<<8 | uint32(c.Where))
	}
	c.Unit, c.data = unit, data
	return n
}

// far is Next for a posting that is not near.
func (c *Cursor) far() bool {
	p := Postings{data: c.data}
	c.Unit += p.varint()
	if len(p.data) == 0 {
		return false
	}
	c.Where, c.data = p.data[0], p.data[1:]
	return true
}

// Terms returns the number of terms.
func (s *Segment) Terms() int { return len(s.hashes) }
