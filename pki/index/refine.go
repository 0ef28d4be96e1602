package index

import (
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// The look at the tree finds units by their lines. What a parser says about
// them replaces that later: at once for what an answer has named, and then,
// with a share of one processor, for everything else.

// settled marks files that a parser has nothing more to say about.
const settled = segment.Refined | segment.Unparsed | segment.Skipped

// maxWanted bounds the files that wait because answers have named them.
const maxWanted = 500

// want is a file to be parsed soon.
type want struct {
	name string
	hash uint64
	text []byte // that lies over the disk; nil: the file itself
}

// wanted are the files that answers have named, first come, first served.
type wanted struct {
	wake chan struct{} // has room for one

	mu   sync.Mutex
	list []want
}

func (q *wanted) add(w want) {
	q.mu.Lock()
	known := slices.ContainsFunc(q.list, func(o want) bool { return o.name == w.name && o.hash == w.hash })
	if !known && len(q.list) < maxWanted {
		q.list = append(q.list, w)
	}
	q.mu.Unlock()
	q.hurry()
}

// hurry wakes the one who parses.
func (q *wanted) hurry() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *wanted) next() (w want, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return w, false
	}
	w = q.list[0]
	q.list = q.list[1:]
	return w, true
}

// want asks for a parser's word about the files of hits.
func (x *Index) want(view workspace.Reader, parts []rank.Part, disk int, refs []rank.Ref) {
	if x.o.Sources.Parse == nil {
		return
	}
	for _, r := range refs {
		f := &parts[r.Part].Files[parts[r.Part].Units[r.Unit].File]
		if f.Flags&settled != 0 {
			continue
		}
		w := want{name: f.Path, hash: f.Hash}
		if int(r.Part) >= disk {
			data, err := view.ReadFile(f.Path)
			if err != nil || segment.Hash(data) != f.Hash {
				continue
			}
			w.text = data
		}
		x.wanted.add(w)
	}
}

// refiner is the one who parses.
type refiner struct {
	x     *Index
	in    *Intake
	small *segment.Builder // for one file
	batch *segment.Builder // for the rest, nil while there is nothing in it
	olds  []entry          // of what batch has
	todo  []entry          // of the part that is under way
	done  map[*part]bool   // parts that were gone through
	spent time.Duration    // that was not made up for
	fresh bool             // something was published and not yet stored
}

// refine parses until the index is closed.
func (x *Index) refine() {
	r := refiner{x: x, in: NewIntake(x.o.Sources.Language, x.o.Hide), small: segment.NewBuilder(true), done: map[*part]bool{}}
	defer r.flush()
	select {
	case <-x.Ready():
	case <-x.ctx.Done():
		return
	}
	for x.ctx.Err() == nil {
		if w, ok := x.wanted.next(); ok {
			r.one(w)
			continue
		}
		if share := x.share(); share > 0 && r.step() {
			r.pause(share)
			continue
		}
		if r.flush(); r.fresh {
			// What was replaced still takes room in segments that hold other files.
			x.follow.Lock()
			x.tidy()
			x.follow.Unlock()
			x.store()
			r.fresh = false
		}
		select {
		case <-x.wanted.wake:
		case <-x.ctx.Done():
		}
	}
}

// share is how much of a processor the rest may take, in percent.
func (x *Index) share() int {
	if x.o.Bounds.Share == nil {
		return 0
	}
	return min(x.o.Bounds.Share(), 100)
}

// one parses what an answer has named.
func (r *refiner) one(w want) {
	x := r.x
	if w.text != nil {
		if r.in.AddParsed(x.ctx, r.small, w.name, w.text, int64(len(w.text)), x.o.Sources.Parse) == nil {
			x.views.replace(w.name, w.hash, r.small.Finish())
			x.mu.Lock()
			x.notify(true)
			x.mu.Unlock()
		}
		return
	}
	x.mu.Lock()
	at, known := x.byPath[w.name]
	x.mu.Unlock()
	if known && r.add(r.small, at) {
		x.replace(r.small.Finish(), []entry{at})
	}
}

// step parses one more file of the rest. It returns false when there is none.
func (r *refiner) step() bool {
	for len(r.todo) == 0 {
		if !r.part() {
			return false
		}
	}
	at := r.todo[0]
	r.todo = r.todo[1:]
	if r.batch == nil {
		r.batch = segment.NewBuilder(false)
	}
	began := time.Now()
	if r.add(r.batch, at) {
		r.olds = append(r.olds, at)
	}
	r.spent += time.Since(began)
	if len(r.todo) == 0 || r.batch.Full() {
		r.flush()
	}
	return true
}

// part takes the next part with something to parse.
func (r *refiner) part() bool {
	x := r.x
	x.mu.Lock()
	defer x.mu.Unlock()
	for p := range r.done {
		if !slices.Contains(x.parts, p) {
			delete(r.done, p)
		}
	}
	for _, p := range x.parts {
		if r.done[p] {
			continue
		}
		r.done[p] = true
		for i := range p.seg.Files {
			if f := &p.seg.Files[i]; f.Flags&settled == 0 && !p.isDead(uint32(i)) {
				r.todo = append(r.todo, x.byPath[f.Path])
			}
		}
		if len(r.todo) > 0 {
			return true
		}
	}
	return false
}

// add parses a file of the disk, unless it has changed: then whoever follows
// the changes comes to it.
func (r *refiner) add(b *segment.Builder, at entry) bool {
	x := r.x
	rec := at.record()
	x.mu.Lock()
	now := x.byPath[rec.Path]
	x.mu.Unlock()
	if now.part != at.part || now.file != at.file || rec.Flags&settled != 0 {
		return false
	}
	info, err := x.o.Files.Stat(rec.Path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxSource {
		return false
	}
	data, err := x.o.Files.ReadFile(rec.Path)
	if err != nil || segment.Hash(data) != rec.Hash {
		return false
	}
	return r.in.AddParsed(x.ctx, b, rec.Path, data, info.Size(), x.o.Sources.Parse) == nil
}

// flush publishes the batch.
func (r *refiner) flush() {
	if len(r.olds) > 0 {
		r.x.replace(r.batch.Finish(), r.olds)
		r.fresh = true
	}
	r.batch, r.olds = nil, nil
}

// pause makes up for the time that was spent, so that no more than the share
// of a processor is used.
func (r *refiner) pause(share int) {
	const least = 5 * time.Millisecond // of work before a pause
	if r.spent < least {
		return
	}
	t := time.NewTimer(r.spent * time.Duration(100-share) / time.Duration(share))
	defer t.Stop()
	r.spent = 0
	select {
	case <-t.C:
	case <-r.x.wanted.wake:
	case <-r.x.ctx.Done():
	}
}

// replace puts a segment in the place of the files that it was made of. What
// has changed since stays as it is.
func (x *Index) replace(seg *segment.Segment, olds []entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := &part{seg: seg}
	for i := range seg.Files {
		name := seg.Files[i].Path
		now, known := x.byPath[name]
		if !known || now.part != olds[i].part || now.file != olds[i].file {
			p.kill(uint32(i))
			continue
		}
		x.forget(name)
		x.enter(name, entry{p, uint32(i), now.stamp})
		x.count(&seg.Files[i], 1)
	}
	if p.gone < len(seg.Files) {
		x.parts = append(x.parts, p)
	}
	x.changed = true
	x.meaning.hurry()
	x.notify(true)
}
