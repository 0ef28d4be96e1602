package evals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// lay writes the files below a directory of a task into another one, over what is there.
// Without such a directory there is nothing to write.
func lay(files fs.FS, from, dir string) error {
	below, err := fs.Sub(files, from)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(below, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return root.MkdirAll(filepath.FromSlash(name), 0o755)
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is no file", name)
		}
		data, err := fs.ReadFile(below, name)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return put(root, name, data, info.Mode())
	})
	if errors.Is(err, fs.ErrNotExist) && from == checkDir {
		return nil
	}
	return err
}

// put writes a file in the place of whatever is there.
func put(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	return root.WriteFile(name, data, 0o644|mode&0o111)
}

// names are the regular files below a directory. What git and the server keep there is
// left out, and so are links: they lead elsewhere.
func names(root *os.Root) (list []string, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git", name == ".sidecar":
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.Type().IsRegular():
			list = append(list, name)
		}
		return nil
	})
	return list, err
}

// take brings what an agent has made of a directory into a fresh one, as far as that
// counts, and returns the files that were there and that it has changed in vain.
func take(t Task, made, fresh string) (vain []string, err error) {
	from, err := os.OpenRoot(made)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.OpenRoot(fresh)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	now, err := names(from)
	if err != nil {
		return nil, err
	}
	before, err := names(to)
	if err != nil {
		return nil, err
	}
	for _, name := range before {
		switch {
		case t.counts(name):
			err = to.Remove(filepath.FromSlash(name)) // those that are still there come back
		case !same(from, to, name):
			vain = append(vain, name)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range now {
		if !t.counts(name) {
			continue
		}
		info, err := from.Lstat(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		data, err := from.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		if err := put(to, name, data, info.Mode()); err != nil {
			return nil, err
		}
	}
	slices.Sort(vain)
	return vain, nil
}

// same reports whether a file is the same in two directories.
func same(a, b *os.Root, name string) bool {
	name = filepath.FromSlash(name)
	if info, err := a.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	x, err := a.ReadFile(name)
	y, err2 := b.ReadFile(name)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// repository makes a repository of a directory, with one commit. What the user's git is
// told elsewhere does not matter to it.
func repository(ctx context.Context, programs *lookup.Finder, dir string) error {
	git, err := programs.Find("git", dir)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template="},
		{"add", "--all", "--force"},
		{"commit", "--quiet", "--allow-empty", "--no-gpg-sign", "--message", "The beginning"},
	} {
		cmd := exec.CommandContext(ctx, git, args...)
		cmd.Dir = dir
		cmd.Env = []string{
			"PATH=" + programs.SearchPath(dir), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=" + os.DevNull,
			"GIT_AUTHOR_NAME=sidecar-ls", "GIT_AUTHOR_EMAIL=sidecar-ls@localhost", "GIT_COMMITTER_NAME=sidecar-ls", "GIT_COMMITTER_EMAIL=sidecar-ls@localhost",
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
		}
	}
	return nil
}
