package index

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// Meaning is what answers by meaning need.
type Meaning struct {
	// Client makes the vectors; Err, if Client is nil, says why there is none.
	Client *embed.Client
	Err    error
	// Hide takes the secrets out of a text before it is sent.
	Hide func(text string) string
	// MaxUnits bounds the units that get vectors.
	MaxUnits int
	// Weight is how much vectors count beside the words: rank.Blend.
	Weight float32
	// Patience is how long an answer waits for the vector of its question.
	Patience time.Duration
	// Again is after what time an endpoint that failed is tried again at first;
	// then it is twice as long each time, five minutes at most.
	Again time.Duration
}

// MeaningStatus is how far the vectors are.
type MeaningStatus struct {
	State    string // starting, working, ready, failing
	Model    string
	Units    int // that are to have vectors
	Embedded int // that have
	Err      string
}

// States of MeaningStatus.
const (
	meaningStarting = "starting"
	meaningWorking  = "working"
	meaningReady    = "ready"
	meaningFailing  = "failing"
)

const (
	maxPiece     = 2000 // bytes of a unit that are sent
	maxBatchText = 32 << 10
	longestAgain = 5 * time.Minute
)

// meaning is the vectors of an index, and of those that were forked from it.
type meaning struct {
	Meaning
	vectors atomic.Pointer[embed.Vectors]
	wake    chan struct{} // has room for one, as again
	again   chan struct{} // wakes also who waits for an endpoint that failed

	mu       sync.Mutex
	ids      map[*segment.Segment][]embed.ID // by unit
	extra    extra
	status   MeaningStatus
	failures int // so far, of questions and of pieces
}

func newMeaning(o *Meaning) *meaning {
	if o == nil {
		return nil
	}
	m := &meaning{Meaning: *o, wake: make(chan struct{}, 1), again: make(chan struct{}, 1), ids: map[*segment.Segment][]embed.ID{}, extra: newExtra()}
	m.vectors.Store(embed.NewVectors())
	m.status.State = meaningStarting
	if m.Client == nil {
		m.status.State, m.status.Err = meaningFailing, m.Err.Error()
	} else {
		m.status.Model = m.Client.Model()
	}
	return m
}

func (m *meaning) hurry() {
	if m == nil {
		return
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// now returns the status, nil for no meaning at all.
func (m *meaning) now() *MeaningStatus {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.status
	return &s
}

// failed counts the failures so far.
func (m *meaning) failed() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failures
}

// set changes the status and reports whether it was another one. What failed
// since then, as a question can at any time, is not covered up.
func (m *meaning) set(since int, f func(s *MeaningStatus)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failures != since {
		return false
	}
	before := m.status
	f(&m.status)
	return m.status != before
}

func (m *meaning) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures++
	m.status.State, m.status.Err = meaningFailing, err.Error()
}

// embed makes vectors until the index is closed.
func (x *Index) embed() {
	m := x.meaning
	if x.o.Store != nil {
		v, err := embed.OpenVectors(x.o.Store.Open, m.Client.Source(), m.MaxUnits, fileNumber)
		x.problem(err)
		m.vectors.Store(v)
		defer func() { x.problem(v.Close()) }()
	}
	select {
	case <-x.Ready():
	case <-x.ctx.Done():
		return
	}
	wait, all := time.Duration(0), true
	for x.ctx.Err() == nil {
		since := m.failed()
		var err error
		if all {
			err = x.embedAll(since)
		}
		if err == nil {
			err = x.embedExtra()
		}
		if x.ctx.Err() != nil {
			return
		}
		var later <-chan time.Time
		if err != nil {
			wait = min(max(2*wait, m.Again), longestAgain)
			later = time.After(wait)
			m.fail(err)
		} else {
			wait = 0
			m.set(since, func(s *MeaningStatus) { s.State, s.Err = meaningReady, "" })
		}
		x.mu.Lock()
		x.notify(true)
		x.mu.Unlock()
		wake, met := m.wake, m.extra.wake
		if err != nil {
			wake, met = nil, nil // what changes is no reason to ask it again at once
		}
		all = true
		select {
		case <-met:
			all = false
		case <-wake:
		case <-m.again:
			wait = 0
		case <-later:
		case <-x.ctx.Done():
		}
	}
}

