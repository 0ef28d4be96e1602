package gitrepo

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// indexed are the paths of an index. absent says of each whether it is marked as one
// without a file in the working tree.
func indexed(ctx context.Context, git *gitcmd.Git, g *gitcmd.Git) (absent map[string]bool, err error) {
	out, err := g.Run(ctx, gitcmd.Invocation{Op: "list-files", Args: []string{"-v"}})
	if err != nil {
		return nil, git.Explain(err)
	}
	absent = map[string]bool{}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if mark, path, ok := strings.Cut(line, " "); ok {
			absent[path] = strings.EqualFold(mark, "S")
		}
	}
	return absent, nil
}

// noneInTheWay fails when a file that is to be written is there and not tracked. git
// looks at that itself, but for ignored files where it brings a stash back.
func (r *Repo) noneInTheWay(ctx context.Context, g *gitcmd.Git, files []MovedFile) error {
	index, err := indexed(ctx, r.Git, g)
	if err != nil {
		return err
	}
	var found []string
	for _, f := range files {
		if _, tracked := index[f.Path]; !tracked && !f.gone {
			if at := r.untrackedAt(index, f.Path); at != "" {
				found = append(found, at)
			}
		}
	}
	if len(found) > 0 {
		return gitcmd.Failf(gitcmd.Conflicted, "files that git does not track are in the way, so nothing was done; move them first: %s", listed(found))
	}
	return nil
}

// untrackedAt is what stands where a file is to be written and is not tracked: there,
// or where a directory has to be; "" is nothing.
func (r *Repo) untrackedAt(index map[string]bool, path string) string {
	for i := range len(path) + 1 {
		if i < len(path) && path[i] != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.Dir, filepath.FromSlash(path[:i])))
		if err != nil {
			return ""
		}
		if _, tracked := index[path[:i]]; !tracked && (i == len(path) || !info.IsDir()) {
			if i == len(path) && info.IsDir() && r.onlyTracked(index, path) {
				return ""
			}
			return path[:i]
		}
	}
	return ""
}

// onlyTracked reports whether all files of a directory are tracked, or it has none.
func (r *Repo) onlyTracked(index map[string]bool, dir string) bool {
	entries, err := os.ReadDir(filepath.Join(r.Dir, filepath.FromSlash(dir)))
	if err != nil {
		return false
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if _, tracked := index[name]; !tracked && (!e.IsDir() || !r.onlyTracked(index, name)) {
			return false
		}
	}
	return true
}
