package langserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Severity says how bad a problem is.
type Severity string

// The severities, worst first.
const (
	Error       Severity = "error"
	Warning     Severity = "warning"
	Information Severity = "information"
	Hint        Severity = "hint"
)

// Severities lists them, worst first.
var Severities = []Severity{Error, Warning, Information, Hint}

// AtLeast reports whether s is as bad as least, or worse.
func (s Severity) AtLeast(least Severity) bool {
	return slices.Index(Severities, s) <= slices.Index(Severities, least)
}

// Span is a part of a file's text. Lines and columns count from one, columns in
// bytes of UTF-8; the end is the first place behind it.
type Span struct {
	Line, Column, EndLine, EndColumn int
}

// Problem is what a server, or the editor, has to say against a place.
type Problem struct {
	Path string // name in the view
	Span
	Severity Severity
	Code     string
	Source   string // who found it, as the server calls it: compiler, ts, …
	Message  string
	Server   string // whom we have it from
}

// Bounds of what is kept of a server's problems.
const (
	maxProblems = 500  // of one file
	maxWords    = 1000 // bytes of a message
)

// problems converts diagnostics of a document.
func problems(server, name string, text *lsp.Document, enc lsp.Encoding, list []lsp.Diagnostic) []Problem {
	var out []Problem
	for _, d := range list {
		if len(out) == maxProblems {
			break
		}
		p := Problem{Path: name, Span: span(text, enc, d.Range), Severity: Error, Source: shorten(d.Source, 100), Message: shorten(d.Message, maxWords), Server: server}
		if i := int(d.Severity) - 1; i >= 0 && i < len(Severities) {
			p.Severity = Severities[i]
		}
		if d.Code != nil {
			p.Code = shorten(fmt.Sprint(d.Code), 100)
		}
		out = append(out, p)
	}
	slices.SortFunc(out, Problem.compare)
	return slices.Compact(out)
}

func (p Problem) compare(o Problem) int {
	return cmp.Or(cmp.Compare(p.Path, o.Path), cmp.Compare(p.Line, o.Line), cmp.Compare(p.Column, o.Column),
		cmp.Compare(slices.Index(Severities, p.Severity), slices.Index(Severities, o.Severity)), cmp.Compare(p.Message, o.Message), cmp.Compare(p.Code, o.Code),
		cmp.Compare(p.Source, o.Source), cmp.Compare(p.EndLine, o.EndLine), cmp.Compare(p.EndColumn, o.EndColumn), cmp.Compare(p.Server, o.Server))
}

// Merge puts lists together. What the editor and a server of ours both say is
// there once, from the one that comes first.
func Merge(lists ...[]Problem) []Problem {
	type key struct {
		path         string
		line, column int
		message      string
	}
	seen := map[key]bool{}
	var out []Problem
	for _, list := range lists {
		for _, p := range list {
			k := key{p.Path, p.Line, p.Column, strings.TrimSpace(p.Message)}
			if !seen[k] {
				seen[k] = true
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, Problem.compare)
	return out
}

// span converts a range. Without the text, columns are the units of the wire.
func span(text *lsp.Document, enc lsp.Encoding, r lsp.Range) Span {
	column := func(p lsp.Position) int {
		if text == nil {
			return int(p.Character) + 1
		}
		offset := text.Offset(p, enc)
		start := text.Offset(lsp.Position{Line: p.Line}, enc)
		return offset - start + 1
	}
	return Span{int(r.Start.Line) + 1, column(r.Start), int(r.End.Line) + 1, column(r.End)}
}

// position converts a place in a text.
func position(text *lsp.Document, enc lsp.Encoding, line, column int) lsp.Position {
	start := text.Offset(lsp.Position{Line: uint32(max(line-1, 0))}, enc)
	end := start + len(text.Line(line-1))
	return text.Position(min(start+max(column-1, 0), end), enc)
}

// walk lists files below dir for which keep holds, at most limit, sorted.
func walk(ctx context.Context, files workspace.Walker, dir string, keep func(name string) bool, limit int) []string {
	found := make(chan string, 64)
	go func() {
		defer close(found)
		_ = files.Walk(ctx, workspace.WalkOptions{Dir: dir, Keep: func(name string, isDir bool) bool { return isDir || keep(name) }}, func(e *workspace.Entry) error {
			found <- strings.Clone(e.Path)
			return nil
		})
	}()
	var names []string
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names[:min(len(names), limit)]
}

// Files lists the files below dir that there is a language server for: those
// that differ from the disk first, then by name.
func Files(ctx context.Context, files workspace.Files, dir string) []string {
	const most = 20_000
	names := walk(ctx, files, dir, func(name string) bool { return kindOf(name) != nil }, most)
	over := map[string]bool{}
	for _, name := range workspace.Overlaid(files) {
		over[name] = true
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case over[a] == over[b]:
			return 0
		case over[a]:
			return -1
		}
		return 1
	})
	return names
}
