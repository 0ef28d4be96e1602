package gitrepo

import (
	"context"
	"io/fs"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// A sweep compares the working tree with the index. Files of the index cost one
// look each, in the directory that holds them, and nothing else is done for a
// directory that has as many entries as the index has children in it: then
// there is no other file. Only where the numbers differ are names compared and
// ignore files read.

// sweep is one such comparison, made by several workers.
type sweep struct {
	r         *Repo
	index     *index.Raw
	conf      sweepConfig
	untracked Untracked
	over      Over // laid over the working tree: only what git ignores, and which names are absent, is looked at here
	ctx       context.Context

	mu     sync.Mutex
	more   sync.Cond
	stack  []*sweepDir
	active int
	stop   bool
	err    error

	workers []*sweeper
}

// sweepConfig are the settings that a sweep goes by.
type sweepConfig struct {
	fileMode bool // the bit for executable files means something
	sparse   bool // files that are left out may be there nevertheless
}

// sweepDir is a directory of the index.
type sweepDir struct {
	up     *sweepDir
	name   []byte // terminated by NUL
	path   string // with a slash at its end, "" for the top
	lo, hi int    // its entries in the index

	handle workspace.StatDir
	refs   atomic.Int32 // of itself and of subdirectories that are to be opened
	listed atomic.Bool  // its names have been compared

	rules    workspace.GitRules
	excluded bool // all that the index doesn't have in it is ignored
}

// sweeper is one worker and what it found.
type sweeper struct {
	*sweep
	changed   []sweptFile
	unsure    []int // entries whose content has to tell
	modules   []int // submodules that are there
	untracked []string

	st   workspace.FileStat
	buf  []byte
	subs []*sweepDir
}

// sweptFile is an entry of the index whose file differs.
type sweptFile struct {
	entry int
	code  byte // M, T, D
}

// swept is what a sweep found.
type swept struct {
	changed   []sweptFile
	unsure    []int
	modules   []int
	untracked []string
}

// worktreeState compares the working tree with the index, contents too where nothing else tells.
func (r *Repo) worktreeState(ctx context.Context, conf gitconfig.Values, o StatusOptions) (*index.Raw, swept, error) {
	x, err := r.index.Read()
	if err != nil {
		return nil, swept{}, err
	}
	s := &sweep{
		r: r, index: x, untracked: o.Untracked, over: o.Over, ctx: ctx,
		conf: sweepConfig{fileMode: conf.Bool("core.filemode", true), sparse: conf.Bool("core.sparsecheckout", false)},
	}
	found, err := s.run(below(o.Below))
	if err == nil {
		err = r.decide(ctx, x, conf, o.Untracked, &found)
	}
	return x, found, err
}

// run compares what is below a directory, given with a slash at its end.
func (s *sweep) run(below string) (swept, error) {
	s.more.L = &s.mu
	n := runtime.GOMAXPROCS(0)
	s.active = n
	start, err := s.open(below)
	if err != nil {
		return swept{}, err
	}
	defer context.AfterFunc(s.ctx, func() { s.end(context.Cause(s.ctx)) })()
	s.stack = append(s.stack, start)
	s.workers = make([]*sweeper, n)
	var wg sync.WaitGroup
	for i := range s.workers {
		s.workers[i] = &sweeper{sweep: s}
		wg.Go(s.workers[i].work)
	}
	wg.Wait()
	for _, d := range s.stack {
		if d.refs.Load() == 0 {
			d = d.up
		}
		d.release()
	}
	s.mu.Lock() // the end of the context may be under way
	defer s.mu.Unlock()
	return s.gather(), s.err
}

// gather puts together what the workers found.
func (s *sweep) gather() swept {
	var all swept
	for _, w := range s.workers {
		all.changed = append(all.changed, w.changed...)
		all.unsure = append(all.unsure, w.unsure...)
		all.modules = append(all.modules, w.modules...)
		all.untracked = append(all.untracked, w.untracked...)
	}
	sort.Ints(all.unsure)
	sort.Ints(all.modules)
	sort.Strings(all.untracked)
	sort.Slice(all.changed, func(i, j int) bool { return all.changed[i].entry < all.changed[j].entry })
	return all
}

// open opens a directory, given with a slash at its end, with the rules that
// those above it have for it.
func (s *sweep) open(path string) (*sweepDir, error) {
	handle, err := workspace.OpenStatDir(s.r.Dir)
	if err != nil {
		return nil, err
	}
	d := &sweepDir{hi: s.index.Count, handle: handle}
	d.refs.Store(1)
	d.inherit(s)
	for _, elem := range strings.SplitAfter(path, "/") {
		if elem == "" {
			continue
		}
		d.ownRules(s)
		sub := d.sub(elem[:len(elem)-1], s.find(d, elem))
		sub.inherit(s)
		sub.handle, err = d.handle.Enter(sub.name)
		if err != nil {
			d.release()
			return nil, err
		}
		sub.refs.Store(1) // and the one on the directory above goes with it
		d = sub
	}
	return d, nil
}

// find returns the entries below dir that are in its subdirectory elem, which
// has a slash at its end.
func (s *sweep) find(dir *sweepDir, elem string) (r [2]int) {
	prefix := dir.path + elem
	r[0] = dir.lo + sort.Search(dir.hi-dir.lo, func(i int) bool { return s.index.NameAt(dir.lo+i) >= prefix })
	r[1] = r[0] + sort.Search(dir.hi-r[0], func(i int) bool { return !strings.HasPrefix(s.index.NameAt(r[0]+i), prefix) })
	return r
}

func (d *sweepDir) sub(name string, at [2]int) *sweepDir {
	return &sweepDir{up: d, name: append([]byte(name), 0), path: d.path + name + "/", lo: at[0], hi: at[1]}
}

func (d *sweepDir) release() {
	for d != nil && d.refs.Add(-1) == 0 {
		d.handle.Close()
		d = d.up
	}
}

func (s *sweep) end(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.stop = true
	s.mu.Unlock()
	s.more.Broadcast()
}

func (s *sweep) pop() *sweepDir {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.stack) == 0 && !s.stop {
		if s.active--; s.active == 0 {
			s.stop = true
			s.more.Broadcast()
			break
		}
		s.more.Wait()
		s.active++
	}
	if s.stop {
		return nil
	}
	d := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	return d
}

