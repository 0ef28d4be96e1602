package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// grepTimeout bounds a search. A pattern that is slow by its nature ends here.
const grepTimeout = 30 * time.Second

type grepArgs struct {
	Pattern string `json:"pattern" jsonschema:"what to search for in each line"`
	Path    string `json:"path,omitempty" jsonschema:"file or directory to search; all by default"`
	Include string `json:"include,omitempty" jsonschema:"only files matching these globs, separated by commas, e.g. *.go or src/**/*.{ts,tsx}"`
	Exclude string `json:"exclude,omitempty" jsonschema:"no files or directories matching these globs"`
	Case    string `json:"case,omitempty" jsonschema:"smart: sensitive only if the pattern has an upper-case letter" enum:"smart,sensitive,insensitive" default:"smart"`
	Literal bool   `json:"literal,omitempty" jsonschema:"pattern is plain text, not an expression"`
	Context int    `json:"context,omitempty" jsonschema:"lines to show before and after each match" default:"0" minimum:"0" maximum:"50"`
	Limit   int    `json:"limit,omitempty" jsonschema:"most lines or files to show" default:"200" minimum:"1" maximum:"10000"`
	Mode    string `json:"mode,omitempty" jsonschema:"what to show" enum:"lines,files,count" default:"lines"`
}

// grepData is the structured part of a result.
type grepData struct {
	Matches  int  `json:"matches" jsonschema:"matching lines; in mode files the same as files"`
	Files    int  `json:"files" jsonschema:"with a match"`
	Shown    int  `json:"shown" jsonschema:"of matches in mode lines, else of files"`
	Searched int  `json:"searched" jsonschema:"files that were searched"`
	Binary   int  `json:"binary,omitempty" jsonschema:"files that were not, because they are binary"`
	TooLarge int  `json:"tooLarge,omitempty" jsonschema:"files that were not, because they are too large"`
	Cut      bool `json:"cut" jsonschema:"the limit left something out"`

	Swept string `json:"swept,omitempty" jsonschema:"why all files had to be looked at for changes"`
}

func grep(x *textindex.Index) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name:        "grep",
		Title:       "Search in files",
		Example:     `{"pattern": "func \\w+Limit", "include": "*.go"}`,
		Description: grepText,
		Category:    "search",
		Core:        true,
		Tags:        []string{"regex", "text", "content", "find"},
		Timeout:     grepTimeout,
		Output:      grepData{},
	}, func(ctx context.Context, c *tools.Call, in grepArgs) (tools.Result, error) {
		return runGrep(ctx, x, c, in)
	})
}

func runGrep(ctx context.Context, x *textindex.Index, c *tools.Call, in grepArgs) (tools.Result, error) {
	q, err := in.query(&names{ctx, x, c.Files})
	if err != nil {
		return tools.Result{}, err
	}
	q.Index = x
	m, err := q.Run(ctx, c.Files)
	if errors.Is(err, context.DeadlineExceeded) {
		return tools.Result{}, tools.Errorf(tools.Timeout, "the search took too long; narrow it with path or include, or simplify the pattern")
	}
	if err != nil {
		return tools.Result{}, err
	}
	return tools.Result{
		Text: in.render(m),
		Structured: grepData{
			Matches: m.Lines, Files: m.Found, Shown: m.kept,
			Searched: m.Searched, Binary: m.Binary, TooLarge: m.TooLarge, Cut: in.cut(m), Swept: m.Swept,
		},
		Truncated: in.cut(m),
	}, nil
}

// cut reports whether the limit left something out.
func (in *grepArgs) cut(m *Matches) bool {
	if in.Mode == "lines" {
		return m.kept < m.Lines
	}
	return m.kept < m.Found
}

// query makes a query of the arguments, as the view is.
func (in *grepArgs) query(n *names) (*Query, error) {
	if in.Pattern == "" {
		return nil, tools.Errorf(tools.InvalidArguments, "pattern: it is empty; give what to search for, or use search_files to list files")
	}
	q := &Query{
		Pattern: in.Pattern,
		Plain:   in.Literal,
		Fold:    in.Case == "insensitive" || in.Case == "smart" && !hasUpper(in.Pattern, in.Literal),
		Context: in.Context,
		Limit:   in.Limit,
		Count:   in.Mode == "count",
		First:   in.Mode == "files",
	}
	include, not, err := parseGlobs("include", in.Include, n)
	if err != nil {
		return nil, err
	}
	exclude, _, err := parseGlobs("exclude", in.Exclude, n)
	if err != nil {
		return nil, err
	}
	exclude = append(exclude, not...)
	q.Walk.Hidden = include.hidden()
	if include != nil || exclude != nil {
		q.Walk.Keep = func(name string, dir bool) bool {
			return !exclude.match(name) && (dir || include == nil || include.match(name))
		}
	}
	return q, startAt(n.files, in.Path, &q.Walk)
}

// startAt makes a walk begin at a path as a caller wrote it. What is named is
// walked, even if the ignore rules leave it out.
func startAt(files workspace.Files, path string, opts *workspace.WalkOptions) error {
	if path == "" {
		return nil
	}
	name, err := files.Resolve(path)
	if err != nil {
		return err
	}
	info, err := files.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return tools.Errorf(tools.NotFound, "path: %s does not exist; check it with list_directory or search_files", path)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("path: %w", &fs.PathError{Op: "search", Path: name, Err: workspace.ErrSpecial})
	}
	opts.Dir = name
	opts.IncludeIgnored = files.Ignored(name, info.IsDir())
	return nil
}
