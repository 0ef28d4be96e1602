package gitrepo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// TrackedBelow returns the files that git tracks below a directory of dir, as paths from there: "." where that, or what it
// is in, is tracked as one, such as a submodule. Letter case makes no difference: the file system may make none. It reads the
// index itself, also of a repository that is refused; an index that only git can read is git's to list.
func TrackedBelow(ctx context.Context, dir, below string, o Options) ([]string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	top := topOf(real)
	if top == "" {
		return nil, nil
	}
	rel, err := filepath.Rel(top, filepath.Join(real, below))
	if err != nil {
		return nil, err
	}
	prefix := filepath.ToSlash(rel)
	var found []string
	add := func(name string) {
		name = strings.TrimSuffix(name, "/") // of a sparse index
		switch {
		case len(name) > len(prefix) && name[len(prefix)] == '/' && strings.EqualFold(name[:len(prefix)], prefix):
			found = append(found, name[len(prefix)+1:])
		case strings.EqualFold(name, prefix), len(prefix) > len(name) && prefix[len(name)] == '/' && strings.EqualFold(prefix[:len(name)], name):
			found = append(found, ".")
		}
	}
	if x, err := index.NewLast(filepath.Join(top, ".git", "index")).Read(); err == nil && x.Count > 0 {
		for i := range x.Count {
			add(x.NameAt(i))
		}
		return found, nil
	}
	r, err := Open(dir, o)
	if errors.Is(err, ErrNoRepository) || errors.Is(err, ErrRefused) {
		return nil, nil // git has no files there, or doesn't say which
	}
	if err != nil {
		return nil, err
	}
	if x, err := r.index.Read(); err == nil {
		for i := range x.Count {
			add(x.NameAt(i))
		}
		return found, nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "list-files"})
	if err != nil {
		return nil, r.Git.Explain(err)
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			add(name)
		}
	}
	return found, nil
}

// topOf is the nearest directory that has a .git, "" for none.
func topOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}
