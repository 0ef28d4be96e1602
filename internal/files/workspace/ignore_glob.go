package workspace

import (
	"bytes"
	"slices"
	"strings"
)

// element is one element of a pattern, sorted into the class that is cheapest
// to compare.
type element struct {
	class elementClass
	text  string // what the class compares; of a globElem the pattern itself
}

type elementClass uint8

const (
	literalElem elementClass = iota // text
	suffixElem                      // *text
	prefixElem                      // text*
	anyElem                         // *
	doubleStar                      // **, in a path rule
	globElem                        // everything else
)

// compileElement returns false for a pattern that can match nothing.
func compileElement(p string) (element, bool) {
	if p == "" {
		return element{}, false
	}
	if strings.Trim(p, "*") == "" {
		return element{class: anyElem}, true
	}
	head := strings.TrimLeft(p, "*")
	if lit, ok := unescape(head); ok {
		if len(head) == len(p) {
			return element{literalElem, lit}, true
		}
		return element{suffixElem, lit}, true
	}
	if tail := strings.TrimRight(p, "*"); len(tail) < len(p) {
		if lit, ok := unescape(tail); ok {
			return element{prefixElem, lit}, true
		}
	}
	return element{globElem, p}, validGlob(p)
}

// unescape returns p without its backslashes if it has no other special
// characters.
func unescape(p string) (string, bool) {
	if !strings.ContainsAny(p, `*?[\`) {
		return p, true
	}
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			if i++; i == len(p) {
				return "", false
			}
		}
		b.WriteByte(p[i])
	}
	return b.String(), true
}

// match reports whether the element matches a whole name.
func (s *element) match(name []byte) bool {
	switch s.class {
	case literalElem:
		return string(name) == s.text
	case suffixElem:
		return len(name) >= len(s.text) && string(name[len(name)-len(s.text):]) == s.text
	case prefixElem:
		return len(name) >= len(s.text) && string(name[:len(s.text)]) == s.text
	case anyElem, doubleStar:
		return true
	}
	return matchGlob(s.text, name)
}

// nameIndex finds the last of the rules on names that matches.
type nameIndex struct {
	literals map[string][]int32
	ends     [256]uint8 // last byte of a suffix → index in suffixes + 1
	suffixes [][]nameRule
	others   []nameRule // of any class
}

type nameRule struct {
	element
	rule int32
}

func (x *nameIndex) add(seg element, rule int32) {
	switch seg.class {
	case literalElem:
		if x.literals == nil {
			x.literals = make(map[string][]int32)
		}
		x.literals[seg.text] = append(x.literals[seg.text], rule)
	case suffixElem:
		end := &x.ends[seg.text[len(seg.text)-1]]
		if *end == 0 {
			if len(x.suffixes) == 255 {
				x.others = append(x.others, nameRule{seg, rule})
				return
			}
			x.suffixes = append(x.suffixes, nil)
			*end = uint8(len(x.suffixes))
		}
		x.suffixes[*end-1] = append(x.suffixes[*end-1], nameRule{seg, rule})
	default:
		x.others = append(x.others, nameRule{seg, rule})
	}
}

// sort brings the last rules to the front, where the search begins.
func (x *nameIndex) sort() {
	for _, l := range x.literals {
		slices.Reverse(l)
	}
	for _, l := range x.suffixes {
		slices.Reverse(l)
	}
	slices.Reverse(x.others)
}

// last returns the index of the last rule that matches, or -1.
func (x *nameIndex) last(name []byte, dir bool, rules []rule) int32 {
	best := int32(-1)
	if x.literals != nil {
		for _, n := range x.literals[string(name)] {
			if dir || !rules[n].dirOnly {
				best = n
				break
			}
		}
	}
	if end := x.ends[name[len(name)-1]]; end != 0 {
		best = lastOf(x.suffixes[end-1], best, name, dir, rules)
	}
	return lastOf(x.others, best, name, dir, rules)
}

func lastOf(list []nameRule, best int32, name []byte, dir bool, rules []rule) int32 {
	for i := range list {
		r := &list[i]
		if r.rule <= best {
			break
		}
		if (dir || !rules[r.rule].dirOnly) && r.match(name) {
			return r.rule
		}
	}
	return best
}

// matchGlob matches a name without slashes against ?, *, [class] and \x, byte
// by byte as git does. Of several stars only the last one is ever retried,
// which is enough, and keeps the time within len(p)·len(name).
func matchGlob(p string, name []byte) bool {
	i, j := 0, 0
	starP, starN := -1, 0
	for j < len(name) {
		if i < len(p) {
			switch c := p[i]; c {
			case '*':
				i++
				if i == len(p) {
					return true
				}
				if j = nextFor(p[i], name, j); j < 0 {
					return false
				}
				starP, starN = i, j
				continue
			case '?':
				i++
				j++
				continue
			case '[':
				if n, ok := matchClass(p[i:], name[j]); ok {
					i += n
					j++
					continue
				}
			default:
				k := i
				if c == '\\' {
					k++
				}
				if k < len(p) && p[k] == name[j] {
					i = k + 1
					j++
					continue
				}
			}
		}
		if starP < 0 {
			return false
		}
		if starN = nextFor(p[starP], name, starN+1); starN < 0 {
			return false
		}
		i, j = starP, starN
	}
	return strings.Trim(p[i:], "*") == ""
}

// nextFor returns the first place from j on where what follows a star, which
// begins with c, may match, or -1.
func nextFor(c byte, name []byte, j int) int {
	switch c {
	case '?', '*', '[', '\\':
		return j
	}
	if k := bytes.IndexByte(name[j:], c); k >= 0 {
		return j + k
	}
	return -1
}

// validGlob reports whether no class is left open and no escape unfinished.
func validGlob(p string) bool {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; i == len(p) {
				return false
			}
		case '[':
			n := classLen(p[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// classLen returns the length of the character class that p begins with, or 0.
func classLen(p string) int {
	i := 1
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		i++
	}
	for first := true; i < len(p); first = false {
		switch {
		case p[i] == ']' && !first:
			return i + 1
		case p[i] == '\\':
			i += 2
		case strings.HasPrefix(p[i:], "[:"):
			n := strings.Index(p[i+2:], ":]")
			if n >= 0 && strings.IndexByte(p[i+2:i+2+n], ']') < 0 {
				i += n + 4
				continue
			}
			i++
		default:
			i++
		}
	}
	return 0
}

// matchClass matches one byte against the valid class that p begins with and
// returns the length of the class.
func matchClass(p string, c byte) (int, bool) {
	end := classLen(p) - 1
	i := 1
	negate := p[i] == '!' || p[i] == '^'
	if negate {
		i++
	}
	matched := false
	for i < end {
		if strings.HasPrefix(p[i:end], "[:") {
			if n := strings.Index(p[i+2:end], ":]"); n >= 0 && strings.IndexByte(p[i+2:i+2+n], ']') < 0 {
				in, known := namedClass(p[i+2:i+2+n], c)
				if !known {
					return end + 1, false // git: the pattern matches nothing
				}
				matched = matched || in
				i += n + 4
				continue
			}
		}
		lo := p[i]
		if lo == '\\' {
			i++
			lo = p[i]
		}
		i++
		hi := lo
		if i+1 < end && p[i] == '-' {
			i++
			hi = p[i]
			if hi == '\\' {
				i++
				hi = p[i]
			}
			i++
		}
		matched = matched || lo <= c && c <= hi
	}
	return end + 1, matched != negate
}

// namedClass reports whether c is in [:name:], and whether there is one.
func namedClass(name string, c byte) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return '!' <= c && c <= '~', true
	case "lower":
		return lower, true
	case "print":
		return ' ' <= c && c <= '~', true
	case "punct":
		return '!' <= c && c <= '~' && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}
