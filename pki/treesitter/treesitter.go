// Package treesitter finds the named parts of source files. Most languages are
// parsed with tree-sitter and a query of ours per language (queries/*.scm); Go
// with its own parser; prose and settings line by line. Built without cgo, it
// reads those of tree-sitter by their lines and braces.
//
// All of the cgo stays here and none of its types leaves. Memory of the C side
// is invisible to the garbage collector, so every parse makes its own parser,
// tree and cursor, copies what it needs and closes them before it returns.
package treesitter

import (
	"errors"
	"time"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// Why a file has no symbols.
var (
	ErrUnsupported = errors.New("language is not supported")
	ErrTooLarge    = errors.New("file is larger than 1 MiB")
	ErrMinified    = errors.New("file is minified or generated: its lines are too long")
	ErrTimeout     = errors.New("parsing took too long")
	ErrRefused     = errors.New("file is nested or broken beyond what its parser can bear")
)

const (
	maxSize    = 1 << 20
	maxSymbols = 20000

	maxReferences = 200_000
)

// Extract returns the symbols of a source in the order of their first bytes,
// outer ones first. lang is a name as Language returns it. Broken code yields
// what can be had. Besides the errors above there is none; with an error there
// are no symbols. Calls may run beside each other.
func Extract(lang string, src []byte) ([]pki.Symbol, error) {
	f, err := parseSource(lang, src, false)
	return f.Symbols, err
}

// Analyze returns the symbols of a source as Extract does, and what it imports
// and refers to.
func Analyze(lang string, src []byte) (pki.File, error) { return parseSource(lang, src, true) }

// parseSource is Analyze, or with all unset Extract.
func parseSource(lang string, src []byte, all bool) (pki.File, error) {
	if len(src) > maxSize {
		return pki.File{}, ErrTooLarge
	}
	switch lang {
	case "go":
		if all {
			return goAnalyze(src), nil
		}
		return pki.File{Symbols: goSymbols(src)}, nil
	case "markdown":
		return pki.File{Symbols: headings(src)}, nil
	case "yaml":
		return pki.File{Symbols: yamlKeys(src)}, nil
	case "toml":
		return pki.File{Symbols: tomlKeys(src)}, nil
	}
	g := grammarOf(lang)
	switch {
	case g == nil:
		return pki.File{}, ErrUnsupported
	case minified(src):
		return pki.File{}, ErrMinified
	case Parsers && !survivable(lang, src):
		if lang == "bash" {
			return finishNames(lang, src, shellFunctions(src), all), nil
		}
		return pki.File{}, ErrRefused
	}
	if w := walkOf(lang); Parsers && all && w != nil {
		return g.parse(src, timeFor(len(src)), w)
	}
	symbols, err := g.symbols(src, timeFor(len(src)))
	if err != nil {
		return pki.File{}, err
	}
	return finishNames(lang, src, symbols, all), nil
}

// symbols parses src and runs the query.
func (g *grammar) symbols(src []byte, limit time.Duration) ([]pki.Symbol, error) {
	f, err := g.parse(src, limit, nil)
	return f.Symbols, err
}

// finishNames adds the names to the symbols, if they are wanted.
func finishNames(lang string, src []byte, symbols []pki.Symbol, all bool) pki.File {
	if !all {
		return pki.File{Symbols: symbols}
	}
	return Names(lang, src, symbols)
}

// walk finds the names of a file, whose symbols are known, by its tree.
type walk func(root *node, src []byte, symbols []pki.Symbol) pki.File

// walkOf returns the walk of the languages that are followed through scopes.
func walkOf(lang string) walk {
	switch lang {
	case "javascript", "typescript", "tsx":
		return jsFile
	case "python":
		return pyFile
	}
	return nil
}

// Safe reports whether lang is parsed without C code: whatever the source,
// Extract then returns soon.
func Safe(lang string) bool { return !Parsers || withoutTree(lang) }

// withoutTree reports whether a language never had a parser of tree-sitter's.
func withoutTree(lang string) bool {
	switch lang {
	case "go", "markdown", "yaml", "toml":
		return true
	}
	return false
}

// timeFor is generous: a parse needs about 0.3 ms per KiB.
func timeFor(size int) time.Duration {
	return 500*time.Millisecond + time.Duration(size>>10)*time.Millisecond
}

// minified tells code that nobody wrote line by line. One long line alone, a
// table or an embedded image, is no reason.
func minified(src []byte) bool {
	const atLeast, average = 8 << 10, 400
	return len(src) > atLeast && len(src)/len(lineStarts(src)) > average
}