func (s *sweep) push(dirs []*sweepDir) {
	if len(dirs) == 0 {
		return
	}
	s.mu.Lock()
	waits := len(s.stack) == 0
	s.stack = append(s.stack, dirs...)
	s.mu.Unlock()
	if waits {
		s.more.Broadcast()
	}
}

func (w *sweeper) work() {
	for {
		d := w.pop()
		if d == nil {
			return
		}
		if err := w.dir(d); err != nil {
			w.end(err)
			return
		}
	}
}

// dir compares one directory.
func (w *sweeper) dir(d *sweepDir) error {
	if d.refs.Load() == 0 { // not opened yet
		var err error
		d.handle, err = d.up.handle.Enter(d.name)
		if err != nil {
			if err = w.gone(d, err); err == nil {
				err = w.compareNames(d.up) // where something else may be in its place
			}
			d.up.release()
			return err
		}
		d.refs.Store(1)
		d.inherit(w.sweep)
	}
	defer d.release()
	differ, err := w.compareDir(d)
	if err != nil {
		return err
	}
	d.refs.Add(int32(len(w.subs)))
	w.push(w.subs)
	if differ {
		return w.compareNames(d)
	}
	return nil
}

// compareDir compares what is directly in a directory, and gathers its
// subdirectories in w.subs. differ says that names are to be compared.
func (w *sweeper) compareDir(d *sweepDir) (differ bool, err error) {
	c, err := w.entries(d)
	if err != nil || w.sweep.untracked == UntrackedNone || d.excluded {
		return false, err
	}
	if differ, err = w.count(d, &c); err != nil {
		return false, err
	}
	if _, laid := w.over[d.path+".gitignore"]; c.rules || laid {
		d.ownRules(w.sweep)
	}
	return differ, nil
}

// Count reports whether a directory has another number of entries than the
// index has children in it, and looks for its ignore file.
func (w *sweeper) count(d *sweepDir, c *children) (differ bool, err error) {
	list, err := d.handle.List(w.buf)
	if err != nil {
		return false, err
	}
	repos := 0
	n := list.Count(func(name []byte) {
		switch string(name) {
		case ".git\x00":
			repos++
		case ".gitignore\x00":
			c.rules = true
		}
	})
	w.buf = list.Buffer()
	return !c.exact || n-repos != c.n, nil
}

// children are what the index has in one directory.
type children struct {
	n     int
	exact bool // all files are there
	rules bool // an ignore file is among them
}

// gone notes that a directory isn't there.
func (w *sweeper) gone(d *sweepDir, err error) error {
	if !gitfile.Missing(err) {
		return &fs.PathError{Op: "open", Path: d.path, Err: err}
	}
	for i := d.lo; i < d.hi; i++ {
		e := w.index.At(i)
		if e.Stage() == 0 && !e.AssumeValid() && e.Extended()&index.FlagSkipWorktree == 0 {
			w.changed = append(w.changed, sweptFile{i, 'D'})
		}
	}
	return nil
}

// entries looks at every file that the index has in a directory, and gathers
// its subdirectories in w.subs.
func (w *sweeper) entries(d *sweepDir) (c children, err error) {
	x := w.index
	w.subs = w.subs[:0]
	c.exact = true
	skip := len(d.path)
	for i := d.lo; i < d.hi; c.n++ {
		full := x.NameAt(i)
		name := full[skip:]
		if slash := strings.IndexByte(name, '/'); slash >= 0 {
			end := w.endOf(full[:skip+slash+1], i, d.hi)
			w.subs = append(w.subs, d.sub(name[:slash], [2]int{i, end}))
			i = end
			continue
		}
		c.rules = c.rules || name == ".gitignore"
		there, err := w.file(d, i, unsafe.StringData(name))
		if err != nil {
			return c, err
		}
		c.exact = c.exact && there
		for i++; i < d.hi && x.NameAt(i) == full; { // stages of a conflict
			i++
		}
	}
	return c, nil
}

// endOf returns where the entries with a prefix end, of which i is the first.
func (w *sweeper) endOf(prefix string, i, hi int) int {
	step := 1
	for i+step < hi && strings.HasPrefix(w.index.NameAt(i+step), prefix) {
		i += step
		step *= 2
	}
	return i + 1 + sort.Search(min(step, hi-i)-1, func(k int) bool { return !strings.HasPrefix(w.index.NameAt(i+1+k), prefix) })
}