// embedAll gives a vector to every unit that has none, as far as there is room.
// It starts after that many failures.
func (x *Index) embedAll(since int) error {
	m := x.meaning
	if was := m.now(); was.State == meaningFailing {
		// Is it back, and the same?
		vectors, err := m.Client.Embed(x.ctx, embed.Query, []string{"hello"})
		if err == nil {
			_, err = embed.Nearest(m.vectors.Load(), vectors[0], 1, func(func(int, embed.ID)) {})
		}
		if err != nil {
			return err
		}
	}
	files := x.toEmbed()
	units, done := 0, 0
	for _, at := range files {
		units += int(at.record().Count)
	}
	units = min(units, m.MaxUnits)
	m.set(since, func(s *MeaningStatus) { s.State, s.Units, s.Err = meaningWorking, units, "" })
	var batch []piece
	size, room := 0, m.MaxUnits
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := x.send(batch)
		if err == nil {
			err = x.embedExtra() // somebody works on that now
		}
		done += len(batch)
		batch, size = batch[:0], 0
		if m.set(since, func(s *MeaningStatus) { s.Embedded = min(done, units) }) {
			x.mu.Lock()
			x.notify(false)
			x.mu.Unlock()
		}
		return err
	}
	for _, at := range files {
		if room -= int(at.record().Count); room < 0 {
			break
		}
		pieces, known := x.pieces(at)
		done += known
		for _, p := range pieces {
			if len(batch) == embed.MaxBatch || size+len(p.text) > maxBatchText {
				if err := send(); err != nil {
					return err
				}
			}
			batch, size = append(batch, p), size+len(p.text)
		}
		if err := x.ctx.Err(); err != nil {
			return err
		}
	}
	err := send()
	m.set(since, func(s *MeaningStatus) { s.Embedded, s.Units = done, done })
	return err
}

// toEmbed returns the files whose units are to have vectors, what matters most
// first. What is still to be parsed waits until then.
func (x *Index) toEmbed() []entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	waits := x.o.Sources.Parse != nil && x.share() > 0
	var list []entry
	live := make(map[*segment.Segment]bool, len(x.parts))
	for _, p := range x.parts {
		live[p.seg] = true
		for i := range p.seg.Files {
			f := &p.seg.Files[i]
			if !p.isDead(uint32(i)) && f.Flags&segment.Skipped == 0 && (f.Flags&settled != 0 || !waits) {
				list = append(list, x.byPath[f.Path])
			}
		}
	}
	m := x.meaning
	m.mu.Lock()
	for seg := range m.ids {
		if !live[seg] {
			delete(m.ids, seg)
		}
	}
	m.mu.Unlock()
	aside := func(p entry) int {
		if p.record().Flags&(segment.Test|segment.Aside|segment.Generated|segment.Prose) != 0 {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b entry) int { return aside(a) - aside(b) })
	return list
}

// pieces returns the units of a file of the disk that have no vector, and how
// many have.
func (x *Index) pieces(at entry) (list []piece, known int) {
	m, seg, rec := x.meaning, at.part.seg, at.record()
	first, end := rec.First, rec.First+rec.Count
	m.mu.Lock()
	ids := m.ids[seg]
	if ids == nil {
		ids = make([]embed.ID, len(seg.Units))
		m.ids[seg] = ids
	}
	missing := slices.Contains(ids[first:end], 0)
	m.mu.Unlock()
	if !missing {
		return nil, int(rec.Count)
	}
	return m.missing(x.o.Files, seg, at.file)
}

func (m *meaning) give(p piece, id embed.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ids := m.idsOf(p.seg); ids != nil {
		ids[p.unit] = id
	}
}

// idsOf are the vectors of the units of a segment. m.mu is held.
func (m *meaning) idsOf(seg *segment.Segment) []embed.ID {
	if ids := m.ids[seg]; ids != nil {
		return ids
	}
	return m.extra.ids(seg)
}

// send gives vectors to pieces.
func (x *Index) send(batch []piece) error {
	m := x.meaning
	texts, keys := make([]string, len(batch)), make([]embed.Key, len(batch))
	for i, p := range batch {
		texts[i], keys[i] = p.text, p.key
	}
	vectors, err := m.Client.Embed(x.ctx, embed.Document, texts)
	if err != nil {
		return err
	}
	if err := m.vectors.Load().Add(keys, vectors); err != nil {
		return err
	}
	for _, p := range batch {
		if id, ok := m.vectors.Load().Find(p.key); ok {
			m.give(p, id)
		}
	}
	return nil
}

// forget drops all vectors: the model may have been changed.
func (m *meaning) forget() error {
	m.mu.Lock()
	clear(m.ids)
	m.extra.forget()
	m.mu.Unlock()
	err := m.vectors.Load().Forget()
	select {
	case m.again <- struct{}{}:
	default:
	}
	return err
}
