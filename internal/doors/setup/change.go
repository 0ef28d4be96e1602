package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Change is what becomes of a file.
type Change struct {
	Path   string // as the client names it
	Target string // the file that is written, where a link leads to another
	Diff   string // "" when it stays as it is
	Remove bool

	foreign []string // what of it is somebody else's, in sentences
	did     []done
	undone  bool // did is taken out
	family  family
	project bool

	target  string // the file that is written
	anchor  string // a directory above it, without links; what is below is not reached by one
	before  []byte
	after   []byte
	existed bool
	mode    fs.FileMode
}

// longest is how long a line of a diff may be. Settings that are one line hold
// more than what changes, keys among them.
const longest = 300

// biggest bounds a settings file, in bytes.
const biggest = 64 << 20

// locate opens a file that may not be there. root is the directory that it may not
// leave by a link; "" is none.
func locate(path, root string) (*Change, error) {
	c := &Change{Path: path, target: path, mode: 0o600}
	if root != "" {
		c.mode = 0o644
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if to, err := os.Readlink(path); err == nil {
			return nil, fmt.Errorf("%s is a link to %s, which is not there; make that file, or remove the link", path, to)
		}
		dir, rest, err := deepest(path)
		if err == nil && root != "" {
			err = inside(path, dir, root)
		}
		c.target, c.anchor = filepath.Join(dir, rest), dir
		if err == nil && root != "" {
			c.anchor, err = filepath.EvalSymlinks(root)
		}
		return c, err
	}
	if err != nil {
		if _, _, why := deepest(path); why != nil {
			err = why
		}
		return nil, err
	}
	c.anchor = filepath.Dir(real)
	if root != "" {
		if err := inside(path, real, root); err != nil {
			return nil, err
		}
		if c.anchor, err = filepath.EvalSymlinks(root); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			c.Target = real
		}
	}
	c.target = real
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file; setup leaves it alone", path)
	case info.Mode().Perm()&0o200 == 0:
		return nil, fmt.Errorf("%s is read-only; change it where it is made, or make it writable and run this again", path)
	case info.Size() > biggest:
		return nil, fmt.Errorf("%s is larger than %d MiB, so this can hardly be the right file", path, biggest>>20)
	}
	c.existed, c.mode = true, info.Mode().Perm()
	c.before, err = os.ReadFile(real)
	return c, err
}

// deepest is the real name of the innermost directory of a path that is there, and what
// of the path comes below it.
func deepest(path string) (real, rest string, err error) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return "", "", fmt.Errorf("%s is not a directory, so %s can't be made", dir, path)
		}
		if err == nil {
			if rest, err = filepath.Rel(dir, path); err != nil {
				return "", "", err
			}
			real, err = filepath.EvalSymlinks(dir)
			return real, rest, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
	}
}

// inside fails where a link that a project brings along leads out of it.
func inside(path, real, root string) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s leads out of the project, to %s; remove that link", path, real)
	}
	return nil
}

// open opens a file of an integration.
func (e Env) open(f file) (*Change, error) {
	root := ""
	if f.project {
		root = e.Dir
	}
	c, err := locate(f.path, root)
	if err != nil {
		return nil, err
	}
	c.family, c.project = f.family, f.project
	return c, nil
}

// change is what makes a file say what an integration needs.
func (e Env) change(f file) (*Change, error) {
	c, err := e.open(f)
	if err != nil {
		return nil, err
	}
	if f.family == wholeFile {
		c.plug(f.whole)
		return c, nil
	}
	out, err := edit(f.family, c.before, f.items)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	for _, name := range out.foreign {
		c.foreign = append(c.foreign, fmt.Sprintf("%s in %s starts something else than sidecar-ls", name, f.path))
	}
	c.after, c.did = out.text, out.did
	c.show()
	return c, nil
}

// show makes the diff.
func (c *Change) show() {
	name := c.Path
	if c.Target != "" {
		name = c.Target
	}
	before, after := name, name
	if !c.existed {
		before = os.DevNull
	}
	if c.Remove {
		after = os.DevNull
	}
	if c.family == wholeFile {
		if !bytes.Equal(c.before, c.after) || c.Remove {
			c.Diff = fmt.Sprintf("--- %s\n+++ %s\n(a file of the plug-in)\n", before, after)
		}
		return
	}
	c.Diff = diff.Unified(before, after, string(c.before), string(c.after), diff.Context)
	if c.Diff == "" && c.Remove {
		c.Diff = fmt.Sprintf("--- %s\n+++ %s\n", before, after)
	}
	for line := range strings.Lines(c.Diff) {
		if len(line) > longest {
			c.Diff = fmt.Sprintf("--- %s\n+++ %s\n(its lines are too long to be shown; this is what changes)\n%s", before, after, outline(c.did, c.undone))
			return
		}
	}
}
