package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

// Walk visits the regular files below opts.Dir. Symbolic links are not
// followed, except in opts.Dir itself and inside its root. The rules of ignore
// files between the root and opts.Dir hold, but don't exclude opts.Dir itself.
func (d *Disk) Walk(ctx context.Context, opts WalkOptions, visit func(*Entry) error) error {
	dir := opts.Dir
	if dir == "" {
		dir = "."
	}
	if opts.Names != nil {
		return d.visitNames(ctx, opts, visit)
	}
	dir = d.inner.most(dir)
	opts = d.inner.outside(opts)
	f, rel, err := d.locate(dir)
	if err != nil {
		return pathError("walk", dir, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w := newWalk(opts, visit)
	if f != nil {
		info, err := f.root.Stat(rel)
		if err != nil {
			return pathError("walk", dir, err)
		}
		if !info.IsDir() {
			return d.visitOne(dir, info, w)
		}
		err = w.addRoot(f, rel, dir)
		if err != nil {
			return pathError("walk", dir, err)
		}
		for i := range d.folders {
			in := &d.folders[i]
			below := func(at struct{ at, name string }) bool {
				return at.name == in.Name && strings.HasPrefix(at.at, dir+"/")
			}
			if slices.ContainsFunc(d.inner, below) && (opts.Keep == nil || opts.Keep(in.Name, true)) {
				_ = w.addRoot(in, ".", in.Name) // what can't be read is skipped
			}
		}
		return w.run(ctx)
	}
	for i := range d.folders {
		f := &d.folders[i]
		if opts.Keep != nil && !opts.Keep(f.Name, true) {
			continue
		}
		if err := w.addRoot(f, ".", f.Name); err != nil {
			continue // what can't be read is skipped
		}
	}
	return w.run(ctx)
}

// visitOne visits the file that a walk was started at.
func (d *Disk) visitOne(name string, info fs.FileInfo, w *walk) error {
	if !info.Mode().IsRegular() {
		return pathError("walk", name, ErrSpecial)
	}
	if w.opts.Keep != nil && !w.opts.Keep(name, false) {
		return nil
	}
	err := w.visit(&Entry{Path: name, Read: func(buf []byte) ([]byte, error) {
		data, err := d.ReadFile(name)
		return append(buf[:0], data...), err
	}})
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// walk is one walk: a stack of work shared by the workers. Directories are
// taken from its top, so that few are open at a time.
type walk struct {
	opts  WalkOptions
	visit func(*Entry) error
	stop  atomic.Bool

	mu     sync.Mutex
	more   sync.Cond // there is work, or none is left
	stack  []job
	active int // workers that may still add work
	idle   atomic.Int32
	err    error
}

// job is a directory to be listed, or files of one to be visited.
type job struct {
	parent *openDir
	name   []byte // of the directory, terminated by NUL; nil: parent itself
	files  []byte // paths to visit, each terminated by NUL
	rules  dirRules
}

// openDir is a directory held open for the work that refers to it.
type openDir struct {
	handle dirHandle
	path   string // in the view, with a slash at its end, "" for the root
	refs   atomic.Int32
}

// name returns the directory's name in the view.
func (o *openDir) name() string { return path.Clean(o.path) }

func (o *openDir) release() {
	if o.refs.Add(-1) == 0 {
		o.handle.close()
	}
}

func newWalk(opts WalkOptions, visit func(*Entry) error) *walk {
	w := &walk{opts: opts, visit: visit}
	w.more.L = &w.mu
	if w.opts.Workers <= 0 {
		w.opts.Workers = runtime.GOMAXPROCS(0)
	}
	return w
}

// addRoot makes the directory rel of f a start of the walk, under its name in
// the view.
func (w *walk) addRoot(f *folder, rel, name string) error {
	handle, err := openRootDir(f.root, rel)
	if err != nil {
		return err
	}
	o := &openDir{handle: handle}
	if name != "." {
		o.path = name + "/"
	}
	o.refs.Store(1)
	var rules dirRules
	if !w.opts.IncludeIgnored {
		rules = f.rulesAbove(rel)
	}
	w.stack = append(w.stack, job{parent: o, rules: rules})
	return nil
}

// run works until nothing is left, visit fails, or ctx ends.
func (w *walk) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { w.end(nil) })()
	w.active = w.opts.Workers
	var wg sync.WaitGroup
	for i := 1; i < w.opts.Workers; i++ {
		wg.Go(func() { w.work(i) })
	}
	w.work(0)
	wg.Wait()
	for _, j := range w.stack {
		j.parent.release()
	}
	return w.outcome(ctx)
}

// outcome is why the work ended. The end of ctx may still be under way.
func (w *walk) outcome(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(w.err, fs.SkipAll):
		return nil
	case w.err != nil:
		return w.err
	}
	return ctx.Err()
}

