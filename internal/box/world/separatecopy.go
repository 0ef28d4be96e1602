package world

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// A copy at a path of its own, where nothing can put one in the place of the folder:
// macOS, Windows, and containers that have no namespaces. Dependencies are links in it,
// package by package, and a repository that commands change for real is a file that names
// it. The folder can't be written by them, and is read where something has its path: so
// what was built with it is not copied, and what is built with the copy's stays there.

func (s *folderCopy) separate() bool { return s.w.kind == SeparateCopy }

// forReal leaves those out, apart, with which git would work on the folder: those that
// name their working tree, and those that have the repositories of submodules, which do.
func (s *folderCopy) forReal(repositories []string) []string {
	if !s.separate() {
		return repositories
	}
	return slices.DeleteFunc(slices.Clone(repositories), func(dir string) bool {
		text, _ := os.ReadFile(filepath.Join(dir, "config"))
		return filepath.Base(dir) != ".git" || lstat(filepath.Join(dir, "modules")) != nil || worktreeSetting.Match(text)
	})
}

// showSeparate has the command begin in the copy. The folder itself it can read, and of it
// write the repositories that it changes for real.
func (r *Run) showSeparate(spec *spec.Spec) {
	root, at := r.w.root, r.w.upper()
	for _, list := range []*[]string{&spec.ReadOnly, &spec.Hidden, &spec.Sealed, &spec.Repositories} {
		for _, path := range *list {
			if in := moved(path, root, at); in != path {
				*list = append(*list, in)
			}
		}
	}
	spec.Root = at
	if !slices.ContainsFunc(spec.Writable, func(dir string) bool { return moved(root, dir, "") != root }) {
		spec.ReadOnly = append(spec.ReadOnly, root)
	}
	if !spec.LookOnly {
		spec.Writable = slices.Concat(spec.Writable, r.seen.Real) // repositories
	}
	// Its files are copies, which git tells from those of its index by what it does not
	// look at then.
	settings := [][2]string{{"core.checkStat", "minimal"}, {"core.trustctime", "false"}, {"core.fsmonitor", "false"}, {"core.untrackedCache", "false"}}
	n := 0 // of those that the environment has
	for _, v := range spec.Env {
		if count, ok := strings.CutPrefix(v, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(count)
		}
	}
	spec.Env = append(slices.Clone(spec.Env), fmt.Sprintf("GIT_CONFIG_COUNT=%d", n+len(settings)))
	for i, set := range settings {
		spec.Env = append(spec.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n+i, set[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n+i, set[1]))
	}
}

// In is where the command finds a path of the folder, by its name in the session or
// without links.
func (r *Run) In(path string) string {
	if r.w.kind != SeparateCopy {
		return path
	}
	if at := moved(path, r.root, r.w.upper()); at != path {
		return at
	}
	return moved(path, r.w.root, r.w.upper())
}

// Outside is the path of the folder, by its name in the session, of what the command
// finds at path.
func (r *Run) Outside(path string) string {
	if r.w.kind != SeparateCopy {
		return path
	}
	return moved(path, r.w.upper(), r.root)
}

// moved is a path below one directory below the other one; another path is as it was.
func moved(path, from, to string) string {
	if rel, err := filepath.Rel(from, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(to, rel)
	}
	return path
}

// mayBeLink reports whether a directory is a link, apart: a repository that the command
// changes for real, or a package of dependencies. What has a dot before its name in
// those is written by programs that run.
func (c *renewal) mayBeLink(at *copied, rel string) bool {
	name := path.Base(rel)
	if c.s.w.real[rel] {
		return true
	}
	return at.state == asLinks && !isScope(name) && (name == ".pnpm" || !strings.HasPrefix(name, ".")) && c.mayBeReal(rel)
}

// hasLinks reports whether a directory has links to the packages in the folder's. Those
// that lead back into the workspace lead into the copy: they are copied.
func (c *renewal) hasLinks(at *copied, rel string) bool {
	name := path.Base(rel)
	return dependencyDirs[name] && name != ".tox" && !c.tracked(rel+"/") || at.state == asLinks && isScope(name)
}

// isScope reports whether a directory of node_modules has packages in it.
func isScope(name string) bool { return strings.HasPrefix(name, "@") }

// leads reports whether a link to the folder's own is there. It is the same one also if
// it was moved, or copied.
func (c *copied) leads(at string, info fs.FileInfo) bool {
	if c.target == "" { // a file that leads to a repository, or a junction
		return c.copy == stampFrom(info)
	}
	target, err := os.Readlink(at)
	return err == nil && target == c.target
}

// lstat is what is at a path; nil is nothing.
func lstat(path string) fs.FileInfo {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return info
}

