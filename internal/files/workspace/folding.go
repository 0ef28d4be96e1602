package workspace

import (
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Folding says which spellings of a name lead to one file in a directory. With the
// zero Folding each is a file of its own.
type Folding struct {
	Case  bool // a.go and A.GO are one
	Forms bool // so are é as one character and as two
}

// Exact reports whether each spelling is a file of its own.
func (f Folding) Exact() bool { return f == Folding{} }

// Same reports whether two names are spellings of one.
func (f Folding) Same(a, b string) bool { return a == b || !f.Exact() && f.Key(a) == f.Key(b) }

// Key is what all spellings of a name have in common. It is for comparing; no file
// is called so.
func (f Folding) Key(name string) string {
	if f.Exact() {
		return name
	}
	if isASCII(name) {
		if f.Case {
			return strings.ToLower(name)
		}
		return name
	}
	if f.Forms {
		name = norm.NFD.String(name)
	}
	if f.Case {
		name = strings.Map(f.plain, name)
		if f.Forms { // who takes the forms for one folds letters to several, too
			name = several.Replace(name)
		}
	}
	if f.Forms {
		name = norm.NFC.String(name)
	}
	return name
}

// plain maps the cases of a letter to one. Windows has a table from letter to
// letter, in which nothing outside of ASCII becomes ASCII; the file systems that
// take the forms for one go by Unicode.
func (f Folding) plain(r rune) rune {
	if r < 0x80 {
		return unicode.ToLower(r)
	}
	if !f.Forms {
		if up := unicode.ToUpper(r); up >= 0x80 {
			return up
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Spelled returns name as it is called among names, which are those of a layer over
// files: where one of them, or a directory of one, is another spelling of it or of
// a directory of it, that spelling. What gone reports is a name of no file any more,
// and gives way to one that is. f is of the directory of name.
func Spelled(name string, names []string, gone func(name string) bool, f Folding) string {
	if f.Exact() || len(names) == 0 {
		return name
	}
	want := strings.Split(f.Key(name), "/")
	best, depth, here := name, 0, false
	for _, other := range names {
		have := strings.Split(f.Key(other), "/")
		n := 0
		for n < min(len(want), len(have)) && have[n] == want[n] {
			n++
		}
		whole := n == len(want) && len(have) == n && !gone(other)
		if n == 0 || n < depth || here || n == depth && !whole {
			continue
		}
		depth, here = n, whole
		best = path.Join(firstParts(other, n), path.Join(strings.Split(name, "/")[n:]...))
	}
	return best
}

// firstParts are the first n parts of a name.
func firstParts(name string, n int) string {
	return strings.Join(strings.Split(name, "/")[:n], "/")
}

// Respelled returns the new name of a file that is to be renamed to given, where
// that is another spelling of the name it has: names that differ in letter case
// alone resolve to one, and are two names all the same.
func Respelled(files Paths, from, given string) (string, bool) {
	dir, base := path.Dir(from), path.Base(strings.ReplaceAll(given, `\`, "/"))
	if base == path.Base(from) || !files.Folding(dir).Same(base, path.Base(from)) {
		return "", false
	}
	to := child(dir, base)
	return to, looksLikeName(to)
}

func looksLikeName(name string) bool { return validSegment(path.Base(name)) && name != "." }
