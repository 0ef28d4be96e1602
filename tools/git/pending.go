package git

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
)

// over is what the view has in the repository and the disk has not: what is
// pending, or not saved. What the view keeps back is not among it.
func (p repository) over() gitrepo.Over {
	disk, names := p.files.Base()
	if disk == nil {
		return nil
	}
	over := gitrepo.Over{}
	for _, name := range names {
		at, ok := p.path(name)
		if !ok || workspace.Protected(name) == workspace.Never {
			continue
		}
		seen, text := fileOf(p.files, name)
		there, was := fileOf(disk, name)
		if seen.Exists == there.Exists && seen.Link == there.Link && seen.Exec == there.Exec && bytes.Equal(text, was) {
			continue
		}
		if seen.Exists {
			// Texts may be many, and most are looked at once.
			seen.Read = func() ([]byte, error) {
				_, text := fileOf(p.files, name)
				return text, nil
			}
		}
		over[at] = seen
	}
	return over
}

// pending are the changes of the files of the repository that the view has and the disk
// has not.
func (p repository) pending() (list []workspace.Change) {
	disk, _ := p.files.Base()
	for at := range p.over() {
		name, ok := p.name(at)
		if !ok {
			continue
		}
		seen, text := fileOf(p.files, name)
		_, was := fileOf(disk, name)
		c := workspace.Change{Path: name, Before: was, Mode: 0o644, AfterLink: seen.Link}
		if seen.Exists {
			c.After = append([]byte{}, text...)
		}
		if seen.Exec {
			c.Mode = 0o755
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b workspace.Change) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// fileOf is what a view, or the disk below it, has under a name: nothing, if that
// is a directory or can't be read.
func fileOf(files workspace.Files, name string) (f gitrepo.OverFile, text []byte) {
	node, err := workspace.NodeOf(files, name)
	if err == nil && node.Link != "" {
		return gitrepo.OverFile{Exists: true, Link: true}, []byte(node.Link)
	}
	text, err = files.ReadFile(name)
	if err != nil {
		return gitrepo.OverFile{}, nil
	}
	exec := node.Exec
	if info, err := files.Stat(name); !node.Exists && err == nil {
		exec = workspace.IsExec(info.Mode())
	}
	return gitrepo.OverFile{Exists: true, Exec: exec}, text
}

// path is the path in the repository of a name of the view; ok is false for what
// lies in another root.
func (p repository) path(name string) (_ string, ok bool) {
	if p.root != "." {
		if name, ok = strings.CutPrefix(name, p.root+"/"); !ok {
			return "", false
		}
	}
	return path.Join(p.below, name), true
}
