package scan

import (
	"bytes"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// pythonUnits goes by indentation. Lines inside of brackets and long strings
// don't count.
func pythonUnits(src []byte, out []Unit) []Unit {
	type open struct{ unit, indent int }
	var stack []open
	lastEnd := 0    // of the last line with code
	brackets := 0   // open ones
	decorated := -1 // where the decorators of the next definition begin
	closeTo := func(indent int) {
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			out[stack[len(stack)-1].unit].End = lastEnd
			stack = stack[:len(stack)-1]
		}
	}
	for i := 0; i < len(src); {
		end, next := line(src, i)
		indent := 0
		at := i
	indentation:
		for ; at < end; at++ {
			switch src[at] {
			case ' ':
				indent++
			case '\t':
				indent += 8 - indent%8
			default:
				break indentation
			}
		}
		if at == end || src[at] == '#' {
			i = next
			continue
		}
		if brackets == 0 {
			closeTo(indent)
			parent := -1
			if len(stack) > 0 {
				parent = stack[len(stack)-1].unit
			}
			if src[at] == '@' {
				if decorated < 0 {
					decorated = at
				}
			} else {
				u, ok := pythonUnit(src, at, end, indent, parent, out)
				if ok && len(out) < MaxUnits && len(stack) < maxDepth {
					u.Doc = commentAbove(src, i, "#")
					if decorated >= 0 {
						u.Start = decorated
					}
					out = append(out, u)
					stack = append(stack, open{len(out) - 1, indent})
				}
				decorated = -1
			}
		}
		// Over the line: strings and brackets.
		var stop int
		if brackets, stop = pythonLine(src, at, end, brackets); stop > end {
			end, next = line(src, min(stop, len(src)-1))
			if stop >= len(src) {
				end, next = len(src), len(src)
			}
		}
		lastEnd = end
		i = max(next, i+1)
	}
	closeTo(0)
	for k := range out {
		pythonHeader(src, &out[k])
	}
	return out
}

func pythonUnit(src []byte, at, end, indent, parent int, out []Unit) (Unit, bool) {
	u := Unit{Start: at, Body: end, End: end, Parent: parent}
	word := wordAt(src, at, end)
	switch word.Of(src) {
	case "async":
		if d := wordAt(src, word.End, end); d.Of(src) == "def" {
			u.Name = wordAt(src, d.End, end)
		}
		u.Kind = pki.Function
	case "def":
		u.Name, u.Kind = wordAt(src, word.End, end), pki.Function
	case "class":
		u.Name, u.Kind = wordAt(src, word.End, end), pki.Class
	default:
		if parent >= 0 || indent > 0 || word.Len() == 0 || !assigned(src[word.End:end]) {
			return u, false
		}
		u.Name, u.Kind = word, pki.Variable
		if string(bytes.ToUpper(src[word.Start:word.End])) == word.Of(src) {
			u.Kind = pki.Constant
		}
	}
	if u.Kind == pki.Function && parent >= 0 && out[parent].Kind == pki.Class {
		u.Kind = pki.Method
	}
	return u, u.Name.Len() > 0
}

// assigned reports whether what follows a name gives it a value.
func assigned(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t")
	if len(rest) > 1 && rest[0] == ':' {
		return true
	}
	return len(rest) > 1 && rest[0] == '=' && rest[1] != '='
}

// pythonLine goes over the rest of a line, and on to the end of a long string
// that begins on it.
func pythonLine(src []byte, i, end, brackets int) (open, stop int) {
	for i < end {
		switch c := src[i]; c {
		case '#':
			return brackets, end
		case '(', '[', '{':
			brackets++
		case ')', ']', '}':
			brackets = max(0, brackets-1)
		case '\\':
			if i++; i == end { // the line goes on
				i, end = lineBelow(src, end)
				continue
			}
		case '"', '\'':
			if i+2 < len(src) && src[i+1] == c && src[i+2] == c {
				i += 3
				for {
					n := bytes.IndexByte(src[i:], c)
					if n < 0 {
						return brackets, len(src)
					}
					i += n
					if i+2 < len(src) && src[i+1] == c && src[i+2] == c && src[i-1] != '\\' {
						i += 3
						break
					}
					if i++; i >= len(src) {
						return brackets, len(src)
					}
				}
				if i > end {
					end, _ = line(src, min(i, len(src)-1))
				}
				continue
			}
			for i++; i < end && src[i] != c; i++ {
				if src[i] != '\\' {
					continue
				}
				if i++; i == end {
					i, end = lineBelow(src, end)
					i--
				}
			}
		}
		i++
	}
	return brackets, max(end, min(i, len(src)))
}

// lineBelow is where the line begins and ends that follows the one that ends at
// end.
func lineBelow(src []byte, end int) (start, stop int) {
	_, start = line(src, min(end, len(src)-1))
	if start == len(src) {
		return start, start
	}
	stop, _ = line(src, start)
	return start, stop
}

// pythonHeader finds where the header of a unit ends and its docstring.
func pythonHeader(src []byte, u *Unit) {
	if u.Kind == pki.Variable || u.Kind == pki.Constant {
		return
	}
	depth := 0
	i := u.Name.End
	for ; i < u.End; i++ {
		switch src[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if src[i] == ':' && depth <= 0 {
			i++
			break
		}
	}
	u.Body = min(i, u.End)
	rest := bytes.TrimLeft(src[u.Body:u.End], " \t\r\n")
	at := u.End - len(rest)
	for len(rest) > 0 && (rest[0] == 'r' || rest[0] == 'R' || rest[0] == 'u' || rest[0] == 'b') {
		rest = rest[1:]
	}
	for _, q := range []string{`"""`, "'''"} {
		if bytes.HasPrefix(rest, []byte(q)) {
			if n := bytes.Index(rest[3:], []byte(q)); n >= 0 {
				u.Doc = Range{at, u.End - len(rest) + n + 6}
			}
		}
	}
}
