package imports

import (
	"path"
	"slices"
	"strings"
)

// Word is the last word of an import as the file from has it: what it names is
// mostly called so, see Words.
func Word(lang, from, name string) string {
	switch Family(lang) {
	case "javascript":
		if strings.HasPrefix(name, ".") {
			name = path.Join(path.Dir(from), name)
		}
		return jsWord(name)
	case "python":
		if rest := strings.TrimLeft(name, "."); rest != "" {
			return rest[strings.LastIndexByte(rest, '.')+1:]
		}
		dir := path.Dir(from)
		for range len(name) - 1 {
			dir = path.Dir(dir)
		}
		return path.Base(dir)
	}
	return last(name)
}

// last is the last part of a path, with the one before if it is a version.
func last(name string) string {
	base := path.Base(name)
	if len(base) > 1 && base[0] == 'v' && base[1] >= '0' && base[1] <= '9' {
		return path.Join(path.Base(path.Dir(name)), base)
	}
	return base
}

// Words are the last words of the imports that may name what Resolve has
// returned.
func (r *Resolver) Words(lang, found string) []string {
	var words []string
	switch Family(lang) {
	case "go":
		words = append(words, last(found))
		for _, m := range r.modules {
			rest, below := strings.CutPrefix(found, m.Dir+"/")
			if m.Dir == "." {
				rest, below = found, true
			}
			if found == m.Dir {
				words = append(words, last(m.Path))
			} else if below {
				words = append(words, last(path.Join(m.Path, rest)))
			}
		}
	case "javascript":
		words = append(words, jsWord(found))
		for _, p := range r.packages {
			if p.Dir == "." || strings.HasPrefix(found, p.Dir+"/") {
				words = append(words, jsWord(p.Path))
			}
		}
	case "python":
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(found), ".pyi"), ".py")
		if stem == "__init__" {
			stem = path.Base(path.Dir(found))
		}
		words = append(words, stem)
	default:
		words = append(words, path.Base(found))
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// jsWord is the last word of a path to a module, without what may be missing.
func jsWord(name string) string {
	base := path.Base(name)
	for _, e := range [...]string{".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"} {
		if stem, ok := strings.CutSuffix(base, e); ok {
			base = stem
			break
		}
	}
	if base == "index" {
		return path.Base(path.Dir(name))
	}
	return base
}
