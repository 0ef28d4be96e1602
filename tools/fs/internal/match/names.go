package match

import "strings"

// otherNames looks at the words in which best differs from the block: a slip
// of the writer is fine, another name is not, for then the block belongs
// somewhere else. It returns the doubt in words, or nothing.
func (b *block) otherNames(t *Text, best region) string {
	first := true
	for j, i := range best.at {
		if b.keys[j] == 0 {
			continue
		}
		head := first
		first = false
		if i < 0 || b.keys[j] == key(t.Lines[i].Text) {
			continue
		}
		strict := head || b.solid < longBlock || declares(t.Lines[i].Text)
		was, is := words(b.lines[j]), words(t.Lines[i].Text)
		for n, w := range was {
			if has(is, w) || len(w) < 3 && !strict {
				continue
			}
			if len(w) >= 3 && containsWord(t.Body, w) {
				return "it differs in " + quote(w) + ", which occurs elsewhere"
			}
			if strict && !(len(was) == len(is) && slip(w, is[n])) {
				return "it differs in " + quote(w)
			}
		}
		if strict && len(was) != len(is) {
			return "a line has other words"
		}
	}
	return ""
}

func quote(s string) string { return "`" + s + "`" }

// words splits a line into names and numbers.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r < 0x80 && !isWord(byte(r)) })
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

func has(xs []string, x string) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}

func containsWord(body, w string) bool {
	for at := 0; ; {
		i := strings.Index(body[at:], w)
		if i < 0 {
			return false
		}
		at += i
		if (at == 0 || !isWord(body[at-1])) && (at+len(w) == len(body) || !isWord(body[at+len(w)])) {
			return true
		}
		at += len(w)
	}
}

// declares reports whether a line names something by a keyword that most
// languages use for it.
func declares(line string) bool {
	for _, w := range words(line) {
		switch w {
		case "func", "def", "class", "fn", "function", "struct", "interface", "enum", "trait", "impl", "module", "sub", "case", "when":
			return true
		}
	}
	return false
}

// slip reports whether a is b mistyped: one letter too much, too few, wrong or
// swapped with the next, inside a word. Digits and the ends of a word carry
// meaning (x1 and x2, get and set).
func slip(a, b string) bool {
	if len(a) < 4 || len(b) < 4 || a[0] != b[0] || a[len(a)-1] != b[len(b)-1] || digits(a) != digits(b) || strings.EqualFold(a, b) {
		return false
	}
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}