// end makes all workers stop. The first error is kept.
func (w *walk) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.stop.Store(true) // with the lock, or who is about to wait would not be woken
	w.more.Broadcast()
}

// push adds work.
func (w *walk) push(jobs []job) {
	if len(jobs) == 0 {
		return
	}
	w.mu.Lock()
	w.stack = append(w.stack, jobs...)
	w.mu.Unlock()
	if w.idle.Load() > 0 {
		w.more.Broadcast()
	}
}

// pop waits for work. It returns false when there will be none.
func (w *walk) pop() (job, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 && !w.stop.Load() {
		if w.active--; w.active == 0 {
			w.stop.Store(true)
			w.more.Broadcast()
			break
		}
		w.idle.Add(1)
		w.more.Wait()
		w.idle.Add(-1)
		w.active++
	}
	if w.stop.Load() {
		return job{}, false
	}
	j := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	return j, true
}

// worker is what one goroutine of a walk uses again and again.
type worker struct {
	*walk
	entry Entry
	dir   *openDir
	name  []byte // of the file being visited, terminated by NUL
	base  []byte // room for a name
	list  []byte // a directory's entries, or the next of many
	text  []byte // an ignore file
	files [][]byte
	jobs  []job
}

func newWorker(w *walk, i int) *worker {
	k := &worker{walk: w}
	k.entry.Worker = i
	k.entry.Read, k.entry.Scan, k.entry.Stat, k.entry.ReadAt = k.read, k.scan, k.stat, k.readAt
	return k
}

func (w *walk) work(i int) {
	k := newWorker(w, i)
	for {
		j, ok := w.pop()
		if !ok {
			return
		}
		k.do(j)
		j.parent.release()
		runtime.Gosched() // others wait for a directory at most, not for a time slice
	}
}

// do does one job.
func (k *worker) do(j job) {
	if j.files != nil {
		k.visitFiles(j.parent, j.files)
		return
	}
	if j.name == nil {
		k.listDir(j.parent, j.rules)
		return
	}
	handle, err := j.parent.handle.openDir(j.name)
	if err != nil {
		return
	}
	o := &openDir{handle: handle, path: j.parent.path + string(j.name[:len(j.name)-1]) + "/"}
	o.refs.Store(1)
	k.listDir(o, j.rules)
	o.release()
}

// entryKind is what an entry of a directory is, as far as a walk cares.
type entryKind uint8

const (
	otherKind entryKind = iota // a link, a device, …
	fileKind
	dirKind
	unknownKind
)

// filesPerJob is how many files of one directory a worker keeps for itself.
const filesPerJob = 128

// listDir lists a directory, a large one piece by piece.
func (k *worker) listDir(o *openDir, rules dirRules) {
	if k.opts.Enter != nil {
		k.opts.Enter(o.name(), o.handle.isLocal())
	}
	for first := true; ; first = false {
		list, more, err := o.handle.list(k.list)
		if k.list = list; err != nil {
			return
		}
		if first && !k.opts.IncludeIgnored {
			k.addRules(o, &rules, !more)
		}
		k.visitListed(o, &rules)
		if !more || k.stop.Load() {
			return
		}
	}
}

