package shadow

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Materialize makes the files of a lazy shadow that are not there yet, for
// whoever looks at its directory itself. What the directory has stays. After a
// crash the shadow is lazy as before, or has all its files.
func (m *Manager) Materialize(ctx context.Context, id string) error {
	if err := m.wait(ctx); err != nil {
		return err
	}
	if t, err := m.find(id); err != nil || !t.isLazy() {
		return err
	}
	t, unlock, err := m.hold(ctx, id, time.Minute)
	if err != nil {
		return err
	}
	defer unlock()
	if !t.isLazy() { // any more
		return nil
	}
	start := time.Now()
	c := &creation{m: m, repo: t.repo, r: CreateRequest{ID: id}}
	err = c.materialize(ctx, t)
	if err = errors.Join(err, c.undo()); err == nil {
		m.log("shadow materialized", "id", id, "kept", c.filled.Kept, "copied", c.filled.Copied, "decoded", c.filled.Decoded, "ms", time.Since(start).Milliseconds())
	}
	return err
}

// materialize fills a new directory with what t's doesn't have, and moves that
// over: a file is there completely or not at all, and which ones are doesn't
// matter until the shadow is not lazy any more.
func (c *creation) materialize(ctx context.Context, t *tree) error {
	base, main, err := t.begun(ctx)
	if err != nil {
		return err
	}
	c.main = main
	if c.want, err = t.missing(base); err != nil {
		return err
	}
	converted := worktree.Conversions(c.repo, base).Needed
	c.smudge = func(name string, id plumbing.Hash) ([]byte, error) { return worktree.Smudged(ctx, c.repo, name, id) }
	have, err := c.makeDir()
	if err == nil {
		err = c.fill(ctx, have, converted)
	}
	if err == nil {
		err = c.m.o.Fail("materialize.filled")
	}
	if err != nil {
		return err
	}
	moved, err := c.moveInto(t.Path)
	if err != nil {
		return err
	}
	if err := c.m.o.Fail("materialize.moved"); err != nil {
		return err
	}
	made := make(map[string]*gitindex.Entry, len(c.want.Entries))
	for i := range c.want.Entries {
		e := c.want.Entries[i]
		made[e.Name] = e
		if !moved[e.Name] {
			continue // it came with its directory
		}
		if info, err := os.Lstat(filepath.Join(t.Path, filepath.FromSlash(e.Name))); err == nil {
			index.SetStat(e, info)
		}
	}
	if err := c.writeIndexes(ctx, t, base, made); err != nil {
		return err
	}
	if err := c.m.o.Fail("materialize.indexed"); err != nil {
		return err
	}
	if t.record.Converted = converted != nil; t.record.Converted {
		if err := t.record.write(t.linked); err != nil {
			return err
		}
	}
	if err := os.Remove(t.lazyPath()); err != nil {
		return err
	}
	return c.m.o.Fail("materialize.done")
}

// missing is what of base the directory doesn't have: what was not taken over,
// and in whose place or way nothing lies.
func (t *tree) missing(base *index.Index) (*index.Index, error) {
	taken, err := readTaken(t.lazyPath())
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, dirs := map[string]bool{}, map[string]bool{}
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			dirs[name] = true
		default:
			files[name] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	inTheWay := func(name string) bool {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if files[dir] {
				return true
			}
		}
		return false
	}
	x := index.New()
	for _, e := range base.Entries {
		name := e.Name
		if !taken[name] && !files[name] && (!dirs[name] || e.Mode == filemode.Submodule) && (len(files) < 2 || !inTheWay(name)) {
			own := *e // it gets other stat data
			x.Entries = append(x.Entries, &own)
		}
	}
	return x, nil
}

// moveInto moves what was filled to where it belongs, whole directories where
// there is none. It returns the files that were moved one by one, which
// changes their stat data.
func (c *creation) moveInto(dir string) (moved map[string]bool, err error) {
	moved = map[string]bool{}
	var move func(from, to *osfile.Dir, name string) error
	enter := func(from, to *osfile.Dir, name string) error {
		in, err := from.Sub(path.Base(name))
		if err != nil {
			return err
		}
		defer in.Close()
		into, err := to.Sub(path.Base(name))
		if err != nil {
			return err
		}
		defer into.Close()
		return move(in, into, name)
	}
	move = func(from, to *osfile.Dir, name string) error {
		list, err := from.List()
		if err != nil {
			return err
		}
		for _, e := range list {
			full := path.Join(name, e.Name())
			there, err := to.Lstat(e.Name())
			if e.IsDir() && err == nil && there.IsDir() {
				if err := enter(from, to, full); err != nil {
					return err
				}
				continue
			}
			if err == nil {
				continue // somebody has just put it there
			}
			if err := from.Move(e.Name(), to, e.Name()); err != nil {
				return err
			}
			moved[full] = !e.IsDir()
			if err := c.m.o.Fail("materialize.one"); err != nil {
				return err
			}
		}
		return nil
	}
	from, err := osfile.OpenDir(c.temp)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := osfile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	return moved, move(from, to, ".")
}

// writeIndexes writes the index of the working tree, unless git has made one
// meanwhile, and the state that the shadow began with.
func (c *creation) writeIndexes(ctx context.Context, t *tree, base *index.Index, made map[string]*gitindex.Entry) error {
	now, err := t.ofCommit(ctx, c.main)
	if err != nil {
		return err
	}
	for _, x := range [...]*index.Index{now, base} {
		for i := range x.Entries {
			e := x.Entries[i]
			if m := made[e.Name]; m != nil && m.Hash == e.Hash && m.Mode == e.Mode {
				*e = *m
			} else {
				*e = gitindex.Entry{Name: e.Name, Mode: e.Mode, Hash: e.Hash}
			}
		}
	}
	file := filepath.Join(t.linked.GitDir, "index")
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		if err := index.Write(file, now); err != nil {
			return err
		}
	}
	return index.Write(filepath.Join(t.linked.Own(), baseFile), base)
}
