package shadow

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/rename"
)

// What the shadow puts into a directory that the main tree has renamed belongs
// into the directory of the new name, as git's merge has it: see "Directory
// rename detection" in its technical documentation. A directory is renamed when
// nothing is left in it and most of what was in it came to be in one other.

// placed is where a change of the shadow goes in the main tree.
func (g *merging) placed(ch change) string {
	name := ch.name()
	comes := ch.new.exists() && (!ch.old.exists() || path.Dir(ch.old.path) != path.Dir(name))
	if !comes || !g.emptied(path.Dir(name)) {
		return name
	}
	dirs := g.renamed().dirs
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		to, ok := dirs[dir]
		if !ok {
			continue
		}
		if to = path.Join(to, name[len(dir)+1:]); g.names[to] { // something else of the shadow goes there
			return name
		}
		g.names[to] = true
		return to
	}
	return name
}

// began is how the shadow began.
func (g *merging) began() (*index.Index, error) {
	var err error
	if g.base == nil {
		g.base, _, err = g.c.t.begun(g.ctx)
	}
	return g.base, err
}

// emptied reports whether the shadow began with files in a directory, or in
// one that it is in, and the main tree has none of them there any more. It is
// asked before renames are looked for, which takes a look at every file.
func (g *merging) emptied(dir string) bool {
	base, err := g.began()
	if err != nil {
		return false
	}
	for ; dir != "."; dir = path.Dir(dir) {
		at, _ := slices.BinarySearchFunc(base.Entries, dir+"/", func(e *gitindex.Entry, name string) int { return strings.Compare(e.Name, name) })
		had, left := false, false
		for ; at < len(base.Entries) && strings.HasPrefix(base.Entries[at].Name, dir+"/") && !left; at++ {
			had, left = true, g.hasMain(base.Entries[at].Name)
		}
		if left {
			return false // and so in all above
		}
		if had {
			return true
		}
	}
	return false
}

func (g *merging) hasMain(file string) bool {
	name, err := g.main.Resolve(filepath.Join(g.top, filepath.FromSlash(file)))
	if err != nil {
		return true // what can't be seen is no reason to look further
	}
	_, err = g.main.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// stillThere are the directories of the files that the main tree has.
func stillThere(base *index.Index, gone, added []rename.File) map[string]bool {
	missing := map[string]bool{}
	for _, f := range gone {
		missing[f.Path] = true
	}
	there := map[string]bool{}
	note := func(file string) {
		for dir := path.Dir(file); !there[dir]; dir = path.Dir(dir) {
			if there[dir] = true; dir == "." {
				return
			}
		}
	}
	for i := range base.Entries {
		if name := base.Entries[i].Name; !missing[name] {
			note(name)
		}
	}
	for _, f := range added {
		note(f.Path)
	}
	return there
}

// movedDirs finds the directories that were renamed, from the renames of files
// and the directories that are still there.
func movedDirs(files map[string]string, there map[string]bool) map[string]string {
	votes := map[string]map[string]int{}
	for from, to := range files {
		// A file votes for its directory, and for those above as long as their
		// names say that the one below was moved along with them.
		for from, to = path.Dir(from), path.Dir(to); from != "." && from != to && !there[from]; from, to = path.Dir(from), path.Dir(to) {
			if votes[from] == nil {
				votes[from] = map[string]int{}
			}
			if votes[from][to]++; to == "." || path.Base(from) != path.Base(to) {
				break
			}
		}
	}
	dirs := map[string]string{}
	for from, targets := range votes {
		best, most, tie := "", 0, false
		for to, n := range targets {
			switch {
			case n > most:
				best, most, tie = to, n, false
			case n == most:
				tie = true
			}
		}
		if !tie { // else nobody can tell
			dirs[from] = best
		}
	}
	return dirs
}
