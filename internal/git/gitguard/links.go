package gitguard

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// git writes logs, references and messages of its own through links. A command that could
// leave one there would have the user's next commit write a file that it can't write.

// asideDir is the directory of a git directory in which links are that were set aside. git
// knows nothing of it.
const asideDir = "set-aside"

// partOf is the git directory of which an area is a part, as that of a linked working tree
// has some of what it shares; "" is none.
func (a Area) partOf() string {
	dir := filepath.Dir(a.Dir)
	if name := filepath.Base(a.Dir); name != "refs" && name != "logs" && name != "objects" || !gitfile.IsGitDir(dir) {
		return ""
	}
	return dir
}

// linksOf are the links that are there before a command, with where they lead.
func linksOf(repositories []string, areas []Area) map[string]string {
	there := map[string]string{}
	dirs := slices.Clone(repositories)
	for _, a := range areas {
		dirs = append(dirs, a.Dir, cmp.Or(a.partOf(), a.Dir))
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if !gitfile.IsGitDir(dir) {
			continue
		}
		names, _ := gitcmd.Links(dir) // of what can't be read, git says so itself
		for _, name := range names {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if to, err := os.Readlink(path); err == nil {
				there[path] = to
			}
		}
	}
	return there
}

// unlink takes the links of a git directory out of git's way that a command made.
func (s *state) unlink(gitDir string) (said []string) {
	names, err := gitcmd.Links(gitDir)
	if err != nil {
		return []string{fmt.Sprintf("nothing, but look for links in %s before git writes there: %v", gitDir, err)}
	}
	for _, name := range names {
		path := filepath.Join(gitDir, filepath.FromSlash(name))
		to, err := os.Readlink(path)
		if was, there := s.Links[path]; err != nil || there && was == to {
			continue // it is gone, or the user's
		}
		why := fmt.Sprintf("git would write to %s through it", gitcmd.Shown(to))
		now, err := moveLink(gitDir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			said = append(said, fmt.Sprintf("nothing, but %s, a link, can't be renamed (%s): %v; remove it before you use git there", gitcmd.Shown(path), why, err))
		default:
			said = append(said, fmt.Sprintf("%s (%s; renamed to %s)", gitcmd.Shown(path), why, gitcmd.Shown(now)))
		}
	}
	return said
}

// moveLink gives a link a name that git does not look at. It leads nothing out of the git
// directory, whatever commands put in its place meanwhile.
func moveLink(gitDir, name string) (now string, err error) {
	root, err := os.OpenRoot(gitDir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	at := filepath.FromSlash(name)
	if info, err := root.Lstat(at); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", errors.Join(err, errors.New("it is no link any more"))
	}
	if err := root.Mkdir(asideDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	flat := strings.ReplaceAll(name, "/", "-")
	for n := 1; ; n++ {
		to := filepath.Join(asideDir, flat)
		if n > 1 {
			to = fmt.Sprintf("%s-%d", to, n)
		}
		if _, err := root.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, root.Rename(at, to)
		} else if err != nil {
			return "", err
		}
	}
}
