package references

import (
	"cmp"
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
	return f.defined(ctx, files, func(data []byte) bool { return mentions(data, folded) }, func(other string) bool {
		return fold(other) == folded && other != name.last
	})
}

// Misspelt is Similar for names that differ from a name in few letters, the closest first.
func (f *Finder) Misspelt(ctx context.Context, files workspace.Files, symbol string) []Reference {
	name := fold(parseName(symbol).last)
	if len(name) < 4 || len(name) > maxMisspelt {
		return nil
	}
	var known sync.Map // words of files, and whether they are near
	near := func(word string) bool {
		if is, ok := known.Load(word); ok {
			return is.(bool)
		}
		is := slips(name, fold(word)) <= maxSlips(name)
		known.Store(word, is)
		return is
	}
	found := f.defined(ctx, files, func(data []byte) bool {
		return eachWord(data, func(word []byte) bool {
			return max(len(word)-len(name), len(name)-len(word)) <= maxSlips(name)+1 && near(string(word))
		})
	}, near)
	slices.SortStableFunc(found, func(a, b Reference) int {
		return cmp.Compare(slips(name, fold(a.Name)), slips(name, fold(b.Name)))
	})
	return found
}

// maxMisspelt is how long a name may be whose neighbours are looked for.
const maxMisspelt = 64

// maxSlips is how many letters of a name may be wrong.
func maxSlips(name string) int {
	if len(name) < 8 {
		return 1
	}
	return 2
}

// slips is how many letters have to be changed, left out, put in or exchanged with their
// neighbour to make b of a.
func slips(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		now[0] = i + 1
		for j := range len(b) {
			wrong := 1
			if a[i] == b[j] {
				wrong = 0
			}
			now[j+1] = min(last[j+1]+1, now[j]+1, last[j]+wrong)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// defined returns the definitions of the symbols that suit, one of each name, in the files that
// may have some.
func (f *Finder) defined(ctx context.Context, files workspace.Files, may func(data []byte) bool, suits func(name string) bool) []Reference {
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
		if err != nil || !may(data) {
			return ctx.Err()
		}
		lang := f.Language(e.Path, data)
		if !isCode(lang) {
			return ctx.Err()
		}
		facts := s.factsOf(e.Path, lang, data, false)
		for i := range facts.file.Symbols {
			sym := &facts.file.Symbols[i]
			if suits(sym.Name) {
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
	return eachWord(data, func(word []byte) bool { return len(word) >= len(folded) && folds(word, folded) })
}

// eachWord reports whether one of the words of data is such.
func eachWord(data []byte, is func(word []byte) bool) bool {
	for i := 0; i < len(data); {
		if !isWord(data[i]) {
			i++
			continue
		}
		from := i
		for i < len(data) && isWord(data[i]) {
			i++
		}
		if is(data[from:i]) {
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
