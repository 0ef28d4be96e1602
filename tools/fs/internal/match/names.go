package match

import "strings"

// otherNames looks at the words in which best differs from the block: a slip
// of the writer is fine, another name is not, for then the block belongs
// somewhere else. It returns the doubt in words, or nothing.
func (b *block) otherNames(t *Text, best region) string {
	seen := map[[2]string]bool{}
	head := -1
	for j, i := range best.at {
		if b.keys[j] == 0 {
			continue
		}
		if head < 0 {
			head = j
		}
		if i < 0 || b.keys[j] == t.keys[i] {
			continue
		}
		// Where a name is declared, and in a short block, less is forgiven.
		same := anySlip
		switch {
		case b.solid < longBlock, j == head && declares(t.Lines[i].Text):
			same = innerSlip
		case j == head, declares(t.Lines[i].Text):
			same = oneSlip
		}
		was, is := words(b.lines[j]), words(t.Lines[i].Text)
		if len(was) != len(is) {
			if b.solid < longBlock || distance(b.bare[j], bare(t.Lines[i].Text)) > 2 {
				return "a line has other words"
			}
			continue
		}
		for n, w := range was {
			if w == is[n] {
				continue
			}
			pair := [2]string{w, is[n]}
			switch {
			case len(w) >= 3 && containsWord(t.Body, w):
				return "it differs in " + quote(w) + ", which occurs elsewhere"
			case seen[pair], !same(w, is[n]):
				return "it differs in " + quote(w)
			}
			seen[pair] = true
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

// declares reports whether a line begins with a keyword by which most
// languages name something.
func declares(line string) bool {
	ws := words(line)
	for _, w := range ws[:min(3, len(ws))] {
		switch w {
		case "func", "def", "class", "fn", "function", "struct", "interface", "enum", "trait", "impl", "module", "sub":
			return true
		}
	}
	return false
}

// innerSlip reports whether a is b with one slip inside a word of some length.
// Digits, case and the ends of a word carry meaning (x1 and x2, get and set).
func innerSlip(a, b string) bool {
	return len(a) >= 4 && len(b) >= 4 && a[0] == b[0] && a[len(a)-1] == b[len(b)-1] &&
		!strings.EqualFold(a, b) && oneSlip(a, b)
}

// oneSlip reports whether one letter is too much, too few, wrong or swapped
// with the next.
func oneSlip(a, b string) bool {
	if digits(a) != digits(b) {
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

// anySlip reports whether two words are near enough to be the same.
func anySlip(a, b string) bool { return distance(a, b) <= max(2, len(b)/3) }

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}
