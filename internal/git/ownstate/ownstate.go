// Package ownstate keeps what is not the server's own out of the server's own directory. A repository can bring journals
// along, and another user may have written some: nothing of that is obeyed. It is set aside with its text, and said.
package ownstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
)

// places are the directories in .sidecar that the server writes and obeys.
var places = [...]string{"state", "logs"}

// aside is how what was set aside is called in .sidecar, with a number.
const aside = "set-aside-"

// directories are those that the server makes in there; what has the ending of a file is none.
var (
	directories = map[string]bool{"state": true, "logs": true, "state/pending": true, "state/apply": true, "state/commands": true, "state/runs": true, "state/show": true, "state/shadows": true}
	files       = [...]string{".jsonl", ".json", ".log", ".log.new", ".journal", ".note", "/lock", ".lock"}
)

// maxFile bounds a file of the server's: what is larger is not read.
const maxFile = 1 << 30

// tries bound how many directories of that name there may be.
const tries = 1000

// maxSaid bounds how many files are named one by one.
const maxSaid = 5

// SetAside moves what is not the server's own out of its directories, before anything is read there, and says what and where
// to. git lists what is tracked where its index can't be read here. Where that can't be done, or the directories are no directories of its own, it fails: then none of it may be used.
func SetAside(dir statedir.Dir, git gitrepo.Options) (said []string, err error) {
	if err := dir.Check(); err != nil {
		return nil, err
	}
	root, err := dir.Open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	v := vetting{root: root, tracked: map[string]bool{}}
	for _, place := range places {
		if _, err := root.Lstat(place); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		names, err := gitrepo.TrackedBelow(context.Background(), string(dir), ".sidecar/"+place, git)
		if err != nil { // nobody knows whose it is
			return nil, fmt.Errorf("whether git tracks files in .sidecar/%s can't be found out, so nothing there is used: %w", place, err)
		}
		for _, name := range names {
			v.tracked[strings.ToLower(path.Join(place, name))] = true
		}
		if err := fs.WalkDir(root.FS(), place, v.look); err != nil {
			return nil, fmt.Errorf(".sidecar/%s: %w", place, err)
		}
	}
	if len(v.moved) == 0 {
		return nil, nil
	}
	for i, m := range v.moved {
		if i == maxSaid {
			said = append(said, fmt.Sprintf("%d more files in .sidecar were set aside in %s", len(v.moved)-i, filepath.Join(string(dir), ".sidecar", v.to)))
			break
		}
		said = append(said, fmt.Sprintf("%s is not this server's own: %s. It was set aside, and nothing of it is obeyed: look at %s, and remove it when it is of no use",
			filepath.Join(string(dir), ".sidecar", filepath.FromSlash(m.name)), m.why, filepath.Join(string(dir), ".sidecar", v.to, filepath.FromSlash(m.name))))
	}
	return said, nil
}

// vetting is one look through the directories.
type vetting struct {
	root    *os.Root
	tracked map[string]bool // names in lower case
	to      string          // where things are set aside; "": nothing was
	moved   []moved
}

type moved struct{ name, why string }

func (v *vetting) look(name string, d fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was removed meanwhile
	}
	if err != nil {
		return err
	}
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	why := v.foreign(name, info)
	if why == "" {
		return nil
	}
	if err := v.setAside(name); err != nil {
		return fmt.Errorf("%s is not this server's own (%s) and can't be set aside; remove it: %w", name, why, err)
	}
	v.moved = append(v.moved, moved{name, why})
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// foreign says why something is not the server's own; "": it is.
func (v *vetting) foreign(name string, info fs.FileInfo) string {
	kind := info.Mode().Type()
	isFile := func(end string) bool { return strings.HasSuffix(name, end) }
	switch {
	case v.tracked[strings.ToLower(name)]:
		return "git tracks it, so it came with the repository"
	case kind != 0 && kind != fs.ModeDir:
		return "the server makes no links, pipes, sockets or devices there"
	case directories[name] && kind != fs.ModeDir:
		return "it is not a directory"
	case kind == fs.ModeDir && slices.ContainsFunc(files[:], isFile):
		return "it is not a file"
	case kind == 0 && info.Size() > maxFile:
		return "it is too large"
	case !v.mine(info):
		return "another user wrote it"
	}
	return ""
}

// setAside moves a file or directory.
func (v *vetting) setAside(name string) error {
	for n := 1; v.to == ""; n++ {
		to := fmt.Sprint(aside, n)
		err := v.root.Mkdir(to, 0o700)
		if err != nil && (!errors.Is(err, fs.ErrExist) || n == tries) {
			return err
		}
		if err == nil {
			v.to = to
		}
	}
	to := path.Join(v.to, name)
	if err := v.root.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	if err := v.root.Rename(name, to); !errors.Is(err, fs.ErrNotExist) { // another process was faster
		return err
	}
	return nil
}
