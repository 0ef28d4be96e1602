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
		if len(was) != len(is) {
			if strict || distance(b.bare[j], bare(t.Lines[i].Text)) > 2 {
				return "a line has other words"
			}
			continue
		}
		for n, w := range was {
			switch {
			case w == is[n]:
			case len(w) >= 3 && containsWord(t.Body, w):
				return "it differs in " + quote(w) + ", which occurs elsewhere"
			case strict && !slip(w, is[n]), !mistyped(w, is[n]) && distance(w, is[n]) > max(len(w)/3, min(2, len(w)-3)):
				return "it differs in " + quote(w)
			}
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

// slip reports whether a is b mistyped inside a word of some length. Digits,
// case and the ends of a word carry meaning (x1 and x2, get and set).
func slip(a, b string) bool {
	return len(a) >= 4 && len(b) >= 4 && a[0] == b[0] && a[len(a)-1] == b[len(b)-1] &&
		digits(a) == digits(b) && !strings.EqualFold(a, b) && mistyped(a, b)
}

// mistyped reports whether one letter is too much, too few, wrong or swapped
// with the next.
func mistyped(a, b string) bool {
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
