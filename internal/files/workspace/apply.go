package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

var _ View = (*Disk)(nil)

// writers is how many files are written at a time: they mostly wait for the
// device, which can sync several at once.
const writers = 8

// Apply makes all changes or none, in their order. A link inside a root is
// written through, while deleting or moving it leaves its target alone. A file
// keeps its mode, owner and attributes; one with several names keeps them all.
//
// New text is written next to each file, synced and renamed over it. With a
// StateDir a journal says what is under way, and Recover finishes it after a
// crash. After an error the files are as before; if they could not be put
// back, the error says so and the journal stays for Recover.
func (d *Disk) Apply(ctx context.Context, changes ...Change) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.respelled()
	defer d.respelled()
	plan, err := d.plan(ctx, changes)
	if err != nil || len(plan.entries) == 0 {
		return err
	}
	journal, err := d.writeJournal(ctx, plan)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer journal.disown()
	if err := d.stage(ctx, plan); err != nil {
		d.unstage(plan)
		return errors.Join(err, journal.remove())
	}
	tried, err := d.commit(ctx, plan)
	if err == nil {
		// All files are new. Should the journal stay, recovering finds nothing to do.
		_ = journal.remove()
		return nil
	}
	if back := d.rollBack(context.WithoutCancel(ctx), plan, tried); back != nil {
		return fmt.Errorf("%w; and not everything could be put back, which will be finished at the next start: %w", err, back)
	}
	d.unstage(plan)
	return errors.Join(err, journal.remove())
}

// step runs one step that a crash or an error may hit.
func (d *Disk) step(name string, do func() error) error {
	if d.opts.Fail == nil {
		return do()
	}
	if err := d.opts.Fail("before " + name); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return d.opts.Fail("after " + name)
}

// stage does all that may fail for lack of space or permission: directories
// and temporary files. It changes no file.
func (d *Disk) stage(ctx context.Context, p *plan) error {
	var dirs dirCache
	defer dirs.close()
	for _, at := range p.dirs {
		if err := d.makeDir(&dirs, at); err != nil {
			return pathError("mkdir", d.viewName(at.folder, at.name), err)
		}
	}
	n := min(writers, len(p.entries))
	if d.opts.Fail != nil {
		n = 1 // in a fixed order
	}
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		once  sync.Once
		first error
		stop  atomic.Bool
	)
	for range n {
		wg.Go(func() {
			var dirs dirCache
			defer dirs.close()
			for !stop.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(p.entries) {
					return
				}
				err := ctx.Err()
				if e := p.entries[i]; err == nil && e.new.Exists && !e.inPlace && !e.below {
					if err = d.writeTemp(&dirs, e, e.new); err != nil {
						err = pathError("write", e.view, err)
					}
				}
				if err != nil {
					once.Do(func() { first = err })
					stop.Store(true)
				}
			}
		})
	}
	wg.Wait()
	return first
}

// unstage removes what stage left. Nothing depends on it.
func (d *Disk) unstage(p *plan) {
	var dirs dirCache
	defer dirs.close()
	for _, e := range p.entries {
		if root, err := dirs.open(rootedName{e.folder, e.dir()}); err == nil {
			_ = d.step("temp.remove", func() error { return root.Remove(e.temp) })
		}
	}
	for i := len(p.dirs) - 1; i >= 0; i-- {
		at := p.dirs[i]
		if root, err := dirs.open(rootedName{at.folder, path.Dir(at.name)}); err == nil {
			// It fails where somebody else has put a file.
			_ = d.step("dir.remove", func() error { return root.Remove(path.Base(at.name)) })
		}
	}
}

