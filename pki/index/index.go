// Package index keeps what is known about a project's code up to date with its
// files, and answers questions about it.
package index

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// Options are what an index needs.
type Options struct {
	// Files are the files of the disk, those left out that nobody may read.
	Files   workspace.Files
	Sources Sources
	Bounds  Bounds
	Report  Report
	// Hide takes secrets out of what is kept as text; nil takes none.
	Hide func(text string) string
	// Changes tells what changed since the last call; lost means that anything
	// may be different. nil, or an error: the index looks for itself.
	Changes func(ctx context.Context) (names, dirs []string, lost bool, err error)
	// Meaning makes answers by meaning besides those by words; nil: by words
	// alone.
	Meaning *Meaning
	// Store keeps the index between runs; nil: nothing does.
	Store *Store
	// History returns what is known of the project's commits, whether there is
	// news since the last call, and whether the next one, which may take long,
	// knows more, all of it with an error, too. It is called in the background,
	// after each question. nil: nothing is known.
	History func(ctx context.Context) (commits []history.Commit, news, more bool, err error)
	// Weights are those of the ranking; nil means rank.Default.
	Weights *rank.Weights
}

// Sources know source files.
type Sources struct {
	// Language names the language of a file, "" for none that is known.
	Language func(name string, src []byte) string
	// Parse returns the symbols of a source; an error means that there is no
	// more to know about this text than its lines tell. nil: nothing is parsed.
	Parse func(ctx context.Context, lang string, src []byte) ([]pki.Symbol, error)
}

// Bounds are what an index may use. They may change.
type Bounds struct {
	// Share is how much of one processor, in percent, may be used to parse what
	// nobody has asked about yet. nil: none.
	Share func() int
	// Bytes bounds the memory. Files that find it used up are known by their paths
	// alone. nil: nothing does.
	Bytes func() int64
}

// Report is who hears of an index. Each may be nil.
type Report struct {
	// Changed is called when the status has changed, now and then; it must not
	// wait.
	Changed func()
	// Problem is called with what goes wrong in the background.
	Problem func(error)
}

// Status is how far the index is.
type Status struct {
	Files     int       // that are known
	Symbols   int       // their units, files not counted
	Skipped   int       // of the files: binary, giant or minified, known by their paths
	Generated int       // of the files: written by programs, known by their names
	Ready     bool      // every file has been looked at once
	Looked    int       // how many have been, while it is not ready
	Parsed    int       // files whose units come from a parser
	Parsing   bool      // more will be
	Parseable int       // files that may get there, and those that did
	IndexedAt time.Time // when the tree was last looked at as a whole
	Bytes     int64     // of memory
	Failed    string    // why the last look at the tree ended early
	Commits   int       // that answers take into account
	Meaning   *MeaningStatus
}

// Index is safe for concurrent use.
type Index struct {
	o      Options
	ranker *rank.Ranker

	begin  sync.Once
	ctx    context.Context // of the work in the background
	cancel context.CancelFunc
	work   sync.WaitGroup

	follow sync.Mutex // held by whoever brings the index up to date

	mu      sync.Mutex
	parts   []*part
	byPath  map[string]entry // changed by enter and leave
	dirs    map[string]*dir
	modules map[string]bool // names of files that describe modules
	linked  map[string]bool // names of files that have further ones
	status  Status
	ready   chan struct{} // closed when the first look is over
	looked  time.Time     // at the whole tree
	changed bool          // since it was stored
	storing sync.Mutex    // held by whoever stores it

	single *segment.Builder // for segments of one file; guarded by one
	intake *Intake
	one    sync.Mutex
	views  viewCache
	wanted wanted
	past   past

	described described
	directory atomic.Pointer[segment.Directory]

	meaning *meaning // nil: answers are by words alone

	told  time.Time // when Told was called last; guarded by mu
	eager bool      // where nobody tells what changes, every question looks
	full  bool      // there is no more room; guarded by mu
}

// part is a segment and which of its files hold no more.
type part struct {
	seg  *segment.Segment
	dead []uint64 // replaced, never changed; nil: none
	gone int

	shared bool // it is of the index that this one is a fork of
}

// kill takes a file out.
func (p *part) kill(file uint32) {
	dead := make([]uint64, (len(p.seg.Files)+63)/64)
	copy(dead, p.dead)
	dead[file/64] |= 1 << (file % 64)
	p.dead = dead
	p.gone++
}

func (p *part) isDead(file uint32) bool { return p.dead != nil && p.dead[file/64]>>(file%64)&1 != 0 }

// entry is where a file is, and how it was when it was looked at last.
type entry struct {
	part  *part
	file  uint32
	stamp stamp
}

// stamp tells whether a file is still the same. The time is 0 if it can't be
// relied on.
type stamp struct{ size, mtime int64 }

func (p entry) record() *segment.File { return &p.part.seg.Files[p.file] }

