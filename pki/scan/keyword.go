package scan

import (
	"bytes"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// keywordUnits finds definitions whose end stands as far in as their
// beginning: end in Ruby and Lua, a brace in shell scripts.
func keywordUnits(lang string, src []byte, out []Unit) []Unit {
	type open struct {
		unit   int
		indent []byte
	}
	var stack []open
	last := []byte("end")
	if lang == "bash" {
		last = []byte("}")
	}
	for i := 0; i < len(src) && len(out) < MaxUnits; {
		end, next := line(src, i)
		at := i
		for at < end && (src[at] == ' ' || src[at] == '\t') {
			at++
		}
		indent := src[i:at]
		if len(stack) > 0 && bytes.HasPrefix(src[at:end], last) && (at+len(last) == end || !isWord(src[at+len(last)])) {
			for n := len(stack) - 1; n >= 0; n-- {
				if bytes.Equal(stack[n].indent, indent) {
					for _, o := range stack[n:] {
						out[o.unit].End = end
					}
					stack = stack[:n]
					break
				}
			}
		} else if u, ok := keywordUnit(lang, src, at, end); ok && len(stack) < maxDepth {
			u.Parent = -1
			if len(stack) > 0 {
				u.Parent = stack[len(stack)-1].unit
				if u.Kind == pki.Function && lang == "ruby" {
					u.Kind = pki.Method
				}
			}
			marker := "#"
			if lang == "lua" {
				marker = "--"
			}
			u.Doc = commentAbove(src, i, marker)
			u.Body, u.End = end, end
			out = append(out, u)
			if !closedLine(src[at:end], last) {
				out[len(out)-1].End = len(src)
				stack = append(stack, open{len(out) - 1, indent})
			}
		}
		i = next
	}
	return out
}

func closedLine(text, last []byte) bool {
	text = bytes.TrimRight(text, " \t;")
	return bytes.HasSuffix(text, last) && (len(text) == len(last) || !isWord(text[len(text)-len(last)-1]) || last[0] == '}')
}

func keywordUnit(lang string, src []byte, at, end int) (Unit, bool) {
	u := Unit{Start: at, Kind: pki.Function}
	word := wordAt(src, at, end)
	if word.Len() == 0 {
		return u, false
	}
	switch w := word.Of(src); {
	case lang == "bash" && w == "function":
		u.Name = wordAt(src, word.End, end)
		return u, u.Name.Len() > 0
	case lang == "bash":
		for word.End < end && (isWord(src[word.End]) || src[word.End] == '-' || src[word.End] == '.' || src[word.End] == ':') {
			word.End++
		}
		u.Name = word
		return u, bytes.HasPrefix(bytes.TrimLeft(src[word.End:end], " "), []byte("()"))
	case lang == "ruby" && (w == "class" || w == "module" || w == "def"):
		u.Name = qualified(src, wordAt(src, word.End, end), end, &u.Owner)
		if w != "def" {
			u.Kind = pki.Class
		}
		if w == "module" {
			u.Kind = pki.Module
		}
	case lang == "lua" && (w == "function" || w == "local"):
		if w == "local" {
			if word = wordAt(src, word.End, end); word.Of(src) != "function" {
				return u, false
			}
		}
		u.Name = qualified(src, wordAt(src, word.End, end), end, &u.Owner)
	default:
		return u, false
	}
	return u, u.Name.Len() > 0
}

// qualified follows a name over . and : to its last part.
func qualified(src []byte, name Range, end int, owner *Range) Range {
	for name.End < end && (src[name.End] == '.' || src[name.End] == ':') {
		i := name.End
		for i < end && (src[i] == ':' || src[i] == '.') {
			i++
		}
		next := wordAt(src, i, end)
		if next.Len() == 0 || next.Start != i {
			break
		}
		*owner, name = name, next
	}
	for name.End < end && (src[name.End] == '?' || src[name.End] == '!') {
		name.End++
	}
	return name
}

// headings are the sections of a Markdown file, each up to the next.
func headings(src []byte, out []Unit) []Unit {
	fenced := false
	for i := 0; i < len(src) && len(out) < MaxUnits; {
		end, next := line(src, i)
		text := bytes.TrimLeft(src[i:end], " ")
		switch {
		case bytes.HasPrefix(text, []byte("```")) || bytes.HasPrefix(text, []byte("~~~")):
			fenced = !fenced
		case !fenced && len(text) > 1 && text[0] == '#':
			level := 0
			for level < len(text) && text[level] == '#' {
				level++
			}
			name := bytes.TrimSpace(text[level:])
			if level > 6 || len(name) == 0 || text[level] != ' ' {
				break
			}
			if len(out) > 0 {
				out[len(out)-1].End = i
			}
			at := end - len(text) + bytes.Index(text, name)
			out = append(out, Unit{Kind: pki.Heading, Name: Range{at, at + min(len(name), 200)}, Start: i, Body: end, End: len(src), Parent: -1})
		}
		i = next
	}
	return out
}
