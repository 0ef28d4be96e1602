package search

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Query is a search for lines.
type Query struct {
	Pattern string
	Plain   bool // Pattern is text, not an expression
	Fold    bool // upper and lower case are the same
	Walk    workspace.WalkOptions
	Context int  // lines to keep before and after each match
	Limit   int  // matching lines (with Count or First: files) to keep, in the order of paths; 0 keeps all
	Count   bool // keep no lines, count those of each file
	First   bool // look for one line in each file

	// Index, when set, spares the reading of files in which nothing matches,
	// where it is about the same disk. The result is the same.
	Index *textindex.Index
}

// Matches is what a query found.
type Matches struct {
	Files    []*FileMatches // in the order of paths; those dropped by the limit are missing
	Lines    int            // matching lines, kept or not; with First, files
	Found    int            // files with matching lines
	Searched int            // files
	Binary   int            // files left out because they are binary
	TooLarge int            // files left out because of their size
	Swept    string         // why the index had to look at all files; "" when it knew, or wasn't asked
	kept     int
}

// FileMatches are the matching lines of one file.
type FileMatches struct {
	Path  string
	Count int // matching lines, kept or not
	Lines []Line
	text  []byte // of all lines
	kept  int    // matching lines in Lines
}

// Line is a line of a file.
type Line struct {
	Number     int   // from one
	At         int32 // where in the text the match is, or near there
	start, end int32 // in FileMatches.text
	Match      bool
}

// Text returns the line without its line break. The bytes are the file's, and
// need not be UTF-8.
func (f *FileMatches) Text(l Line) []byte { return f.text[l.start:l.end] }

// Run searches files. The result is the same on every run.
func (q *Query) Run(ctx context.Context, files workspace.Files) (*Matches, error) {
	p, err := compilePattern(q.Pattern, q.Plain, q.Fold)
	if err != nil {
		return nil, err
	}
	opts := q.Walk
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	plan, err := q.Index.Plan(ctx, files, opts, p.needed)
	if err != nil {
		return nil, err
	}
	c := &collector{limit: q.Limit, units: q.Count || q.First, context: q.Context}
	if plan != nil {
		opts.Names = plan.Names
	}
	workers := make([]*searcher, opts.Workers)
	err = files.Walk(ctx, opts, func(e *workspace.Entry) error {
		s := workers[e.Worker]
		if s == nil {
			s = &searcher{q: q, c: c, m: newMatcher(ctx, p)}
			if plan != nil {
				s.reader = plan.Reader()
			}
			workers[e.Worker] = s
		}
		if s.reader != nil {
			s.reader.Visit(e, s.visit)
		} else {
			s.visit(e)
		}
		return ctx.Err()
	})
	for _, s := range workers {
		if s != nil && s.reader != nil {
			s.reader.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	res := c.result()
	if plan != nil {
		res.Searched, res.Binary, res.Swept = plan.Text+plan.Binary, plan.Binary, plan.Swept
	}
	for _, s := range workers {
		if s != nil {
			res.Searched += s.searched
			res.Binary += s.binary
			res.TooLarge += s.tooLarge
		}
	}
	return res, nil
}

// sortFiles sorts by path.
func sortFiles(files []*FileMatches) {
	slices.SortFunc(files, func(a, b *FileMatches) int { return strings.Compare(a.Path, b.Path) })
}
