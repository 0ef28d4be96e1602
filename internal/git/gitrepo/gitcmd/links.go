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

// NoLinks fails when something that git writes in the repository is a link: git follows
// it, and would write elsewhere, outside of the sandbox.
func (g *Git) NoLinks() error {
	left := maxLooked
	for _, dir := range slices.Compact([]string{g.GitDir, g.CommonDir}) {
		for _, place := range []struct {
			name string
			deep bool
		}{{".", false}, {"refs", true}, {"logs", true}} {
			if err := looked(dir, place.name, place.deep, &left); err != nil {
				return err
			}
		}
	}
	return nil
}

// looked looks at the names of a directory in dir, and below it.
func looked(dir, name string, deep bool, left *int) error {
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
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
		if e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0 && !usualLink(dir, below) {
			return refusedf("%s is a link, so git would write elsewhere; the user should remove it", Shown(filepath.Join(dir, filepath.FromSlash(below))))
		}
		if deep && (e.IsDir() || slices.Contains(shared, below)) {
			if err := looked(dir, below, true, left); err != nil {
				return err
			}
		}
	}
	return nil
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