// visitListed visits the files that were listed and puts the subdirectories on
// the stack, first, so that other workers have something to do.
func (k *worker) visitListed(o *openDir, rules *dirRules) {
	k.jobs, k.files = k.jobs[:0], k.files[:0]
	for e := (entries{k.list}); ; {
		name, kind := e.next()
		if name == nil {
			break
		}
		bare := name[:len(name)-1]
		if kind == unknownKind {
			kind = o.handle.kind(name)
		}
		if kind == otherKind || kind == fileKind && k.opts.DirsOnly || !k.opts.wanted(bare, kind == dirKind, rules) {
			continue
		}
		if k.opts.Keep != nil && kind == dirKind && !k.opts.Keep(o.path+string(bare), true) {
			continue
		}
		if kind == fileKind {
			k.files = append(k.files, name)
			continue
		}
		k.jobs = append(k.jobs, job{parent: o, name: append([]byte(nil), name...), rules: rules.enter(bare)})
	}
	own := k.share(o)
	o.refs.Add(int32(len(k.jobs)))
	k.push(k.jobs)
	k.visitFiles(o, own)
}

// share writes the paths of the files that were gathered, in one allocation,
// and makes jobs of those of a large directory, all but the ones that it
// returns.
func (k *worker) share(o *openDir) (own []byte) {
	size := 0
	for _, name := range k.files {
		size += len(o.path) + len(name)
	}
	paths := make([]byte, 0, size)
	for names := range slices.Chunk(k.files, filesPerJob) {
		from := len(paths)
		for _, name := range names {
			paths = append(append(paths, o.path...), name...)
		}
		if own == nil {
			own = paths
			continue
		}
		k.jobs = append(k.jobs, job{parent: o, files: paths[from:]})
	}
	return own
}

// wanted applies the rules that hold for all walks, then the ignore files.
func (o *WalkOptions) wanted(name []byte, dir bool, rules *dirRules) bool {
	v := rules.match(name, dir)
	if v == excluded || name[0] == '.' && v != included && !o.Hidden {
		return false
	}
	return string(name) != ".git" && utf8.Valid(name)
}

// addRules puts the ignore files of the listed directory in force. When the
// list is only its beginning, they are tried for by name.
func (k *worker) addRules(o *openDir, rules *dirRules, all bool) {
	if !all {
		for _, f := range ignoreFiles {
			k.addFile(o, append([]byte(f.name), 0), rules)
		}
		k.addFile(o, []byte(".git\x00"), rules)
		return
	}
	for e := (entries{k.list}); ; {
		name, _ := e.next()
		if name == nil {
			return
		}
		if name[0] == '.' {
			k.addFile(o, name, rules)
		}
	}
}

// addFile puts an entry of the directory in force if it is an ignore file, or
// the repository that has one.
func (k *worker) addFile(o *openDir, name []byte, rules *dirRules) {
	if string(name) == ".git\x00" {
		if k.opts.Repository != nil {
			k.opts.Repository(o.name())
		}
		if text, err := o.handle.readExclude(); err == nil {
			rules.add(excludeRules, text)
		}
		return
	}
	for _, f := range ignoreFiles {
		if string(name[:len(name)-1]) != f.name {
			continue
		}
		if k.text == nil {
			k.text = make([]byte, 0, 16<<10)
		}
		text, err := o.handle.readFile(name, k.text, maxIgnoreFile)
		if k.text = text; err == nil {
			rules.add(f.kind, text)
		}
	}
}

// visitFiles visits files of a directory, unless the walk has ended. paths is
// as in a job.
func (k *worker) visitFiles(o *openDir, paths []byte) {
	for len(paths) > 0 && !k.stop.Load() {
		end := bytes.IndexByte(paths, 0)
		k.entry.Path = unsafe.String(&paths[0], end)
		k.dir, k.name = o, paths[len(o.path):end+1]
		paths = paths[end+1:]
		if k.opts.Keep != nil && !k.opts.Keep(k.entry.Path, false) {
			continue
		}
		if err := k.visit(&k.entry); err != nil {
			k.end(err)
			return
		}
	}
}
