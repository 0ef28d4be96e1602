package textindex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Plan says which files a search has to look at.
type Plan struct {
	Names  []string // for WalkOptions.Names: what may have what is needed, and what isn't known
	Text   int      // files of text that need not be read
	Binary int      // binary files that need not be read
	Swept  string   // why all files were looked at to find changes; "" when events told

	x     *Index
	known []seen // by the place in Names
}

// seen is what a plan took a file for.
type seen struct {
	number int32
	turn   uint32
	loose  bool // and nothing against changing that
	stamp  uint64
	parts  []Part // what of it may have what is needed; nil: all of it
}

// Plan returns what a walk of files with opts need not visit because it has
// nothing of what is needed, and what is left. It returns nil when it doesn't
// know: then everything has to be visited.
func (x *Index) Plan(ctx context.Context, files workspace.Files, opts workspace.WalkOptions, need Needed) (*Plan, error) {
	disk, over := files.Base()
	if x == nil || !x.covers(&opts, disk) {
		return nil, nil
	}
	if err := x.acquire(ctx); err != nil {
		return nil, err
	}
	defer x.unlock()
	if !x.worthwhile(&opts) {
		return nil, nil
	}
	if err := x.refresh(ctx); err != nil {
		return nil, closing(err)
	}
	sc, ok := x.scope(&opts)
	if !ok {
		return nil, nil
	}
	p := &Plan{x: x, Swept: x.swept, Names: []string{}}
	t := &x.tree
	visit, parts := t.candidates(&x.store, need.clauses())
	for _, name := range over {
		if i := t.number(name); i >= 0 && t.files[i].state != isGone {
			visit.add(i)
		}
	}
	p.choose(t, sc, visit)
	for n := range p.known {
		p.known[n].parts = t.partly(&p.known[n], parts)
	}
	return p, nil
}

// closing turns the error of a closed watcher into none: then nothing is known.
func closing(err error) error {
	if errors.Is(err, watch.ErrClosed) {
		return nil
	}
	return err
}

// set is a set of numbers.
type set []uint64

func (s set) add(i int32)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int32) bool { return s[i/64]>>(i%64)&1 != 0 }

// candidates returns the files that may have what is needed, and what of long
// files that is.
func (t *tree) candidates(s *store, need clauses) (set, map[int32][]Part) {
	found := make(set, (len(t.files)+63)/64)
	copy(found, t.loose)
	parts := map[int32][]Part{}
	if len(need) > 0 {
		s.find(need, func(i int32, part Part) {
			found.add(i)
			if len(t.more) > 0 && t.more[i] != nil {
				parts[i] = append(parts[i], part)
			}
		})
		return found, parts
	}
	for i := range t.files {
		if t.files[i].state == isText {
			found.add(int32(i))
		}
	}
	return found, parts
}

// choose makes names of the files to visit, and counts the others.
func (p *Plan) choose(t *tree, sc *scope, visit set) {
	if sc.all() {
		p.Text, p.Binary = t.texts, t.binary
		for w, word := range visit {
			for ; word != 0; word &= word - 1 {
				i := int32(w*64 + bits.TrailingZeros64(word))
				p.count(t.files[i].state, -1)
				p.addLeaf(t, i)
			}
		}
	} else {
		lo, hi := 0, t.sorted
		if sc.prefix != "" {
			lo, hi = t.below(sc.opts.Dir)
		}
		for i := lo; i < hi; i++ {
			p.visit(t, sc, visit, int32(i))
		}
		for i := t.sorted; i < len(t.names); i++ {
			p.visit(t, sc, visit, int32(i))
		}
	}
}

func (p *Plan) visit(t *tree, sc *scope, visit set, i int32) {
	f := &t.files[i]
	switch {
	case f.state == isGone || !sc.has(t.names[i]):
	case visit.has(i):
		p.addLeaf(t, i)
	default:
		p.count(f.state, 1)
	}
}

func (p *Plan) count(st state, n int) {
	switch st {
	case isText:
		p.Text += n
	case isBinary:
		p.Binary += n
	}
}

func (p *Plan) addLeaf(t *tree, i int32) {
	p.Names = append(p.Names, t.names[i])
	f := &t.files[i]
	p.known = append(p.known, seen{number: i, turn: f.turn, loose: f.state == isLoose && !f.secret, stamp: f.stamp})
}

// partly returns the parts of a file to read, nil if it is all of it.
func (t *tree) partly(of *seen, parts map[int32][]Part) []Part {
	found := parts[of.number]
	if f := &t.files[of.number]; f.state != isText || f.whole || f.stamp == 0 || len(found) > len(t.more[of.number])/2 {
		return nil
	}
	slices.SortFunc(found, func(a, b Part) int { return cmp.Compare(a.From, b.From) })
	return found
}

// Reader takes what a search reads on its way, so that it need not be read
// again. Each worker of a walk has its own, and closes it after the walk.
type Reader struct {
	p     *Plan
	sign  *signer   // has the blocks of what was found out
	found []finding // and is not kept yet
	entry workspace.Entry
	read  func([]byte) ([]byte, error)
	scan  func([]byte, func([]byte, bool) bool) error

	begun, done bool // reading the file
	binary      bool
	odd         bool // text that is not what it seems: always to be read
	whole       bool // see file
}

// finding is what a reader has found out about a file.
type finding struct {
	name   string
	was    seen
	stamp  uint64
	binary bool
	whole  bool
	end    mark // of its blocks
}

// Findings are kept many at once, and when no other worker is at that, unless
// they are the most there may be.
const (
	manyFindings = 64
	maxFindings  = 8 * manyFindings
)

