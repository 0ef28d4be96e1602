package gitcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// besides are settings that make git, or a program that goes with it, run what
// they name, and that need no replacement where git is run by us: no operation
// of ours obeys them, or fixed says what holds.
var besides = []string{"core.fsmonitor", "core.hookspath", "include.path", "includeif.*.path", "credential.helper", "credential.*.helper",
	"protocol.allow", "protocol.*.allow", "remote.*.vcs", "instaweb.*"}

// Hazard says what in a git directory would make a git command in its working
// tree run a program or obey files elsewhere, in words; "" is nothing. It
// reads the directory as the user's git would, but not what settings include:
// that they do is a hazard. within is the directory that it may name places in.
func Hazard(gitDir, within string) string {
	for _, name := range []string{"config", "config.worktree", "commondir", "gitdir", "hooks", "info", "modules", "worktrees"} {
		if info, err := os.Lstat(filepath.Join(gitDir, name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return name + " is a link"
		}
	}
	if why := StrangeCommon(gitDir); why != "" {
		return why
	}
	for _, name := range []string{"config", "config.worktree"} {
		list, err := gitconfig.ReadFile(filepath.Join(gitDir, name))
		if err != nil {
			return fmt.Sprintf("its %s can't be read", name)
		}
		for _, s := range list {
			if hazardous(s, gitDir, within) {
				return "its setting " + Shown(s.Key)
			}
		}
	}
	hooks, err := os.ReadDir(filepath.Join(gitDir, "hooks"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "its hooks can't be listed"
	}
	for _, e := range hooks {
		if !strings.HasSuffix(e.Name(), ".sample") {
			return "its hook " + Shown(e.Name())
		}
	}
	return ""
}

// StrangeCommon says what is wrong with a git directory that takes its settings
// from another one: only that of a linked working tree may, and that lies in
// the directory that it names.
func StrangeCommon(gitDir string) string {
	common, err := gitfile.ReadPointer(filepath.Join(gitDir, "commondir"), "", gitDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return "its commondir can't be read"
	case !gitfile.SameFile(common, filepath.Dir(filepath.Dir(gitDir))) || filepath.Base(filepath.Dir(gitDir)) != "worktrees":
		return "its commondir names another repository's settings"
	}
	return ""
}

// CommonDir is the git directory whose settings and hooks hold for one: its own,
// unless it is that of a linked working tree.
func CommonDir(gitDir string) string {
	common, err := gitfile.ReadPointer(filepath.Join(gitDir, "commondir"), "", gitDir)
	if err != nil {
		return gitDir
	}
	return common
}

// hazardous reports whether a setting of a repository names a program, more
// settings, or a working tree that is not within.
func hazardous(s gitconfig.Setting, gitDir, dir string) bool {
	section, _, name := gitconfig.SplitKey(s.Key)
	switch {
	case name == "savecookies": // with http.cookieFile it writes to any file
		return s.Bare || s.Value != "false"
	case s.Bare || s.Value == "" || s.Value == "true" || s.Value == "false":
		return false // nothing is named by it
	case s.Key == "core.worktree":
		return !gitfile.Within(dir, gitfile.Resolve(s.Value, gitDir))
	case section == "submodule" && name == "update":
		return strings.HasPrefix(s.Value, "!")
	case section == "protocol":
		return s.Value != "never" && s.Value != "user"
	}
	if harmless, ok := instead(s.Key); ok {
		return s.Value != harmless
	}
	for _, key := range besides {
		if gitconfig.KeyMatches(key, s.Key) {
			return true
		}
	}
	return false
}

// Pointer is the path that a .git file names.
func Pointer(file string) (string, error) {
	return gitfile.ReadPointer(file, "gitdir: ", filepath.Dir(file))
}

// Obeyed are the files and directories of a working tree that a repository's
// own settings make git obey without being asked: hooks elsewhere, files of
// settings, and the programs of filters, drivers and monitors. They are
// absolute, and exist.
func Obeyed(gitDir, top string) (paths []string) {
	add := func(path, base string) {
		path = gitfile.Resolve(gitconfig.ExpandHome(path), base)
		if info, err := os.Lstat(path); err == nil && path != top && gitfile.Within(top, path) && (info.IsDir() || info.Mode().IsRegular()) {
			paths = append(paths, path)
		}
	}
	for _, name := range []string{"config", "config.worktree"} {
		list, _ := gitconfig.ReadFile(filepath.Join(gitDir, name)) // what git can't read, it does not obey
		for _, s := range list {
			section, _, last := gitconfig.SplitKey(s.Key)
			switch {
			case s.Key == "core.hookspath":
				add(s.Value, top)
			case includes(s.Key):
				add(s.Value, gitDir)
			case s.Key == "core.fsmonitor", s.Key == "core.sshcommand", section == "filter", section == "diff", section == "credential" && last == "helper":
				for _, word := range strings.Fields(s.Value) {
					word = strings.Trim(word, `"';!`)
					if info, err := os.Lstat(gitfile.Resolve(word, top)); err == nil && info.Mode().IsRegular() {
						add(word, top)
					}
				}
			}
		}
	}
	return paths
}

// maxIncluded bounds the files that settings include, which may include others.
const maxIncluded = 50

// Included are the files that the settings of a repository include, as far as they are there.
func Included(gitDir string) (files []string) {
	todo := []string{filepath.Join(gitDir, "config"), filepath.Join(gitDir, "config.worktree")}
	for len(todo) > 0 && len(files) < maxIncluded {
		list, _ := gitconfig.ReadFile(todo[0]) // what git can't read, it does not obey
		base := filepath.Dir(todo[0])
		todo = todo[1:]
		for _, s := range list {
			if !includes(s.Key) {
				continue
			}
			path := gitfile.Resolve(gitconfig.ExpandHome(s.Value), base)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !slices.Contains(files, path) {
				files, todo = append(files, path), append(todo, path)
			}
		}
	}
	return files
}
