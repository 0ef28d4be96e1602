package rank

import (
	"math"

	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// sums are what the units and files of one part have so far. They are used
// again for other parts, and nothing is left in them then.
type sums struct {
	units []float32
	files []fileSum

	all    segment.Cursor // of one term
	inside segment.Inside
	block  [256]segment.Posting
	forms  [256]segment.Form // of the places' units
}

// cursor goes through places in blocks, see segment.Cursor.Read.
type cursor interface {
	Read(to []segment.Posting) (n int)
}

type fileSum struct {
	score float32
	norm  float32 // what its length takes from its words; 0: not known yet
	most  float32 // no unit has more as one of its kind; 0: none has anything
}

// of returns the sums of a part.
func (s *sums) of(p Part) (units []float32, files []fileSum) {
	if len(s.units) < len(p.Units) {
		s.units = make([]float32, len(p.Units))
	}
	if len(s.files) < len(p.Files) {
		s.files = make([]fileSum, len(p.Files))
	}
	return s.units[:len(p.Units)], s.files[:len(p.Files)]
}

// inFile is what one term has in the units of one file.
type inFile struct {
	body       float32
	flags, own byte   // where it is in all units; in the one that stands for the file
	names      int    // of units that have it
	most       uint32 // the bits of the most that it is worth to one of them: they are in order, as the numbers are not negative
}

// add adds what one term says at these places.
func (r *Ranker) add(s *sums, p Part, places cursor, t *weighed) {
	units, files := s.of(p)
	forms, k1 := p.Forms[:len(units)], r.w.K1
	const none = ^uint32(0)
	file, in := none, inFile{}
	for n := places.Read(s.block[:]); n > 0; n = places.Read(s.block[:]) {
		for i, at := range s.block[:n] { // side by side: they are seldom in the processor's memory
			s.forms[i] = forms[at.Unit()]
		}
		for i, at := range s.block[:n] {
			unit, where, form := at.Unit(), at.Where(), s.forms[i]
			weight := t.unitWeight * r.table.weight(form, where, k1)
			units[unit] += weight
			if f := form.File(); f != file {
				if file != none {
					r.addFile(&files[file], p.Lengths[file], &in, t)
				}
				file, in = f, inFile{}
				if unit == 0 || forms[unit-1].File() != f { // the first one stands for the file
					in.own, in.names = where, -1
				}
			}
			in.most = max(in.most, math.Float32bits(weight*r.table.kinds[form.Code()]))
			in.names += int(where / segment.InName & 1)
			in.body += segment.BodyCount[where&7]
			in.flags |= where
		}
	}
	if file != none {
		r.addFile(&files[file], p.Lengths[file], &in, t)
	}
}

// addFile adds what one term says about a file with so many words.
func (r *Ranker) addFile(f *fileSum, length float32, in *inFile, t *weighed) {
	w := &r.w
	if f.norm == 0 {
		f.norm = 1 - w.FileB + w.FileB*(1+length)/w.FileAvgLen
	}
	tf := w.FileBody * in.body / f.norm
	if in.own&segment.InName != 0 {
		tf += w.FileName
	}
	if in.own&segment.InOwner != 0 {
		tf += w.FileDir
	}
	if in.flags&segment.InDoc != 0 {
		tf += w.FileDoc
	}
	tf += w.FileUnits * float32(max(0, min(in.names, 3)))
	f.score += t.fileWeight * tf / (w.FileK1 + tf)
	f.most += math.Float32frombits(in.most)
}