// Reader returns a new reader for a walk of the plan's names.
func (p *Plan) Reader() *Reader {
	r := &Reader{p: p}
	r.entry.Read = r.readAll
	return r
}

// Visit calls visit for the entry of a walk. If nothing is known of the file,
// what visit reads is taken note of.
func (r *Reader) Visit(e *workspace.Entry, visit func(*workspace.Entry)) {
	if e.Stat == nil || e.Number >= len(r.p.known) || r.p.Names[e.Number] != e.Path || !r.p.known[e.Number].loose {
		visit(e)
		return
	}
	st, err := e.Stat()
	now := r.p.x.o.Now()
	if err != nil || st.Linked {
		visit(e)
		return
	}
	if r.sign == nil {
		r.sign = new(signer)
	}
	r.begun, r.done = false, false
	r.read, r.scan, r.entry.Scan = e.Read, e.Scan, nil
	if e.Scan != nil {
		r.entry.Scan = r.scanAll
	}
	r.entry.Path, r.entry.Worker, r.entry.Number, r.entry.Stat = e.Path, e.Worker, e.Number, e.Stat
	visit(&r.entry)
	if !r.done || r.odd {
		r.sign.cut(r.last())
		return
	}
	r.found = append(r.found, finding{e.Path, r.p.known[e.Number], r.p.x.trusted(st, now), r.binary, r.whole, r.sign.end()})
	if len(r.found) < manyFindings {
		return
	}
	select {
	case r.p.x.lock <- struct{}{}:
		r.flush()
	default:
		if len(r.found) >= maxFindings {
			r.Close()
		}
	}
}

// last is where the blocks end that belong to findings.
func (r *Reader) last() mark {
	if n := len(r.found); n > 0 {
		return r.found[n-1].end
	}
	return mark{}
}

// Close keeps what was found out. The reader can go on after it.
func (r *Reader) Close() {
	if len(r.found) > 0 {
		r.p.x.lock <- struct{}{}
		r.flush()
	}
}

// flush is Close for whoever has locked the index. It unlocks it.
func (r *Reader) flush() {
	r.p.x.addFindings(r.found, r.sign)
	r.p.x.unlock()
	r.found = r.found[:0]
	r.sign.cut(mark{})
}

// Parts returns what of a file a search has to read, nil for all of it: also
// when the file is not what it was.
func (r *Reader) Parts(e *workspace.Entry) []Part {
	if e.Stat == nil || e.ReadAt == nil || e.Number >= len(r.p.known) || r.p.Names[e.Number] != e.Path {
		return nil
	}
	k := &r.p.known[e.Number]
	if k.parts == nil {
		return nil
	}
	if st, err := e.Stat(); err != nil || r.p.x.fingerprint(st) != k.stamp {
		return nil
	}
	return k.parts
}

// headSize is how much of a file says whether it is binary.
const headSize = 1 << 10

// addText takes the next piece of the file.
func (r *Reader) addText(data []byte, last bool) {
	if !r.begun {
		r.begun, r.binary, r.odd = true, false, false
		r.sign.cut(r.last())
		bare := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		r.whole = len(bare) < len(data)
		data = bare
		r.odd = bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
		r.binary = !r.odd && bytes.IndexByte(data[:min(len(data), headSize)], 0) >= 0
	}
	if r.odd || r.binary {
		return
	}
	r.whole = r.whole || bytes.IndexByte(data, 0) >= 0
	r.sign.add(data, last)
}

func (r *Reader) readAll(buf []byte) ([]byte, error) {
	data, err := r.read(buf)
	if err == nil && !r.done {
		r.begun = false
		r.addText(data, true)
		r.done = true
	}
	return data, err
}

// scanAll reads to the end even if the search has seen enough.
func (r *Reader) scanAll(buf []byte, piece func([]byte, bool) bool) error {
	if r.done {
		return r.scan(buf, piece)
	}
	r.begun = false
	more, ended := true, false
	err := r.scan(buf, func(data []byte, last bool) bool {
		r.addText(data, last)
		if more {
			more = piece(data, last)
		}
		ended = last
		return more || !r.binary && !r.odd
	})
	r.done = err == nil && (ended || r.binary)
	return err
}

// addFindings stores what a reader has found out, unless a file was changed since.
// x is locked.
func (x *Index) addFindings(list []finding, s *signer) {
	from := mark{}
	for i := range list {
		x.addFinding(&list[i], s, from)
		from = list[i].end
	}
}

// addFinding stores a finding, whose blocks begin at from.
func (x *Index) addFinding(found *finding, s *signer, from mark) {
	t := &x.tree
	i := found.was.number
	if int(i) >= len(t.names) || t.names[i] != found.name {
		i = t.number(found.name)
	}
	if i < 0 || t.files[i].turn != found.was.turn || t.files[i].state != isLoose {
		return
	}
	f := &t.files[i]
	if found.binary {
		t.set(&x.store, i, isBinary)
		f.stamp = found.stamp
		return
	}
	if x.store.used+(found.end.bits-from.bits)*8 > x.o.MaxBytes {
		return
	}
	t.set(&x.store, i, isText)
	f.stamp, f.whole = found.stamp, found.whole
	at := from.bits
	for n := from.blocks; n < found.end.blocks; n++ {
		to := at + 1<<s.log2[n]/64
		c := x.store.add(i, s.parts[n], s.log2[n], s.bits[at:to])
		if at = to; n == from.blocks {
			f.first = c
		} else {
			t.more[i] = append(t.more[i], c)
		}
	}
}
