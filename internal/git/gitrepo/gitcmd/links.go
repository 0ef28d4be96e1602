package gitcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// maxLooked bounds how many names of a repository are looked at before a run that
// writes.
const maxLooked = 200_000

// shared are what repositories that share another one have as links to the same names
// there, as git-new-workdir and repo make them.
var shared = []string{"config", "description", "hooks", "info", "logs", "logs/refs", "objects", "packed-refs", "refs", "remotes", "rr-cache", "shallow", "svn"}

// foreign are links that users make, to where git itself writes nothing.
var foreign = []string{"hooks", "lfs", "annex"}

// written are the directories of a repository below which git writes files of fixed names,
// "." without what is below it.
var written = []struct {
	name string
	deep bool
}{{".", false}, {"refs", true}, {"logs", true}, {"objects/info", true}, {"rebase-merge", true}, {"rebase-apply", true}, {"sequencer", true}, {"rr-cache", true}}

// NoLinks fails when something that git writes in the repository is a link: git follows
// it, and would write elsewhere, outside of the sandbox.
func (g *Git) NoLinks() error {
	left := maxLooked
	for _, dir := range slices.Compact([]string{g.GitDir, g.CommonDir}) {
		names, err := links(dir, 1, &left)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return refusedf("%s is a link, so git would write elsewhere; the user should remove it", Shown(filepath.Join(dir, filepath.FromSlash(names[0]))))
		}
	}
	return nil
}

// Links are the names, slash-separated, of what is a link in a git directory, and through
// which git would write elsewhere.
func Links(gitDir string) (names []string, err error) {
	left := maxLooked
	return links(gitDir, maxLooked, &left)
}

func links(dir string, most int, left *int) (names []string, err error) {
	for _, place := range written {
		top, _, _ := strings.Cut(place.name, "/")
		if place.name != "." && isLink(filepath.Join(dir, top)) && (top != place.name || !usualLink(dir, top)) {
			continue // it is another repository's, or told
		}
		if err := looked(dir, place.name, place.deep, left, func(name string) bool {
			names = append(names, name)
			return len(names) < most
		}); err != nil || len(names) >= most {
			return names, err
		}
	}
	return names, nil
}

// looked looks at the names of a directory in dir, and below it, until found wants no more.
func looked(dir, name string, deep bool, left *int, found func(name string) bool) error {
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(name)))
	if gitfile.Missing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("whether there are links in the repository can't be found out: %w", err)
	}
	for _, e := range entries {
		if *left--; *left < 0 {
			return refusedf("the repository has more than %d references and logs as files, too many to look for links among them (git pack-refs --all helps)", maxLooked)
		}
		below := e.Name()
		if name != "." {
			below = name + "/" + below
		}
		if e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0 && !usualLink(dir, below) && !found(below) {
			return nil
		}
		if deep && (e.IsDir() || slices.Contains(shared, below) && usualLink(dir, below)) {
			if err := looked(dir, below, true, left, found); err != nil {
				return err
			}
		}
	}
	return nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// usualLink reports whether a link in a git directory is one that git's own programs
// make, or that git does not write through.
func usualLink(dir, name string) bool {
	if slices.Contains(foreign, name) {
		return true
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	text, err := os.Readlink(path)
	if err != nil {
		return false
	}
	if filepath.Base(path) == "HEAD" && !strings.HasPrefix(name, "logs/") { // a symbolic reference, as they once were
		return strings.HasPrefix(text, "refs/") && filepath.IsLocal(text)
	}
	if !slices.Contains(shared, name) {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) { // what is not there yet
		text = gitfile.Resolve(text, filepath.Dir(path))
		if _, err := os.Lstat(text); err == nil {
			return false // a further link
		}
		if real, err = filepath.EvalSymlinks(filepath.Dir(text)); err == nil {
			real = filepath.Join(real, filepath.Base(text))
		}
	}
	if err != nil {
		return false
	}
	of, ok := strings.CutSuffix(filepath.ToSlash(real), "/"+name)
	return ok && gitfile.Exists(filepath.Join(of, "HEAD")) && gitfile.Exists(filepath.Join(of, "objects")) && gitfile.Exists(filepath.Join(of, "refs"))
}
