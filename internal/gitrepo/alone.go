package gitrepo

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Without the git command, staging, commits and new branches are done in this
// process, by git's own rules for locks: a lock file that is created
// exclusively and then renamed. Whatever would come out otherwise than by git is
// refused.

// locked makes the lock of a file, for write to fill: then it is renamed over
// the file.
func locked(path string, write func(lock *os.File) error) error {
	lock := path + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return failf(Conflicted, "the repository is locked by another git command; try again, and if none is running, the user should remove %s", shown(lock))
	}
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(lock, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(lock))
	}
	return nil
}

// errUnchanged ends a write that has nothing to write.
var errUnchanged = errors.New("nothing changes")

// cantAlone says what takes the git command.
func cantAlone(format string, args ...any) error {
	return failf(Unavailable, "%s, which takes the git command, and that is not installed", fmt.Sprintf(format, args...))
}

// plainRepository fails for a repository of which more is needed than is done
// in this process.
func (r *Repo) plainRepository() (config, error) {
	conf, err := r.readable()
	if errors.Is(err, ErrUnsupported) {
		return nil, cantAlone("%v", err)
	}
	if err != nil {
		return nil, err
	}
	for _, key := range [...]string{"core.sparsecheckout", "core.ignorecase", "core.precomposeunicode"} {
		if conf.bool(key, false) {
			return nil, cantAlone("the repository has the setting %s", key)
		}
	}
	if !conf.bool("core.filemode", true) || !conf.bool("core.symlinks", true) {
		return nil, cantAlone("the repository does without file modes or links")
	}
	return conf, nil
}

