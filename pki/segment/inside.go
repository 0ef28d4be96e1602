package segment

import "slices"

// The places of a common term are many, and those in a few files are asked for
// often: marks say where to go on in the middle of them.
const (
	stride = 64         // places from one mark to the next one
	marked = 4 * stride // a term with so many places has marks
)

// mark is a posting that is the last one before a stride.
type mark struct {
	unit uint32
	next uint32 // where the posting behind it begins, in bytes
}

// marks are those of the terms that have some.
type marks struct {
	terms []uint32 // by their places among the hashes, in order
	ends  []uint32 // of each term's marks
	list  []mark
}

// mark fills in the marks of all terms. It reports whether the places of each are
// units of the segment, in order.
func (s *Segment) mark() (sound bool) {
	s.marks = marks{}
	units := uint32(len(s.Units))
	for i := range s.hashes {
		p := s.postings(i)
		if p.Units > units || int(p.Files) > len(s.Files) {
			return false
		}
		c, next := p.Cursor(), uint32(0)
		for n := 1; c.Next(); n++ {
			if c.Unit < next || c.Unit >= units {
				return false
			}
			if next = c.Unit + 1; n%stride == 0 && p.Units >= marked {
				s.marks.list = append(s.marks.list, mark{c.Unit, uint32(len(p.data) - len(c.data))})
			}
		}
		if p.Units >= marked {
			s.marks.terms, s.marks.ends = append(s.marks.terms, uint32(i)), append(s.marks.ends, uint32(len(s.marks.list)))
		}
	}
	s.marks.list = slices.Clip(s.marks.list)
	return true
}

// of returns the marks of a term.
func (m *marks) of(term int) []mark {
	i, ok := slices.BinarySearch(m.terms, uint32(term))
	if !ok {
		return nil
	}
	from := uint32(0)
	if i > 0 {
		from = m.ends[i-1]
	}
	return m.list[from:m.ends[i]]
}

// Span is units that follow each other.
type Span struct{ First, End uint32 }

// Inside goes through the places in some spans.
type Inside struct {
	Cursor
	all   []byte
	marks []mark
	spans []Span
}

// Inside goes through the places in spans that are in order and apart. What is
// far from them is passed over.
func (p Postings) Inside(spans []Span) Inside { return Inside{p.Cursor(), p.data, p.marks, spans} }

// Read goes to as many of the next places as to has room for, or fewer, and
// returns how many there were: none at the end.
func (in *Inside) Read(to []Posting) (n int) {
	for n == 0 && len(in.spans) > 0 {
		in.seek(in.spans[0].First)
		block := to[:in.Cursor.Read(to[:min(len(to), stride)])]
		if len(block) == 0 {
			return 0
		}
		for _, at := range block {
			for len(in.spans) > 0 && at.Unit() >= in.spans[0].End {
				in.spans = in.spans[1:]
			}
			if len(in.spans) == 0 {
				break
			}
			if at.Unit() >= in.spans[0].First {
				to[n] = at
				n++
			}
		}
	}
	return n
}

// seek goes to the last mark before a unit, unless the cursor is behind it.
func (in *Inside) seek(unit uint32) {
	n, _ := slices.BinarySearchFunc(in.marks, unit, func(m mark, unit uint32) int { return int(m.unit) - int(unit) })
	if n == 0 {
		return
	}
	m := in.marks[n-1]
	in.marks = in.marks[n:]
	if rest := in.all[m.next:]; len(rest) < len(in.data) {
		in.Unit, in.data = m.unit, rest
	}
}
