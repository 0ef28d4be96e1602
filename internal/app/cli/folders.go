package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// rootFlag is --root, which may be given more than once.
type rootFlag []string

// String implements flag.Value, as does Set.
func (r *rootFlag) String() string { return strings.Join(*r, " ") }

// Set adds a folder, or a file that names some.
func (r *rootFlag) Set(root string) error {
	if root != "" {
		*r = append(*r, root)
	}
	return nil
}

// errNoProject is why there is no workspace where a command is typed.
var errNoProject = errors.New("is no project")

// folders are the workspace that a sub-command works in: what --root names, else the
// nearest directory around the current one that is a project, else that. State and queue
// are those of the first.
func (c *cli) folders() ([]workspace.Folder, error) {
	roots := c.roots
	if len(roots) == 0 {
		here, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		dir := projectAround(here)
		if tooWide(dir) {
			return nil, fmt.Errorf("%s %w: too much is below it; go to a project's directory, or name one with --root", dir, errNoProject)
		}
		roots = rootFlag{dir}
	}
	var found []wanted
	for _, root := range roots {
		of, err := foldersOf(root)
		if err != nil {
			return nil, err
		}
		found = append(found, of...)
	}
	return distinct(found)
}

// folder is the first of them.
func (c *cli) folder() (workspace.Folder, error) {
	all, err := c.folders()
	if err != nil {
		return workspace.Folder{}, err
	}
	return all[0], nil
}

// oneFolder refuses several folders for a command that works in one alone.
func oneFolder(c *cli, command string) error {
	if all, err := c.folders(); err == nil && len(all) > 1 {
		return usagef("%s works in one folder at a time, and --root names %d; call it for each of them", command, len(all))
	}
	return nil
}

// wanted is a directory with the name that somebody wants for it; "" is its own.
type wanted struct{ dir, name string }

// foldersOf are the folders that one --root names.
func foldersOf(root string) ([]wanted, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return []wanted{{dir: dir}}, nil
	case strings.EqualFold(filepath.Ext(dir), workspaceFile):
		return inWorkspaceFile(dir)
	}
	return nil, fmt.Errorf("%s is not a directory", dir)
}

// workspaceFile is the ending of the files in which editors keep the folders of a workspace.
const workspaceFile = ".code-workspace"

// maxWorkspaceFile bounds such a file, in bytes.
const maxWorkspaceFile = 1 << 20

// inWorkspaceFile are the folders that a file names. It may have come with a project, so
// that it names nothing that holds all that a user has.
func inWorkspaceFile(path string) (all []wanted, err error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", path, fmt.Errorf(format, args...))
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxWorkspaceFile {
		return nil, errors.Join(bad("it is no file of at most %d MiB", maxWorkspaceFile>>20), err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Folders []struct {
			Path, Name string
			URI        *string
		}
	}
	if err := json.Unmarshal(config.PlainJSON(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), &file); err != nil {
		return nil, bad("it can't be read as JSON with comments: %w", err)
	}
	for _, f := range file.Folders {
		switch {
		case f.URI != nil:
			return nil, bad("the folder %.200q is a URI, which is not opened here; give a path", *f.URI)
		case f.Path == "":
			return nil, bad("a folder has no path")
		}
		dir := filepath.FromSlash(f.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(path), dir)
		}
		dir = filepath.Clean(dir)
		if info, err := os.Stat(dir); err != nil {
			return nil, bad("a folder can't be opened: %w", err)
		} else if !info.IsDir() {
			return nil, bad("%s is not a directory", dir)
		}
		if tooWide(dir) || holdsHome(dir) {
			return nil, bad("the folder %s has too much below it; name it with --root if you mean it", dir)
		}
		all = append(all, wanted{dir, f.Name})
	}
	if len(all) == 0 {
		return nil, bad("it names no folders; name one with --root")
	}
	return all, nil
}

// distinct are the folders by the names that an editor's have. None may be there twice,
// over a link or not; one may lie in another.
func distinct(found []wanted) (all []workspace.Folder, err error) {
	for i, f := range found {
		again := slices.IndexFunc(found[:i], func(other wanted) bool { return sameDir(other.dir, f.dir) })
		switch {
		case again < 0:
			all = workspace.AddFolder(all, f.dir, f.name)
		case found[again].dir == f.dir:
			return nil, usagef("the folder %s is named twice; name it once", f.dir)
		default:
			return nil, usagef("the folder %s is %s, which is named already; name it once", f.dir, found[again].dir)
		}
	}
	return all, nil
}

// projectAround is the nearest directory around here that is a project, else here. What
// is in a directory such as /tmp may be anybody's: a project there, whose settings would
// count, has to be named.
func projectAround(here string) string {
	for dir := here; dir == here || !shared(dir) && !tooWide(dir); dir = filepath.Dir(dir) {
		for _, mark := range []string{".sidecar", ".git"} {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return here
}

// tooWide reports whether a directory holds all that a user has, or that everybody has:
// an agent would see it whole. Its .sidecar is no reason to take it for the project of
// what is below.
func tooWide(dir string) bool {
	home, err := os.UserHomeDir()
	return dir == filepath.Dir(dir) || shared(dir) || err == nil && sameDir(dir, home)
}

// holdsHome reports whether the home is somewhere below a directory.
func holdsHome(dir string) bool {
	home, err := os.UserHomeDir()
	return err == nil && inside(dir, home)
}

// inside reports whether a path is a directory or below it, whatever links lead there: both are
// compared without links, and nothing is opened by that.
func inside(dir, path string) bool {
	real, err := filepath.EvalSymlinks(dir) // to compare
	if err != nil {
		return false
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return false
	}
	rel, err := filepath.Rel(real, path)
	return err == nil && filepath.IsLocal(rel)
}

func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// shared reports whether a directory is one where every user puts files.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&os.ModeSticky != 0 && info.Mode().Perm()&0o002 != 0
}
