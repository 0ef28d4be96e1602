// Package references finds where a symbol is defined, imported and used, over
// a view of the files. Go, TypeScript, JavaScript and Python are followed
// through scopes, imports and, as far as syntax tells them, types; in other
// languages a name is a name.
package references

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
)

// Finder finds references. Its functions are called from several goroutines.
type Finder struct {
	// Language names the language of a file, "" if it is of no interest.
	Language func(path string, src []byte) string
	// Analyze returns the facts of a source.
	Analyze func(ctx context.Context, lang string, src []byte) (pki.File, error)
	// Quick, when set, returns the names of a source in a language that is not
	// followed, and roughly its symbols, without parsing it: most files that
	// use a name don't define it.
	Quick func(lang string, src []byte) pki.File
	// Narrow, when set, returns the names of the files that may have one of the
	// words, and of those for which also is true; nil stands for all files.
	Narrow func(ctx context.Context, files workspace.Files, words []string, also func(name string) bool) ([]string, error)
}

// Query asks for a symbol.
type Query struct {
	Symbol string // a name, with or without what it belongs to: Name, pkg.Name, Type.Method
	Path   string // a file or directory where it is defined or used; "" for anywhere
	Names  bool   // compare names alone
}

// Reference is where a symbol is used or defined.
type Reference struct {
	Path         string
	Line, Column int    // from one; the column counts bytes
	Text         string // the line
	Kind         string // of a definition a pki.Kind, else a pki.ReferenceKind
	Name         string // of a definition its qualified name, else the symbol around
	ByName       bool   // that it is this symbol is only likely: the name is the same
}

// Result is what was found, in the order of paths and lines.
type Result struct {
	Definitions []Reference
	Imports     []Reference
	Uses        []Reference
	ByName      []string // languages in which only names were compared, sorted
	Files       int      // that have the name and were looked into
	Failed      int      // of them, where names are all that could be had
	Partial     bool     // time ran out
}

// ErrNoSymbol means that nothing in the view has the name.
var ErrNoSymbol = errors.New("no file has this name")

// ErrElsewhere means that the symbol is neither defined nor used at the path.
// The result has its definitions.
var ErrElsewhere = errors.New("the symbol is neither defined nor used there")

// Find answers a query. The result is the same on every run. When the context
// ends early, what was found until then is returned as partial, unless it was
// cancelled.
func (f *Finder) Find(ctx context.Context, files workspace.Files, q Query) (*Result, error) {
	name := parseName(q.Symbol)
	if name.last == "" {
		return nil, ErrNoSymbol
	}
	s := newSearch(ctx, f, files)
	if err := s.gather(name.last); err != nil {
		return nil, err
	}
	targets := s.definitions(name)
	all := targets
	if q.Path != "" && len(targets) > 0 {
		if targets = s.at(targets, name.last, q.Path); len(targets) == 0 {
			return &Result{Definitions: definedAt(all), Files: len(s.hits)}, ErrElsewhere
		}
	}
	if err := s.follow(targets); err != nil {
		return nil, err
	}
	r := s.uses(targets, name)
	r.Definitions = definedAt(targets)
	if len(r.Definitions)+len(r.Imports)+len(r.Uses) == 0 {
		return nil, ErrNoSymbol
	}
	return r, nil
}

// symbolName is a symbol as a caller wrote it.
type symbolName struct {
	last   string
	before []string // what it belongs to, outermost first
}

func parseName(text string) symbolName {
	text = strings.NewReplacer("::", ".", "#", ".", "->", ".", `\`, ".", "/", ".", "()", "", "*", "", "&", "").Replace(strings.TrimSpace(text))
	var parts []string
	for part := range strings.SplitSeq(text, ".") {
		if part = strings.Trim(part, " ()"); part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return symbolName{}
	}
	return symbolName{parts[len(parts)-1], parts[:len(parts)-1]}
}

// fitting is how well what was written before a name fits what is around it.
type fitting int

const (
	whole   fitting = iota // it is all
	tail                   // it is the end
	inOrder                // it is there in this order
)

// fits reports whether a symbol may be meant. around is what it belongs to, its
// file or package included.
func (n symbolName) fits(around []string, way fitting) bool {
	switch way {
	case whole:
		return slices.Equal(around, n.before)
	case tail:
		return len(around) >= len(n.before) && slices.Equal(around[len(around)-len(n.before):], n.before)
	}
	i := 0
	for _, part := range around {
		if i < len(n.before) && part == n.before[i] {
			i++
		}
	}
	return i == len(n.before)
}

// target is a symbol that is looked for.
type target struct {
	module *module
	name   string // qualified
}

// definition is a place that defines a target.
type definition struct {
	target
	from   *facts
	symbol *pki.Symbol
}

// definitions returns the symbols that a name may mean.
func (s *search) definitions(name symbolName) []definition {
	var all []definition
	for _, f := range s.hits {
		for i := range f.file.Symbols {
			sym := &f.file.Symbols[i]
			if sym.Name != name.last || sym.Kind == pki.Extension {
				continue
			}
			m := s.moduleOf(f)
			all = append(all, definition{target{m, sym.Qualified}, f, sym})
		}
	}
	for _, way := range []fitting{whole, tail, inOrder} {
		var fit []definition
		for _, d := range all {
			if slices.ContainsFunc(d.module.names(d.from), func(names []string) bool {
				return name.fits(append(slices.Clone(names), split(d.symbol.Container)...), way)
			}) {
				fit = append(fit, d)
			}
		}
		if len(fit) > 0 {
			return fit
		}
	}
	return nil
}

func split(qualified string) []string {
	if qualified == "" {
		return nil
	}
	return strings.Split(qualified, ".")
}

// at keeps the definitions that are at a path or that something there refers to.
func (s *search) at(all []definition, name, path string) []definition {
	inside := func(file string) bool { return path == "." || file == path || strings.HasPrefix(file, path+"/") }
	var keep []definition
	for _, d := range all {
		if inside(d.from.path) {
			keep = append(keep, d)
		}
	}
	if len(keep) > 0 {
		return keep
	}
	for _, d := range all {
		for _, f := range s.hits {
			if inside(f.path) && slices.ContainsFunc(f.refs, func(r pki.Reference) bool {
				return (r.Name == name || f.renames()) && s.matches(f, &r, d.target) == yes
			}) {
				keep = append(keep, d)
				break
			}
		}
	}
	return keep
}

func definedAt(list []definition) []Reference {
	var out []Reference
	for _, d := range list {
		out = append(out, Reference{
			Path: d.from.path, Line: d.from.lineOf(d.symbol), Column: d.from.columnOf(d.symbol),
			Text: d.from.text[d.from.lineOf(d.symbol)], Kind: string(d.symbol.Kind), Name: d.symbol.Qualified,
		})
	}
	sortReferences(out)
	return out
}
