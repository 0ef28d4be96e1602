package fs

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed list_directory.md
var listDirectoryDoc string

// maxEntries bounds a listing.
const maxEntries = 1000

// ListDirectoryArgs are the arguments of list_directory.
type ListDirectoryArgs struct {
	Path           string `json:"path,omitempty" jsonschema:"directory, relative to the workspace" default:"."`
	Depth          int    `json:"depth,omitempty" jsonschema:"levels to show" default:"1" minimum:"1" maximum:"5"`
	IncludeIgnored bool   `json:"include_ignored,omitempty" jsonschema:"also what .gitignore and the like leave out" default:"false"`
}

// Listing is the structured result of list_directory.
type Listing struct {
	Path    string `json:"path" jsonschema:"directory"`
	Entries int    `json:"entries" jsonschema:"listed"`
	Ignored int    `json:"ignored" jsonschema:"left out by ignore rules"`
	Cut     bool   `json:"cut" jsonschema:"there are more"`
}

func newListDirectory() *tools.Tool {
	return tools.NewRead(tools.Def{
		Name:        "list_directory",
		Example:     `{"path": "src", "depth": 2}`,
		Description: listDirectoryDoc,
		Category:    category,
		Core:        true,
		Output:      Listing{},
	}, listDirectory)
}

func listDirectory(ctx context.Context, c *tools.Call, in ListDirectoryArgs) (tools.Result, error) {
	name, err := c.Files.Resolve(cmp.Or(in.Path, "."))
	if err != nil {
		return tools.Result{}, err
	}
	info, err := c.Files.Stat(name)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return tools.Result{}, notFound(ctx, c, name, true)
	case err != nil:
		return tools.Result{}, err
	case !info.IsDir():
		return tools.Result{}, tools.Errorf(tools.InvalidArguments, "%s is a file; read it with read_file", name)
	}
	l := lister{ctx: ctx, c: c, all: in.IncludeIgnored, out: Listing{Path: name}}
	if name != "." {
		l.below = name + "/"
	}
	if err := l.list(name, max(1, in.Depth)); err != nil {
		return tools.Result{}, err
	}
	var notes []string
	if l.out.Cut {
		notes = append(notes, fmt.Sprintf("only the first %d entries; list a directory below, or use search_files", maxEntries))
	}
	if l.out.Ignored > 0 {
		notes = append(notes, fmt.Sprintf("%d ignored left out; include_ignored shows them", l.out.Ignored))
	}
	if l.out.Entries == 0 {
		notes = append([]string{name + " is empty"}, notes...)
	}
	if len(notes) > 0 {
		fmt.Fprintf(&l.b, "(%s)\n", strings.Join(notes, "; "))
	}
	text := l.b.String()
	if l.below != "" && l.out.Entries > 0 {
		text = "In " + visible(l.below) + ":\n" + text
	}
	return tools.Result{Text: text, Structured: l.out, Truncated: l.out.Cut}, nil
}

type lister struct {
	ctx context.Context
	c   *tools.Call
	all bool
	b   strings.Builder
	out Listing

	below string // begins the path of each entry, and stands in the first line alone
}

// shown is the path of an entry as a line has it.
func (l *lister) shown(name string) string { return visible(strings.TrimPrefix(name, l.below)) }

// standsIn reports whether an entry is not the project's, but stands in for a
// missing name while a confined command runs (docs/sandbox.md): it is sticky,
// and nothing is in it.
func (l *lister) standsIn(name string, e iofs.DirEntry) bool {
	if !e.IsDir() || !strings.HasPrefix(e.Name(), ".") {
		return false
	}
	info, err := l.c.Files.Stat(name)
	if err != nil || info.Mode()&iofs.ModeSticky == 0 {
		return false
	}
	inside, err := l.c.Files.ReadDir(name)
	return err == nil && len(inside) == 0
}

// list writes the entries of dir, directories first, each directory followed
// by what is in it.
func (l *lister) list(dir string, depth int) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	entries, err := l.c.Files.ReadDir(dir)
	if err != nil {
		return err
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b iofs.DirEntry) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.Name() == ".git" || !l.all && e.Name() == ".sidecar" && e.IsDir() || l.standsIn(name, e):
			continue
		case !l.all && l.c.Files.Ignored(name, e.IsDir()):
			l.out.Ignored++
			continue
		case l.out.Entries == maxEntries:
			l.out.Cut = true
			return nil
		}
		l.out.Entries++
		switch {
		case e.IsDir():
			l.b.WriteString(l.shown(name) + "/\n")
		case e.Type()&iofs.ModeSymlink != 0:
			l.b.WriteString(l.shown(name) + " -> (link)\n")
		default:
			l.b.WriteString(l.shown(name) + "\n")
		}
		if e.IsDir() && depth > 1 {
			if err := l.list(name, depth-1); err != nil && l.ctx.Err() != nil {
				return err
			} else if err != nil {
				l.b.WriteString(l.shown(name) + "/ (can't be read)\n")
			}
			if l.out.Cut {
				return nil
			}
		}
	}
	return nil
}

// visible keeps a name with control characters on its line.
func visible(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
