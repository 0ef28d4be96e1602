package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"sync"
)

// batchSize is how many files a walk hands to a worker at a time: neighbours
// mostly, so that a directory of lower is opened once for several files.
const batchSize = 64

// Walk visits the files of both layers as Disk.Walk does. One goroutine goes
// through the names, which costs little since most are in memory, and the
// workers visit what it finds.
func (v *CopyOnWrite) Walk(ctx context.Context, opts WalkOptions, visit func(*Entry) error) error {
	dir := path.Clean(opts.Dir) // "" becomes "."
	l, real, err := v.at("walk", dir)
	switch {
	case err != nil:
		return err
	case l == nil:
		return v.upper.Walk(ctx, opts, visit)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	w := &cowWalk{layers: l, opts: &opts, visit: visit}
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	w.done = ctx.Done()
	if opts.Names != nil {
		return w.run(ctx, w.named)
	}
	info, err := v.Stat(dir)
	if err != nil {
		return pathError("walk", dir, underlying(err))
	}
	if !info.IsDir() {
		return w.one(dir, real, info)
	}
	if opts.DirsOnly {
		return nil
	}
	var rules dirRules
	if !opts.IncludeIgnored {
		rules = rulesAbove(l.folder.rootRules(), l.readLinked, dir)
	}
	return w.run(ctx, func() { w.dir(dir, real, rules, true) })
}

// cowWalk is a walk under way.
type cowWalk struct {
	*layers
	opts  *WalkOptions
	visit func(*Entry) error
	stop  context.CancelCauseFunc
	done  <-chan struct{}

	batch   []metFile
	batches chan []metFile
}

// metFile is a file that was met.
type metFile struct {
	name   string // as the walk shows it
	real   string // of a file of the upper layer
	lower  int    // -1: of the upper layer
	number int
}

// run visits what find finds.
func (w *cowWalk) run(ctx context.Context, find func()) error {
	w.batches = make(chan []metFile, 2*w.opts.Workers)
	var wg sync.WaitGroup
	for i := range w.opts.Workers {
		wg.Go(func() { w.work(i) })
	}
	find()
	w.flush()
	close(w.batches)
	wg.Wait()
	err := context.Cause(ctx)
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// met adds a file to the batch. It returns false when the walk has ended.
func (w *cowWalk) met(f metFile) bool {
	if w.opts.Keep != nil && !w.opts.Keep(f.name, false) {
		return true
	}
	w.batch = append(w.batch, f)
	return len(w.batch) < batchSize || w.flush()
}

func (w *cowWalk) flush() bool {
	if len(w.batch) > 0 {
		select {
		case w.batches <- w.batch:
		case <-w.done:
			return false
		}
		w.batch = make([]metFile, 0, batchSize)
	}
	return w.going()
}

func (w *cowWalk) going() bool {
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// work visits files.
func (w *cowWalk) work(worker int) {
	r := w.lower.Reader()
	defer r.Close()
	var f metFile
	e := Entry{Worker: worker}
	e.Read = func(buf []byte) (data []byte, err error) {
		if f.lower >= 0 {
			data, err = r.Read(f.lower, buf)
		} else {
			data, err = w.upper.ReadFile(f.real)
		}
		if err != nil {
			return data, pathError("read", f.name, err)
		}
		return data, nil
	}
	for batch := range w.batches {
		for _, f = range batch {
			if !w.going() {
				return
			}
			e.Path, e.Number = f.name, f.number
			if err := w.visit(&e); err != nil {
				w.stop(err)
				return
			}
		}
	}
}

// one visits the file that a walk was started at.
func (w *cowWalk) one(name, real string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return pathError("walk", name, ErrSpecial)
	}
	if w.opts.Keep != nil && !w.opts.Keep(name, false) {
		return nil
	}
	return endOfWalk(w.visit(&Entry{Path: name, Read: func(buf []byte) ([]byte, error) {
		data, err := w.readFile(real)
		if err != nil {
			err = pathError("read", name, err)
		}
		return append(buf[:0], data...), err
	}}))
}

// named finds the files of WalkOptions.Names.
func (w *cowWalk) named() {
	for i, name := range w.opts.Names {
		f := metFile{name, name, -1, i}
		if n, ok := w.file(name); ok {
			if !w.lower.Mode(n).IsRegular() {
				continue
			}
			f.lower = n
		}
		if !w.met(f) {
			return
		}
	}
}

// dir finds the files of a directory, which the upper layer may have too. It
// returns false when the walk ended.
func (w *cowWalk) dir(shown, real string, rules dirRules, maybeUpper bool) bool {
	var above []fs.DirEntry // of the upper layer alone
	var both map[string]bool
	if maybeUpper {
		entries, _ := w.upper.ReadDir(real) // what can't be read is skipped
		both = make(map[string]bool, len(entries))
		for _, e := range entries {
			if both[e.Name()] = e.IsDir(); !w.has(child(real, e.Name())) {
				above = append(above, e)
			}
		}
	}
	if !w.opts.IncludeIgnored {
		w.addRules(real, above, &rules)
	}
	var subs []string
	going := true
	w.each(real, func(base string, i int, isDir bool) {
		if !going || !isDir && !w.lower.Mode(i).IsRegular() || !w.opts.wanted([]byte(base), isDir, &rules) {
			return
		}
		if isDir {
			subs = append(subs, base)
			return
		}
		going = w.met(metFile{child(shown, base), "", i, 0})
	})
	for _, e := range above {
		if !going {
			return false
		}
		base := e.Name()
		if !e.IsDir() && !e.Type().IsRegular() || !w.opts.wanted([]byte(base), e.IsDir(), &rules) {
			continue
		}
		if e.IsDir() {
			subs = append(subs, base)
			continue
		}
		going = w.met(metFile{child(shown, base), child(real, base), -1, 0})
	}
	for _, base := range subs {
		full := child(shown, base)
		if w.opts.Keep != nil && !w.opts.Keep(full, true) {
			continue
		}
		if !w.dir(full, child(real, base), rules.enter([]byte(base)), both[base]) {
			return false
		}
	}
	return going
}

// addRules puts the ignore files of a directory in force.
func (w *cowWalk) addRules(dir string, above []fs.DirEntry, rules *dirRules) {
	for _, f := range ignoreFiles {
		name := child(dir, f.name)
		i, ok := w.file(name)
		if ok && !w.lower.Mode(i).IsRegular() {
			continue
		}
		for _, e := range above {
			ok = ok || e.Name() == f.name && e.Type().IsRegular()
		}
		if !ok {
			continue
		}
		if text, err := w.readFile(name); err == nil {
			rules.add(f.kind, text)
		}
	}
	for _, e := range above {
		if e.Name() == ".git" && e.IsDir() {
			if text, err := w.upper.ReadFile(child(dir, ".git/info/exclude")); err == nil {
				rules.add(excludeRules, text)
			}
		}
	}
}
