package references

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Similar returns the definitions of symbols whose names differ from a name in
// upper and lower case or in underscores alone: one of each name, those that are
// defined first by the order of paths. It returns what it has when ctx ends.
func (f *Finder) Similar(ctx context.Context, files workspace.Files, symbol string) []Reference {
	name := parseName(symbol)
	folded := fold(name.last)
	if folded == "" {
		return nil
	}
	s := newSearch(ctx, f, files)
	opts := workspace.WalkOptions{Workers: runtime.GOMAXPROCS(0)}
	bufs := make([][]byte, opts.Workers)
	var mu sync.Mutex
	var found []Reference
	_ = files.Walk(ctx, opts, func(e *workspace.Entry) error {
		if f.Language(e.Path, nil) == "" {
			return ctx.Err()
		}
		data, err := e.Read(bufs[e.Worker])
		if cap(data) > cap(bufs[e.Worker]) {
			bufs[e.Worker] = data
		}
		if err != nil || !mentions(data, folded) {
			return ctx.Err()
		}
		lang := f.Language(e.Path, data)
		if !isCode(lang) {
			return ctx.Err()
		}
		facts := s.factsOf(e.Path, lang, data, false)
		for i := range facts.file.Symbols {
			sym := &facts.file.Symbols[i]
			if fold(sym.Name) == folded && sym.Name != name.last {
				mu.Lock()
				found = append(found, Reference{Path: e.Path, Line: facts.lineOf(sym), Column: facts.columnOf(sym), Kind: string(sym.Kind), Name: sym.Name})
				mu.Unlock()
			}
		}
		return ctx.Err()
	})
	sortReferences(found)
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(p Reference) bool {
		again := seen[p.Name]
		seen[p.Name] = true
		return again
	})
}

// fold is a name in lower case without underscores.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// mentions reports whether data has a word that folds to folded.
func mentions(data []byte, folded string) bool {
	for i := 0; i < len(data); {
		if !isWord(data[i]) {
			i++
			continue
		}
		from := i
		for i < len(data) && isWord(data[i]) {
			i++
		}
		if i-from >= len(folded) && folds(data[from:i], folded) {
			return true
		}
	}
	return false
}

func folds(word []byte, folded string) bool {
	for len(word) > 0 {
		r, n := utf8.DecodeRune(word)
		if word = word[n:]; r == '_' {
			continue
		}
		want, m := utf8.DecodeRuneInString(folded)
		if m == 0 || unicode.ToLower(r) != want {
			return false
		}
		folded = folded[m:]
	}
	return folded == ""
}
