package shell

import (
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// A session's commands begin in the first of the workspace's folders, and go to the others:
// as cwd, or by a cd that the next command begins with. With several folders the names of
// directories begin with that of the folder, as the tools have them.

// folders are those that commands may begin in, the first one first.
type folders []workspace.Folder

// foldersOf are those of a view, whose first one is root.
func foldersOf(files workspace.Files, root string) folders {
	if list := workspace.FoldersOf(files); len(list) > 1 {
		return list
	}
	return folders{{Name: ".", Dir: root}}
}

// abs is the directory that a relative path means.
func (f folders) abs(dir string) string {
	dir = filepath.Clean(dir)
	if first, rest, _ := strings.Cut(filepath.ToSlash(dir), "/"); len(f) > 1 {
		for _, one := range f {
			if one.Name == first {
				return filepath.Join(one.Dir, filepath.FromSlash(rest))
			}
		}
	}
	return filepath.Join(f[0].Dir, dir)
}

// of is the innermost folder that a directory is in; ok is false where there is none.
func (f folders) of(dir string) (found workspace.Folder, ok bool) {
	i, _ := workspace.Holding(f, dir)
	if i < 0 {
		return found, false
	}
	return f[i], true
}

// name is a directory as the tools take it; one that is in no folder is as it was.
func (f folders) name(dir string) string {
	i, rest := workspace.Holding(f, dir)
	if i < 0 {
		return dir
	}
	return filepath.ToSlash(filepath.Join(f[i].Name, rest))
}
