package index

import (
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// Texts that are not the disk's – unsaved buffers, pending edits, what a fork
// has of its own – get their vectors because a question has come to them: units
// whose text has been sent before at once, and the others in the background,
// for the next question. So an edit that nobody asks about costs nothing, and
// one that is accepted nothing more.

const (
	maxMet      = 16        // texts that one question looks through for what lacks vectors
	maxMetBytes = 512 << 10 // of them
	maxWaiting  = 500       // units that wait for vectors
	// keptExtra is for how many questions vectors are kept apart that none of
	// them came to.
	keptExtra = 100
)

// extra are the vectors of segments that embedAll does not come to. It is
// guarded by the mutex of meaning.
type extra struct {
	wake    chan struct{} // has room for one
	known   map[*segment.Segment]*extraVectors
	waiting []piece
	sent    int // units on their way
	turn    int // of questions
}

type extraVectors struct {
	ids  []embed.ID // by unit
	met  []bool     // by file: its units have vectors or wait for them
	used int
}

func newExtra() extra {
	return extra{wake: make(chan struct{}, 1), known: map[*segment.Segment]*extraVectors{}}
}

func (e *extra) ids(seg *segment.Segment) []embed.ID {
	if v := e.known[seg]; v != nil {
		return v.ids
	}
	return nil
}

func (e *extra) forget() {
	clear(e.known)
	e.waiting = nil
}

// extraFile is a file of a segment.
type extraFile struct {
	seg  *segment.Segment
	file uint32
}

// extraFiles are those of a snapshot that hold and have text.
func (s *snapshot) extraFiles() (list []extraFile) {
	for _, i := range s.extra {
		p := s.parts[i]
		for file := range p.Files {
			if f := uint32(file); (p.Dead == nil || !p.Dead(f)) && p.Files[f].Flags&segment.Skipped == 0 {
				list = append(list, extraFile{p.Segment, f})
			}
		}
	}
	return list
}

// meet looks through the texts that no question has come to, as far as it may.
func (m *meaning) meet(view workspace.Files, snap snapshot) {
	todo := m.unmet(snap.extraFiles())
	size := 0
	for _, f := range todo {
		list, _ := m.missing(view, f.seg, f.file)
		m.wait(f, list)
		if size += int(f.seg.Bytes()); size > maxMetBytes {
			break
		}
	}
}

// unmet returns what no question has come to, and takes note of the question.
func (m *meaning) unmet(files []extraFile) (todo []extraFile) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := &m.extra
	e.turn++
	for _, f := range files {
		v := e.known[f.seg]
		if v == nil {
			v = &extraVectors{ids: make([]embed.ID, len(f.seg.Units)), met: make([]bool, len(f.seg.Files))}
			e.known[f.seg] = v
		}
		if v.used = e.turn; !v.met[f.file] && len(todo) < maxMet {
			todo = append(todo, f)
		}
	}
	for seg, v := range e.known {
		if v.used < e.turn-keptExtra {
			delete(e.known, seg)
		}
	}
	return todo
}

// wait notes which units of a file lack vectors. Units of the same file with
// another text need none any more.
func (m *meaning) wait(f extraFile, list []piece) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := &m.extra
	v := e.known[f.seg]
	if v == nil || v.met[f.file] {
		return
	}
	name := f.seg.Files[f.file].Path
	e.waiting = slices.DeleteFunc(e.waiting, func(p piece) bool {
		return p.seg.Files[p.seg.Units[p.unit].File].Path == name
	})
	room := max(0, maxWaiting-len(e.waiting))
	v.met[f.file] = len(list) <= room // if not, the next question tries again
	most := max(0, 2*m.MaxUnits-m.vectors.Load().Len()-len(e.waiting)-e.sent)
	e.waiting = append(e.waiting, list[:min(len(list), room, most)]...)
	if len(e.waiting) > 0 {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
}

// without is how many files of a snapshot lack a vector.
func (m *meaning) without(snap snapshot) (n int) {
	files := snap.extraFiles()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range files {
		rec := &f.seg.Files[f.file]
		if ids := m.idsOf(f.seg); ids == nil || slices.Contains(ids[rec.First:rec.First+rec.Count], 0) {
			n++
		}
	}
	return n
}

// embedExtra gives vectors to what waits for them.
func (x *Index) embedExtra() error {
	m := x.meaning
	for x.ctx.Err() == nil {
		batch := m.next()
		if len(batch) == 0 {
			return nil
		}
		err := x.send(batch)
		m.mu.Lock()
		if m.extra.sent = 0; err != nil {
			m.extra.waiting = append(batch, m.extra.waiting...)
		}
		m.mu.Unlock()
		if err != nil {
			return err
		}
		x.mu.Lock()
		x.notify(true)
		x.mu.Unlock()
	}
	return x.ctx.Err()
}

// next takes the first units that wait, as many as one request has.
func (m *meaning) next() []piece {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := &m.extra
	n, size := 0, 0
	for n < min(len(e.waiting), embed.MaxBatch) && (n == 0 || size+len(e.waiting[n].text) <= maxBatchText) {
		size += len(e.waiting[n].text)
		n++
	}
	batch := slices.Clone(e.waiting[:n])
	e.waiting, e.sent = slices.Delete(e.waiting, 0, n), n
	return batch
}