// indexAlone reads the index, an empty one where there is none yet.
func (r *Repo) indexAlone() (*Index, error) {
	x, err := ReadIndex(filepath.Join(r.GitDir, "index"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Index{Version: 2}, nil
	case errors.Is(err, ErrUnsupported):
		return nil, cantAlone("%v", err)
	case errors.Is(err, ErrCorrupt):
		return nil, damagedIndex(err)
	}
	return x, err
}

// stageAlone is Stage in this process.
func (r *Repo) stageAlone(ctx context.Context, req StageRequest) (StageResult, error) {
	conf, err := r.plainRepository()
	if err != nil {
		return StageResult{}, err
	}
	var res StageResult
	err = locked(filepath.Join(r.GitDir, "index"), func(lock *os.File) error {
		x, err := r.indexAlone()
		if err != nil {
			return err
		}
		changes, err := r.changesAlone(ctx, req, x)
		if err != nil {
			return err
		}
		res, err = r.stage(ctx, req, changes, func(files []change) error {
			if err := r.putInIndex(conf, x, files); err != nil {
				return err
			}
			_, err := lock.Write(x.encode())
			return err
		})
		if err == nil && len(res.Files) == 0 {
			return errUnchanged
		}
		return err
	})
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	return res, err
}

// changesAlone is changes in this process.
func (r *Repo) changesAlone(ctx context.Context, req StageRequest, x *Index) ([]change, error) {
	st, err := r.status(ctx, StatusOptions{Untracked: UntrackedAll})
	if errors.Is(err, ErrUnsupported) {
		return nil, cantAlone("%v", err)
	}
	if err != nil {
		return nil, err
	}
	meant := func(path string) bool {
		switch {
		case len(req.Paths) > 0:
			return slices.ContainsFunc(req.Paths, func(p string) bool { return holds(p, path) })
		case req.Below != "" && req.Below != ".":
			return holds(req.Below, path)
		}
		return true
	}
	words := map[byte]string{'M': "modified", 'D': "deleted", 'T': "type changed", 'A': "added"}
	var list []change
	for _, f := range st.Files {
		switch what := words[f.Changed]; {
		case !meant(f.Path):
		case f.Conflict:
			list = append(list, change{f.Path, "resolved"})
		case what != "":
			list = append(list, change{f.Path, what})
		}
	}
	for _, path := range st.Untracked {
		if meant(path) {
			list = append(list, change{path, "added"})
		}
	}
	for _, p := range req.Paths { // what is there, is not tracked and is no change is ignored
		tracked := slices.ContainsFunc(x.Entries, func(e IndexEntry) bool { return holds(p, e.Path) })
		if !tracked && exists(r.abs(p)) && !slices.ContainsFunc(list, func(c change) bool { return holds(p, c.path) }) {
			list = append(list, change{p, "ignored"})
		}
	}
	return list, nil
}

// putInIndex stores files and puts them into the index.
func (r *Repo) putInIndex(conf config, x *Index, files []change) error {
	raw, err := readRawIndex(filepath.Join(r.GitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = &rawIndex{}, nil
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Join(r.GitDir, "index")); err == nil {
		for i := range x.Entries { // the new index is younger: git must look at these files again
			if e := &x.Entries[i]; !e.MTime.Before(info.ModTime()) {
				e.Size = 0
			}
		}
	}
	at := newAttributes(r, raw, conf)
	gone := map[string]bool{}
	var added []IndexEntry
	for _, c := range files {
		gone[c.path] = true
		if c.what == "deleted" {
			continue
		}
		info, err := os.Lstat(r.abs(c.path))
		if missing(err) {
			continue
		}
		if err != nil {
			return err
		}
		e := IndexEntry{Path: c.path, Mode: gitMode(info.Mode())}
		if e.OID, err = r.storeFile(at, e); err != nil {
			return err
		}
		added = append(added, e)
	}
	x.Entries = slices.DeleteFunc(x.Entries, func(e IndexEntry) bool {
		return gone[e.Path] || slices.ContainsFunc(added, func(a IndexEntry) bool {
			return strings.HasPrefix(e.Path, a.Path+"/") || strings.HasPrefix(a.Path, e.Path+"/")
		})
	})
	x.Entries = append(x.Entries, added...)
	slices.SortFunc(x.Entries, func(a, b IndexEntry) int { return strings.Compare(a.Path, b.Path)*4 + a.Stage - b.Stage })
	x.Tree = nil
	return nil
}

// storeFile stores the content of a file.
func (r *Repo) storeFile(at *attributes, e IndexEntry) (OID, error) {
	switch e.Mode {
	case modeLink:
		target, err := os.Readlink(r.abs(e.Path))
		if err != nil {
			return OID{}, err
		}
		return r.store(blobObject, []byte(target))
	case modeFile, modeExec:
	default:
		return OID{}, cantAlone("%s is a submodule or no file", shown(e.Path))
	}
	data, err := readNoFollow(r.abs(e.Path), maxObject)
	if err != nil {
		return OID{}, err
	}
	if at.mayConvert(e.Path, bytes.IndexByte(data, '\r') >= 0) {
		return OID{}, cantAlone("attributes or settings say how %s is stored", shown(e.Path))
	}
	return r.store(blobObject, data)
}

// store writes a loose object, unless there is such an object.
func (r *Repo) store(kind objectKind, data []byte) (OID, error) {
	id := hashObject(kind, data)
	if have, _, err := r.findObject(id); err == nil && have == kind {
		return id, nil
	}
	name := id.String()
	dir := filepath.Join(r.CommonDir, "objects", name[:2])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return id, err
	}
	f, err := os.CreateTemp(dir, "tmp_obj_")
	if err != nil {
		return id, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename it is not there
	z := zlib.NewWriter(f)
	_, err = fmt.Fprintf(z, "%s %d\x00", kind, len(data))
	if err == nil {
		_, err = z.Write(data)
	}
	if err = errors.Join(err, z.Close()); err == nil {
		err = errors.Join(f.Chmod(0o444), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return id, err
	}
	return id, os.Rename(f.Name(), filepath.Join(dir, name[2:]))
}
