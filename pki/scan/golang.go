package scan

import (
	"bytes"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// goUnits relies on what gofmt does: declarations begin in the first column
// and so does the brace that ends them.
func goUnits(src []byte, out []Unit) []Unit {
	for i := 0; i < len(src) && len(out) < MaxUnits; {
		end, next := line(src, i)
		switch src[i] {
		case 'f':
			if bytes.HasPrefix(src[i:end], []byte("func ")) {
				var u Unit
				u, next = goFunc(src, i, end, next)
				out = append(out, u)
			}
		case 't', 'v', 'c':
			for _, d := range [...]struct {
				word string
				kind pki.Kind
			}{{"type ", pki.Type}, {"var ", pki.Variable}, {"const ", pki.Constant}} {
				if bytes.HasPrefix(src[i:end], []byte(d.word)) {
					out, next = goDecl(src, i, i+len(d.word), end, next, d.kind, out)
				}
			}
		case '/':
			if bytes.HasPrefix(src[i:], []byte("/*")) {
				if n := bytes.Index(src[i+2:], []byte("*/")); n >= 0 && i+2+n > end {
					next = i + n + 4
				}
			}
		default:
			if goRaw(src[i:end], false) {
				next = behindBackquote(src, end)
			}
		}
		i = next
	}
	return out
}

func behindBackquote(src []byte, i int) int {
	if n := bytes.IndexByte(src[i:], '`'); n >= 0 {
		return i + n + 1
	}
	return len(src)
}

// goEnd returns where a declaration ends that began at start and whose first
// line ends at end.
func goEnd(src []byte, start, end, next int, closing byte) int {
	text := bytes.TrimRight(src[start:end], " \t")
	opening := byte('{')
	if closing == ')' {
		opening = '('
	}
	raw := goRaw(text, false)
	plain := false // it ends with the line after which nothing is open
	if c := text[len(text)-1]; c != opening && c != '(' && c != ',' {
		plain = bytes.Count(text, []byte{opening}) <= bytes.Count(text, []byte{closing})
		if plain && !raw && !goGoesOn(text) {
			return end
		}
	}
	for i := next; i < len(src); {
		e, n := line(src, i)
		was := raw
		raw = goRaw(src[i:e], raw)
		switch {
		case plain:
			if !raw && !goGoesOn(src[i:e]) {
				return e
			}
		case was:
		case src[i] == closing:
			if !raw {
				return e
			}
			plain = true // a raw string begins behind the brace
		case i+5 < len(src) && (src[i] == 'f' && bytes.HasPrefix(src[i:], []byte("func ")) || src[i] == 't' && bytes.HasPrefix(src[i:], []byte("type "))):
			return i - 1 // something is missing
		}
		i = n
	}
	return len(src)
}

// goGoesOn reports whether a line ends in the middle of an expression.
func goGoesOn(line []byte) bool {
	line = bytes.TrimRight(line, " \t")
	return len(line) > 0 && bytes.IndexByte([]byte("+-*/|&=,(.["), line[len(line)-1]) >= 0
}

// goRaw reports whether a raw string is open at the end of a line; in says
// whether one is at its beginning.
func goRaw(line []byte, in bool) bool {
	if bytes.IndexByte(line, '`') < 0 {
		return in // nearly every line
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '`':
			in = !in
		case in:
		case c == '/' && i+1 < len(line) && line[i+1] == '/':
			return false
		case c == '/' && i+1 < len(line) && line[i+1] == '*':
			n := bytes.Index(line[i+2:], []byte("*/"))
			if n < 0 {
				return false
			}
			i += n + 3
		case c == '"' || c == '\'':
			for i++; i < len(line) && line[i] != c; i++ {
				if line[i] == '\\' {
					i++
				}
			}
		}
	}
	return in
}

func goFunc(src []byte, start, end, next int) (Unit, int) {
	u := Unit{Kind: pki.Function, Start: start, Parent: -1, Doc: commentAbove(src, start, "//")}
	i := start + len("func ")
	if i < end && src[i] == '(' {
		u.Kind = pki.Method
		n := bytes.IndexByte(src[i:end], ')')
		if n > 0 {
			u.Owner = receiver(src, i+1, i+n)
			i += n + 1
		}
	}
	u.Name = wordAt(src, i, end)
	u.End = goEnd(src, start, end, next, '}')
	u.Body = u.End
	if u.End > end {
		// The header may go on for lines: up to the brace that ends one.
		for at, e, n := start, end, next; at < u.End; e, n = line(src, at) {
			if text := bytes.TrimRight(src[at:e], " \t"); len(text) > 0 && text[len(text)-1] == '{' {
				u.Body = e
				break
			}
			at = n
		}
	} else if n := bytes.IndexByte(src[start:end], '{'); n >= 0 {
		u.Body = start + n
	}
	_, next = line(src, min(u.End, len(src)-1))
	return u, next
}

// receiver returns the name of the type in (x *T[K]).
func receiver(src []byte, i, end int) Range {
	if n := bytes.IndexByte(src[i:end], '['); n >= 0 {
		end = i + n
	}
	for end > i && !isWord(src[end-1]) {
		end--
	}
	j := end
	for j > i && isWord(src[j-1]) {
		j--
	}
	return Range{j, end}
}

func goDecl(src []byte, start, at, end, next int, kind pki.Kind, out []Unit) ([]Unit, int) {
	if at < end && src[at] == '(' {
		stop := goEnd(src, start, end, next, ')')
		out = goGroup(src, next, stop, kind, out)
		_, next = line(src, min(stop, len(src)-1))
		return out, next
	}
	u := Unit{Kind: kind, Start: start, Name: wordAt(src, at, end), Parent: -1, Doc: commentAbove(src, start, "//")}
	u.End = goEnd(src, start, end, next, '}')
	u.Body = min(end, u.End)
	u.Kind = goKind(src, u)
	_, next = line(src, min(u.End, len(src)-1))
	if u.Name.Len() == 0 || u.Name.Of(src) == "_" {
		return out, next
	}
	return append(out, u), next
}

func goKind(src []byte, u Unit) pki.Kind {
	if u.Kind == pki.Type {
		switch head := src[u.Name.End:u.Body]; {
		case bytes.Contains(head, []byte(" struct")):
			return pki.Struct
		case bytes.Contains(head, []byte(" interface")):
			return pki.Interface
		}
	}
	return u.Kind
}

// goGroup takes the members of a group: each begins behind one tab.
func goGroup(src []byte, i, stop int, kind pki.Kind, out []Unit) []Unit {
	for i < stop && len(out) < MaxUnits {
		end, next := line(src, i)
		if src[i] != '\t' || i+1 >= end || !isWord(src[i+1]) {
			i = next
			continue
		}
		u := Unit{Kind: kind, Start: i + 1, Name: wordAt(src, i+1, end), Parent: -1, Doc: commentAbove(src, i, "//"), Body: end, End: end}
		raw := goRaw(src[i:end], false)
		for j := next; j < stop; {
			e, n := line(src, j)
			if raw {
				raw = goRaw(src[j:e], true)
				u.End, next, j = e, n, n
				continue
			}
			raw = goRaw(src[j:e], false)
			if j < e && src[j] == '\t' && j+1 < e && src[j+1] != '\t' {
				if src[j+1] == '}' || src[j+1] == ')' {
					u.End = e
					next = n
				}
				break
			}
			if j < e && src[j] != '\t' {
				break
			}
			u.End, next = e, n
			j = n
		}
		u.Kind = goKind(src, u)
		if u.Name.Of(src) != "_" {
			out = append(out, u)
		}
		i = next
	}
	return out
}
