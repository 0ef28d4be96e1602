package workspace

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Guard hides sensitive files of lower from every road: they are not listed,
// not walked, and reading them fails with ErrSensitive, under their own name
// or through a link. A file for which allow returns true is not hidden.
func Guard(lower Files, allow func(name string) bool) Files {
	return &guard{lower, allow}
}

type guard struct {
	Files
	allow func(name string) bool
}

func (g *guard) hidden(name string) bool {
	return Sensitive(name) && (g.allow == nil || !g.allow(name))
}

// check judges a name and where it leads. Only the links inside the roots
// matter: what leads out is refused further down.
func (g *guard) check(op, name string) error {
	if g.hidden(name) {
		return &fs.PathError{Op: op, Path: name, Err: ErrSensitive}
	}
	real, err := g.RealName(name)
	if err == nil && real != name && g.hidden(real) {
		return &fs.PathError{Op: op, Path: name, Err: ErrSensitive}
	}
	return nil
}

// Node implements what NodeOf asks for.
func (g *guard) Node(name string) (Node, error) {
	if err := g.check("lstat", name); err != nil {
		return Node{}, err
	}
	return NodeOf(g.Files, name)
}

func (g *guard) Open(name string) (fs.File, error) {
	if err := g.check("open", name); err != nil {
		return nil, err
	}
	file, err := g.Files.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || !info.IsDir() {
		return file, err
	}
	file.Close()
	entries, err := g.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return &listedDir{info: info, entries: entries}, nil
}

func (g *guard) ReadFile(name string) ([]byte, error) {
	if err := g.check("read", name); err != nil {
		return nil, err
	}
	return g.Files.ReadFile(name)
}

func (g *guard) Stat(name string) (fs.FileInfo, error) {
	info, err := g.Files.Stat(name)
	if err != nil || info.IsDir() {
		return info, err
	}
	if err := g.check("stat", name); err != nil {
		return nil, err
	}
	return info, nil
}

func (g *guard) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := g.Files.ReadDir(name)
	hidden := g.hiddenBelow(name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		full := child(name, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			return g.check("readdir", full) != nil
		}
		return !e.IsDir() && hidden(full)
	}), err
}

// Base leaves out the names that are hidden.
func (g *guard) Base() (*Disk, []string) {
	disk, over := g.Files.Base()
	return disk, slices.DeleteFunc(slices.Clone(over), g.hidden)
}

// Walk needs no look at links: no walk visits one, except to start from it.
func (g *guard) Walk(ctx context.Context, opts WalkOptions, visit func(*Entry) error) error {
	hidden := g.hiddenBelow(opts.Dir)
	if opts.Dir != "" && hidden(opts.Dir) {
		if info, err := g.Files.Stat(opts.Dir); err != nil || !info.IsDir() {
			return g.check("walk", opts.Dir)
		}
	}
	keep := opts.Keep
	opts.Keep = func(name string, dir bool) bool {
		return (dir || !hidden(name)) && (keep == nil || keep(name, dir))
	}
	return g.Files.Walk(ctx, opts, visit)
}

// hiddenBelow judges names at or below dir, which may be reached by a link,
// at the price of resolving dir once.
func (g *guard) hiddenBelow(dir string) func(name string) bool {
	real, err := dir, error(nil)
	if dir != "" && dir != "." {
		real, err = g.RealName(dir)
	}
	if err != nil || real == dir {
		return g.hidden
	}
	return func(name string) bool {
		return g.hidden(name) || g.hidden(path.Join(real, strings.TrimPrefix(name, dir)))
	}
}

// child returns the name of an entry of dir.
func child(dir, base string) string {
	if dir == "" || dir == "." {
		return base
	}
	return dir + "/" + base
}
