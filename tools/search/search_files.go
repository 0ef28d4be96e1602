package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type searchFilesArgs struct {
	Pattern string `json:"pattern" jsonschema:"glob: * ? [a-z] {a,b}, and ** for any directories"`
	Limit   int    `json:"limit,omitempty" jsonschema:"most files to list" default:"200" minimum:"1" maximum:"10000"`
}

// searchFilesData is the structured part of a result.
type searchFilesData struct {
	Files []string `json:"files" jsonschema:"names, at most limit"`
	Total int      `json:"total" jsonschema:"files that fit"`
}

func searchFiles(x *textindex.Index) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name:        "search_files",
		Title:       "Find files",
		Example:     `{"pattern": "src/**/*_test.go"}`,
		Description: searchFilesText,
		Category:    "search",
		Core:        true,
		Tags:        []string{"glob", "path", "name", "find"},
		Output:      searchFilesData{},
	}, func(ctx context.Context, c *tools.Call, in searchFilesArgs) (tools.Result, error) {
		return runSearchFiles(ctx, x, c, in)
	})
}

func runSearchFiles(ctx context.Context, x *textindex.Index, c *tools.Call, in searchFilesArgs) (tools.Result, error) {
	if strings.TrimSpace(in.Pattern) == "" {
		return tools.Result{}, tools.Errorf(tools.InvalidArguments, "pattern: it is empty; use ** for all files")
	}
	n := &names{ctx, x, c.Files}
	g, opts, err := fileQuery(n, strings.TrimSpace(in.Pattern))
	if err != nil {
		return tools.Result{}, err
	}
	shown, total, err := Files(ctx, x, c.Files, opts, in.Limit, g.match)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the directory that the pattern begins with
	}
	if err != nil {
		return tools.Result{}, err
	}
	var b strings.Builder
	for _, f := range shown {
		b.WriteString(showPath(f))
		b.WriteByte('\n')
	}
	switch {
	case total == 0:
		fmt.Fprintf(&b, "no file matches %s; %s\n", in.Pattern, noFileHint(n, g))
	case len(shown) < total:
		fmt.Fprintf(&b, "… %d more of %d files; narrow the pattern\n", total-len(shown), total)
	}
	return tools.Result{
		Text:       b.String(),
		Structured: searchFilesData{Files: shown, Total: total},
		Truncated:  len(shown) < total,
	}, nil
}

// Files returns the first names, at most limit, of the files of a walk that
// match, sorted, and how many match in all. An index that knows them spares the
// walk.
func Files(ctx context.Context, x *textindex.Index, files workspace.Files, opts workspace.WalkOptions, limit int, match func(name string) bool) (names []string, total int, err error) {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	found := make([]firstNames, opts.Workers)
	known, err := x.List(ctx, files, opts, match, func(name string) { found[0].add(name, limit) })
	if !known && err == nil {
		err = files.Walk(ctx, opts, func(e *workspace.Entry) error {
			if match(e.Path) {
				found[e.Worker].add(e.Path, limit)
			}
			return nil
		})
	}
	names = []string{}
	if err != nil {
		return names, 0, err
	}
	for i := range found {
		names = append(names, found[i].names...)
		total += found[i].total
	}
	slices.Sort(names)
	return names[:min(len(names), limit)], total, nil
}

// firstNames gathers the names that come first in order, since sorting all of a
// large tree would take as long as listing it.
type firstNames struct {
	names []string // at most twice the limit
	last  string   // of the first names; "" until the limit was reached
	total int

	_ [64]byte // workers count side by side
}

func (f *firstNames) add(name string, limit int) {
	f.total++
	if f.last != "" && name >= f.last {
		return
	}
	f.names = append(f.names, name)
	if len(f.names) == 2*limit {
		slices.Sort(f.names)
		f.names = f.names[:limit]
		f.last = f.names[limit-1]
	}
}

// fileQuery splits a pattern into the directory to begin at and the glob.
func fileQuery(n *names, pattern string) (glob, workspace.WalkOptions, error) {
	if strings.HasPrefix(pattern, "/") || slices.Contains(strings.Split(pattern, "/"), "..") {
		base, rest := doublestar.SplitPattern(pattern)
		name, err := n.files.Resolve(base)
		if err != nil {
			return glob{}, workspace.WalkOptions{}, err
		}
		pattern = "/" + path.Join(name, rest)
	}
	g, err := parseGlob("pattern", pattern, n)
	if err != nil {
		return g, workspace.WalkOptions{}, err
	}
	return g, g.walk(n.files), nil
}

// walk is the walk that meets all that a glob may match.
func (g glob) walk(files workspace.Files) workspace.WalkOptions {
	opts := workspace.WalkOptions{Hidden: globs{g}.hidden()}
	if g.base {
		return opts
	}
	base, _ := doublestar.SplitPattern(g.text)
	if base != "." && fs.ValidPath(base) {
		opts.Dir = base
		opts.IncludeIgnored = files.Ignored(base, true)
	}
	return opts
}

// noFileHint says what to try next.
func noFileHint(n *names, g glob) string {
	if !special(g.text, "*?[{") {
		if dir := directoryOf(n, g); dir == unescape(g.text) && dir != "" {
			return "it is a directory: add /** for the files in it"
		} else if dir != "" {
			return "a directory is called so: " + dir + "/** has the files in it"
		}
		return "for a part of a name put * on both sides"
	}
	hint := "try **/ in front or fewer letters"
	if g.base || strings.HasPrefix(g.text, "**/") { // all directories were looked at
		hint = "try fewer letters"
	}
	hint += "; ignored and hidden files are found only when the pattern names their directory"
	if brackets := bracketHint(g.text); brackets != "" {
		hint += "; " + brackets
	}
	return hint
}

// directoryOf is a directory that a pattern without wildcards names: the path itself, or
// the first with that last element; "" is none.
func directoryOf(n *names, g glob) string {
	name := unescape(g.text)
	if info, err := n.files.Stat(name); err == nil && info.IsDir() {
		return name
	}
	if !g.base {
		return ""
	}
	in := func(file string) string {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if path.Base(dir) == name {
				return dir
			}
		}
		return ""
	}
	found, _, err := Files(n.ctx, n.index, n.files, workspace.WalkOptions{}, 1, func(file string) bool { return in(file) != "" })
	if err != nil || len(found) == 0 {
		return ""
	}
	return in(found[0])
}