// junction makes one, as package managers have them on Windows for packages of the
// workspace.
func (c *renewal) junction(at *copied, rel string) error {
	target, err := os.Readlink(c.from(rel))
	if _, there := os.Lstat(c.s.at(rel)); err != nil || there == nil || at.kids[path.Base(rel)] != nil {
		return nil //nolint:nilerr // it is no junction, or a command made something else of it
	}
	if osfile.LinkDir(moved(target, c.s.w.root, c.s.w.upper()), c.s.at(rel)) == nil {
		at.kids[path.Base(rel)] = &copied{state: asReal, copy: stampOf(c.s.at(rel))}
	}
	return nil
}

// rewritten is the text of a file of git's that says where something is, as it has to
// be in a copy apart; nil: it is as it was.
func (c *renewal) rewritten(rel string, info fs.FileInfo) []byte {
	dir, name := path.Split(rel)
	isPointer, isConfig := name == ".git", name == "config" && path.Base(dir) == ".git"
	if !c.s.separate() || !info.Mode().IsRegular() || info.Size() > maxSettings || !isPointer && !isConfig {
		return nil
	}
	text, err := os.ReadFile(c.from(rel))
	if err != nil {
		return nil
	}
	if !isPointer {
		// Else git would work on the folder.
		if changed := worktreeSetting.ReplaceAll(text, nil); len(changed) != len(text) {
			return changed
		}
		return nil
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if !ok {
		return nil
	}
	target = filepath.FromSlash(strings.TrimSpace(target))
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(c.from(rel)), target)
	}
	if !c.s.w.real[".git"] {
		target = moved(target, c.s.w.root, c.s.w.upper())
	}
	return []byte("gitdir: " + filepath.ToSlash(target) + "\n")
}

// maxSettings bounds a file of settings that is read, in bytes.
const maxSettings = 1 << 20

var worktreeSetting = regexp.MustCompile(`(?im)^[ \t]*worktree[ \t]*=.*\n?`)

// link makes what leads from the copy to the folder's own directory, and reports that
// it could. The copy has the directory itself where it could not.
func (c *renewal) link(kid *copied, rel string) bool {
	at, target := filepath.FromSlash(rel), c.from(rel)
	var err error
	switch {
	case c.s.w.real[rel]:
		err = c.to.WriteFile(at, []byte("gitdir: "+filepath.ToSlash(target)+"\n"), 0o444)
	case runtime.GOOS == "windows": // no command is confined there that could lead this elsewhere
		err = osfile.LinkDir(target, c.s.at(rel))
	default:
		err = c.to.Symlink(target, at)
		kid.target = target
	}
	if err != nil {
		delete(c.s.w.real, rel) // it has a copy
		return false
	}
	// What is not there would be taken for one that a command removed, and the folder's
	// own would go.
	made := stampOf(c.s.at(rel))
	if made != (stamp{}) {
		kid.state, kid.copy = asReal, made
	}
	return made != stamp{}
}

// exchange has the other of a repository: the folder's own, or a copy.
func (c *renewal) exchange(at *copied, rel string, info fs.FileInfo, r rules) error {
	if err := c.to.RemoveAll(filepath.FromSlash(rel)); err != nil {
		return err
	}
	delete(at.kids, ".git")
	if rel == ".git" {
		forgetCommits(c.s.w)
	}
	return c.enter(at, rel, nil, info, r, false, true)
}

// hollow makes what stands in for a file that no command may read. Where nothing lies
// over it, it can't be written, and one that git tracks looks as it does outside.
func (c *renewal) hollow(rel string, info fs.FileInfo) error {
	at, mode := filepath.FromSlash(rel), info.Mode().Perm()
	if !c.s.separate() {
		return c.to.WriteFile(at, nil, mode)
	}
	if err := c.to.WriteFile(at, nil, 0o600); err != nil {
		return err
	}
	if mode &^= 0o222; c.s.w.sealed[rel] {
		f, err := c.to.OpenFile(at, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		err = f.Truncate(info.Size())
		if err := f.Close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		if err := c.to.Chtimes(at, info.ModTime(), info.ModTime()); err != nil {
			return err
		}
		mode &^= 0o444
	}
	return c.to.Chmod(at, mode)
}

// errNoLink is what became of a link to a file.
var errNoLink = errors.New("no link can be made")

// leftFor is why a file is left out that could not be copied; "" when that is no reason.
func leftFor(err error) string {
	switch {
	case err == nil || runtime.GOOS != "windows":
		return ""
	case osfile.IsInUse(err):
		return leftInUse
	case errors.Is(err, errNoLink):
		return leftLink
	}
	return ""
}