// New makes an index, which begins with its first question or with Start.
func New(o Options) *Index {
	w := rank.Default()
	if o.Weights != nil {
		w = *o.Weights
	}
	x := &Index{
		o: o, ranker: rank.New(w), linked: map[string]bool{}, ready: make(chan struct{}),
		single: segment.NewBuilder(true), intake: NewIntake(o.Sources.Language, o.Hide), wanted: wanted{wake: make(chan struct{}, 1)},
		meaning: newMeaning(o.Meaning), past: past{wake: make(chan struct{}, 1)},
	}
	x.empty()
	x.ctx, x.cancel = context.WithCancel(context.Background())
	return x
}

// Start begins to look at the files, in the background, unless that has begun.
func (x *Index) Start() {
	x.begin.Do(func() {
		x.work.Go(func() {
			x.follow.Lock()
			x.restore()
			x.changes(x.ctx) // what comes from now on comes again
			x.rescan(x.ctx)
			x.follow.Unlock()
			x.store()
		})
		if x.o.Sources.Parse != nil {
			x.work.Go(x.refine)
		}
		if x.o.History != nil {
			x.work.Go(x.remember)
		}
		if x.o.Meaning != nil && x.meaning.Client != nil {
			x.work.Go(x.embed)
		}
	})
}

// Close ends the work and stores the index.
func (x *Index) Close() error {
	x.cancel()
	x.work.Wait()
	x.store()
	return nil
}

// Rebuild forgets everything and begins again, in the background.
func (x *Index) Rebuild() {
	x.Start()
	<-x.Ready()
	x.follow.Lock()
	x.mu.Lock()
	x.empty()
	x.parts, x.linked, x.status, x.ready = nil, map[string]bool{}, Status{Commits: x.status.Commits}, make(chan struct{})
	x.notify(true)
	x.mu.Unlock()
	if x.meaning != nil {
		x.problem(x.meaning.forget())
	}
	x.work.Go(func() {
		x.rescan(x.ctx)
		x.follow.Unlock()
		x.store()
	})
	x.wanted.hurry()
}

// Ready is closed once every file has been looked at.
func (x *Index) Ready() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ready
}

// Status returns how far the index is.
func (x *Index) Status() Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.statusLocked()
}

func (x *Index) statusLocked() Status {
	s := x.status
	s.Files = len(x.byPath)
	for _, p := range x.parts {
		s.Bytes += p.seg.Bytes()
	}
	s.Meaning = x.meaning.now()
	s.Parsing = x.o.Sources.Parse != nil && s.Parsed < s.Parseable
	return s
}

// count adds a file to what the status says, or takes it away. x.mu is held.
func (x *Index) count(f *segment.File, by int) {
	x.status.Symbols += by * (int(f.Count) - 1)
	if f.Flags&segment.Skipped != 0 {
		x.status.Skipped += by
	}
	if f.Flags&segment.Generated != 0 {
		x.status.Generated += by
	}
	if f.Flags&segment.Refined != 0 {
		x.status.Parsed += by
	}
	if f.Flags&(segment.Skipped|segment.Unparsed) == 0 {
		x.status.Parseable += by
	}
}

// publish adds a segment, whose files were as the stamps say. Files that are
// known already are replaced by it.
func (x *Index) publish(seg *segment.Segment, stamps []stamp) {
	if len(seg.Files) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	p := &part{seg: seg}
	for i := range seg.Files {
		x.forget(seg.Files[i].Path)
		x.enter(seg.Files[i].Path, entry{p, uint32(i), stamps[i]})
		x.count(&seg.Files[i], 1)
	}
	x.parts = append(x.parts, p)
	x.full = x.o.Bounds.Bytes != nil && x.statusLocked().Bytes > x.o.Bounds.Bytes()
	x.changed = true
	x.wanted.hurry()
	x.meaning.hurry()
	x.notify(false)
}

// notify says that the status has changed, unless that has just been said and
// this is nothing special. x.mu is held.
func (x *Index) notify(special bool) {
	const often = 200 * time.Millisecond
	if x.o.Report.Changed == nil || !special && time.Since(x.told) < often {
		return
	}
	x.told = time.Now()
	x.o.Report.Changed()
}

// forget takes a file out. x.mu is held.
func (x *Index) forget(name string) {
	old, ok := x.byPath[name]
	if !ok {
		return
	}
	x.leave(name)
	x.count(old.record(), -1)
	p := old.part
	p.kill(old.file)
	x.changed = true
	if p.gone == len(p.seg.Files) {
		for i := range x.parts {
			if x.parts[i] == p {
				x.parts = append(append([]*part(nil), x.parts[:i]...), x.parts[i+1:]...)
				break
			}
		}
	}
}

// build makes a segment of one file of that size.
func (x *Index) build(name string, data []byte, size int64) *segment.Segment {
	x.one.Lock()
	defer x.one.Unlock()
	x.intake.Add(x.single, name, data, size)
	return x.single.Finish()
}

func (x *Index) problem(err error) {
	if err != nil && x.o.Report.Problem != nil {
		x.o.Report.Problem(err)
	}
}