func (d *Disk) makeDir(dirs *dirCache, at rootedName) error {
	root, err := dirs.open(rootedName{at.folder, path.Dir(at.name)})
	if err != nil {
		return err
	}
	err = d.step("dir.make", func() error { return root.Mkdir(path.Base(at.name), 0o777) })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// commit gives the files their new text. It returns how many entries it tried:
// those may be changed, or half changed, when it fails.
func (d *Disk) commit(ctx context.Context, p *plan) (tried int, err error) {
	var dirs dirCache
	defer dirs.close()
	for i, e := range p.entries {
		err := d.step("file.check", func() error { return e.unchanged(&dirs) })
		if err != nil {
			return i, pathError("apply", e.view, err)
		}
		if err := d.install(ctx, &dirs, e, e.new, !e.below); err != nil {
			return i + 1, pathError("apply", e.view, err)
		}
	}
	return len(p.entries), d.syncDirs(&dirs, p)
}

// syncDirs makes the new names durable, each directory once.
func (d *Disk) syncDirs(dirs *dirCache, p *plan) error {
	done := map[rootedName]bool{}
	sync := func(at rootedName, gone bool) error {
		if done[at] {
			return nil
		}
		done[at] = true
		root, err := dirs.open(at)
		if gone && isAbsent(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return d.step("dir.sync", func() error { return osfile.SyncRoot(root) })
	}
	for _, e := range p.entries {
		if err := sync(rootedName{e.folder, e.dir()}, e.below); err != nil {
			return pathError("sync", e.view, err)
		}
		for dir := e.dir(); e.below && dir != "."; { // they may have been made, too
			dir = path.Dir(dir)
			if err := sync(rootedName{e.folder, dir}, true); err != nil {
				return pathError("sync", e.view, err)
			}
		}
	}
	for _, at := range p.dirs {
		if err := sync(rootedName{at.folder, path.Dir(at.name)}, false); err != nil {
			return pathError("sync", d.viewName(at.folder, at.name), err)
		}
	}
	return nil
}

// rollBack gives the first tried entries their old text again.
func (d *Disk) rollBack(ctx context.Context, p *plan, tried int) error {
	var dirs dirCache
	defer dirs.close()
	var errs []error
	p.unhinder(&dirs)
	for i := tried - 1; i >= 0; i-- {
		if err := d.settle(ctx, &dirs, p.entries[i], p.entries[i].old); err != nil {
			errs = append(errs, pathError("restore", p.entries[i].view, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return d.syncDirs(&dirs, &plan{entries: p.entries[:tried]})
}

// settle brings e, which is old or new, to want.
func (d *Disk) settle(ctx context.Context, dirs *dirCache, e *entry, want version) error {
	have, err := d.have(dirs, e)
	if err != nil || have.equal(want) {
		return err
	}
	if !e.knows(have) {
		return ErrConflict
	}
	return d.install(ctx, dirs, e, want, false)
}

// have reads what there is at e now.
func (d *Disk) have(dirs *dirCache, e *entry) (version, error) {
	root, err := dirs.open(rootedName{e.folder, e.dir()})
	if errors.Is(err, fs.ErrNotExist) || e.below && isAbsent(err) {
		return version{}, nil
	}
	if err != nil {
		return version{}, err
	}
	if e.respelled() {
		return e.haveRespelled(root)
	}
	s, _, err := readState(root, e.base())
	if e.over && errors.Is(err, syscall.EISDIR) {
		return version{}, nil
	}
	return s, err
}

// knows reports whether have is one of the states that e goes through.
func (e *entry) knows(have version) bool {
	if e.respelled() {
		have.As = "" // the text and the name change one after the other
	}
	return have.equal(e.old) || have.equal(e.new) || e.inPlace && have.Exists && have.Link == "" && e.torn(have.Data)
}

// torn reports whether data can be what a crash left of writing a file in
// place: every byte is old, new, or not yet written.
func (e *entry) torn(data []byte) bool {
	if len(data) > max(len(e.old.Data), len(e.new.Data)) {
		return false
	}
	for i, b := range data {
		isOld := i < len(e.old.Data) && e.old.Data[i] == b
		isNew := i < len(e.new.Data) && e.new.Data[i] == b
		if !isOld && !isNew && b != 0 {
			return false
		}
	}
	return true
}

// unchanged makes sure at the last moment that nobody else wrote the file.
func (e *entry) unchanged(dirs *dirCache) error {
	root, err := dirs.open(rootedName{e.folder, e.dir()})
	if e.below && !e.old.Exists && isAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := root.Lstat(e.base())
	switch {
	case err == nil && e.over && !e.old.Exists && info.IsDir():
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if e.old.Exists {
			return ErrConflict
		}
		return nil
	case err != nil:
		return err
	case !e.old.Exists, !os.SameFile(info, e.info), info.Size() != e.info.Size(),
		!info.ModTime().Equal(e.info.ModTime()), info.Mode() != e.info.Mode():
		return ErrConflict
	}
	return nil
}
