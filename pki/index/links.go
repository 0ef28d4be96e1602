package index

import (
	"bytes"
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/imports"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// A segment keeps the paths that its files import as they are written, and the
// last word of each as a term. What they lead to is found out when a walk comes
// to a file: forwards by looking the paths up, backwards by looking up what
// those files import that have the right word.

const (
	maxLinked    = 60   // files of a walk whose imports are looked at
	maxImports   = 200  // of a file
	maxImporters = 2000 // a word that more files import says nothing about one of them
	maxAsked     = 100  // of them that are looked at
	maxTied      = 10   // of them that are edges
)

// links finds what imports tie to the files of one answer.
type links struct {
	tree
	resolver *imports.Resolver    // made when it is needed
	known    map[rank.Ref]*linked // by the unit that stands for the file
}

// linked are the files that imports tie to one.
type linked struct{ imports, importers []link }

// link is one of them.
type link struct {
	rank.Ref
	word   string // by which it may be known in the source
	weight float32
}

func (x *Index) linksOf(view workspace.Files, snap snapshot) *links {
	return &links{tree: x.treeOf(view, snap), known: map[rank.Ref]*linked{}}
}

// of returns what imports tie to a unit of that source. To one that is not the
// file itself they say less, unless the source has the word.
func (l *links) of(r rank.Ref, text []byte) []rank.Edge {
	p := l.snap.parts[r.Part]
	file := p.Units[r.Unit].File
	whole := rank.Ref{Part: r.Part, Unit: p.Files[file].First}
	tied, ok := l.known[whole]
	if !ok {
		if len(l.known) == maxLinked {
			return nil
		}
		tied = l.tied(r.Part, file)
		l.known[whole] = tied
	}
	out := make([]rank.Edge, 0, len(tied.imports)+len(tied.importers))
	for _, i := range tied.imports {
		e := rank.Edge{To: i.Ref, Relation: rank.Imports, Weight: i.weight}
		if r != whole && !hasWord(text, i.word) {
			e.Weight /= 2
		}
		out = append(out, e)
	}
	for _, i := range tied.importers {
		e := rank.Edge{To: i.Ref, Relation: rank.ImportedBy, Weight: i.weight}
		if r != whole {
			e.Weight /= 2
		}
		out = append(out, e)
	}
	return out
}

// hasWord reports whether a text has a word, and not only as a part of others.
func hasWord(text []byte, word string) bool {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(word))
		if i < 0 || word == "" {
			return false
		}
		begin := from + i
		from = begin + len(word)
		if (begin == 0 || terms.Classes[text[begin-1]] == terms.Other) && (from == len(text) || terms.Classes[text[from]] == terms.Other) {
			return true
		}
	}
}

// tied looks for what a file imports and for what imports it.
func (l *links) tied(part, file uint32) *linked {
	seg := l.snap.parts[part].Segment
	name := seg.Files[file].Path
	lang := l.x.o.Sources.Language(name, nil)
	t := new(linked)
	if imports.Family(lang) == "" {
		return t
	}
	if l.resolver == nil {
		l.resolver = l.tree.resolver()
	}
	n := 0
	seg.Imports(file, func(written string) {
		if n++; n > maxImports {
			return
		}
		found := l.resolver.Resolve(lang, name, written)
		if lang == "go" && found != "" {
			found = l.face(found)
		}
		at, to, ok := l.find(found)
		if !ok || found == name {
			return
		}
		ref := rank.Ref{Part: at, Unit: l.snap.parts[at].Files[to].First}
		if slices.ContainsFunc(t.imports, func(i link) bool { return i.Ref == ref }) {
			return
		}
		// What is near says more about a file than what everybody imports.
		near := float32(shared(name, found)) / float32(max(1, strings.Count(name, "/")))
		t.imports = append(t.imports, link{ref, path.Base(imports.Word(lang, name, written)), 0.2 + 0.5*near})
	})
	t.importers = l.importers(lang, name)
	return t
}

// importer is a file that may import another one.
type importer struct {
	part, file uint32
	path       string
	test       bool
	near       int // directories that both are in
}

// importers are the files that import a file or the package that it belongs to:
// no tests first, and the nearest.
func (l *links) importers(lang, name string) []link {
	target := name
	if lang == "go" {
		if target, _ = dirOf(name); !isGo(name) {
			return nil // nobody can
		}
	}
	var list []importer
	words := l.resolver.Words(lang, target)
	for _, word := range words {
		if list = l.having(list, word, name); len(list) > maxImporters {
			return nil
		}
	}
	slices.SortFunc(list, func(a, b importer) int {
		if a.test != b.test {
			if b.test {
				return -1
			}
			return 1
		}
		return cmp.Or(b.near-a.near, strings.Compare(a.path, b.path))
	})
	list = slices.CompactFunc(list, func(a, b importer) bool { return a.path == b.path })
	weight := 0.7 / (1 + float32(math.Log10(float64(max(1, len(list)))))) // one of many says little
	var out []link
	for _, i := range list[:min(len(list), maxAsked)] {
		if len(out) == maxTied {
			break
		}
		seg := l.snap.parts[i.part].Segment
		if !l.reaches(seg, i, words, target) {
			continue
		}
		e := link{Ref: rank.Ref{Part: i.part, Unit: seg.Files[i.file].First}, weight: weight}
		if i.test {
			e.weight *= 0.7
		}
		out = append(out, e)
	}
	return out
}

// having appends the files but name that import something with that last word.
func (l *links) having(list []importer, word, name string) []importer {
	for part, p := range l.snap.parts {
		places, ok := p.Postings(terms.Module(word))
		if !ok {
			continue
		}
		for at := places.Cursor(); at.Next() && len(list) <= maxImporters; {
			file := p.Units[at.Unit].File
			f := &p.Files[file]
			if f.First != at.Unit || p.Dead != nil && p.Dead(file) || f.Path == name {
				continue
			}
			list = append(list, importer{uint32(part), file, f.Path, f.Flags&segment.Test != 0, shared(f.Path, name)})
		}
	}
	return list
}

// shared is how many directories two names have in common.
func shared(a, b string) (n int) {
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n++
		}
	}
	return n
}

// reaches reports whether one of a file's imports with such a last word leads to
// a target.
func (l *links) reaches(seg *segment.Segment, i importer, words []string, target string) (does bool) {
	lang := l.x.o.Sources.Language(i.path, nil)
	seg.Imports(i.file, func(written string) {
		does = does || slices.Contains(words, imports.Word(lang, i.path, written)) && l.resolver.Resolve(lang, i.path, written) == target
	})
	return does
}
