package scan

import (
	"bytes"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// types are the words before the name of a type.
var types = map[string]pki.Kind{
	"class": pki.Class, "interface": pki.Interface, "enum": pki.Enum, "struct": pki.Struct, "union": pki.Struct,
	"trait": pki.Interface, "record": pki.Class, "object": pki.Class, "protocol": pki.Interface, "actor": pki.Class,
	"extension": pki.Extension, "impl": pki.Extension, "namespace": pki.Module, "mod": pki.Module, "module": pki.Module,
}

// functions are the words before the name of a function.
var functions = map[string]bool{"function": true, "fn": true, "func": true, "fun": true, "def": true}

// control are the words that look like the name of a function before ( and
// are none.
var control = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "catch": true, "with": true, "return": true, "else": true, "do": true,
	"try": true, "synchronized": true, "using": true, "lock": true, "foreach": true, "when": true, "match": true, "loop": true,
	"unsafe": true, "new": true, "throw": true, "case": true, "elseif": true, "guard": true, "await": true, "sizeof": true,
}

// header is a statement up to its brace, taken apart.
type header struct {
	words  []Range // before the first ( or =, outside of brackets
	paren  int     // offset of the first (, -1 if there is none
	assign int     // offset of = outside of brackets, -1 if there is none
	arrow  bool    // ends with =>
	colon  int     // offset of a single : outside of brackets and before (, -1 if there is none
}

const maxHeader = 4 << 10

func (s *braces) header(i, end int, words []Range) header {
	h := header{words: words[:0], paren: -1, assign: -1, colon: -1}
	src := s.src
	if end-i > maxHeader {
		end = i + maxHeader
	}
	last := end
	for last > i && (src[last-1] == ' ' || src[last-1] == '\n' || src[last-1] == '\t' || src[last-1] == '\r') {
		last--
	}
	h.arrow = last-2 >= i && src[last-1] == '>' && src[last-2] == '='
	for i < end {
		c := src[i]
		switch {
		case isWord(c):
			j := i
			for j < end && isWord(src[j]) {
				j++
			}
			if h.paren < 0 && h.assign < 0 && len(h.words) < 24 {
				h.words = append(h.words, Range{i, j})
			}
			i = j
			continue
		case c == '@': // an annotation, with its arguments
			j := i + 1
			for j < end && (isWord(src[j]) || src[j] == '.') {
				j++
			}
			if string(src[i:j]) == "@interface" {
				i++
				continue
			}
			if j < end && src[j] == '(' {
				j = balanced(src, j, end)
			}
			i = j
			continue
		case c == '#' && i+1 < end && src[i+1] == '[': // an attribute
			i = balanced(src, i+1, end)
			continue
		case c == '[':
			i = balanced(src, i, end)
			continue
		case c == '(':
			if n := len(h.words); n > 0 && h.paren < 0 && h.assign < 0 {
				switch h.words[n-1].Of(src) {
				case "__attribute__", "__declspec", "alignas", "pub", "decltype", "noexcept":
					h.words = h.words[:n-1]
					i = balanced(src, i, end)
					continue
				}
			}
			if h.paren < 0 && h.assign < 0 {
				h.paren = i
			}
			i = balanced(src, i, end)
			continue
		case c == '<':
			if j := angle(src, i, end); j > 0 {
				i = j
				continue
			}
		case c == '"' || c == '\'' || c == '`':
			i = max(s.quoted(i), i+1)
			continue
		case c == '/' && i+1 < end && (src[i+1] == '/' || src[i+1] == '*'):
			i = max(s.slash(i), i) + 1
			continue
		case c == '=':
			if i+1 < end && (src[i+1] == '=' || src[i+1] == '>') || i > 0 && bytes.IndexByte([]byte("=!<>"), src[i-1]) >= 0 {
				i += 2
				continue
			}
			if h.assign < 0 {
				h.assign = i
			}
		case c == ':':
			if i+1 < end && src[i+1] == ':' {
				i += 2
				continue
			}
			if h.colon < 0 && h.paren < 0 && h.assign < 0 {
				h.colon = i
			}
		}
		i++
	}
	return h
}

// balanced returns the offset behind the bracket that closes the one at i.
func balanced(src []byte, i, end int) int {
	depth := 0
	for ; i < end; i++ {
		switch src[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		case '"':
			for i++; i < end && src[i] != '"' && src[i] != '\n'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		}
	}
	return end
}

// angle returns the offset behind type arguments that begin at i, or 0.
func angle(src []byte, i, end int) int {
	depth := 0
	for ; i < end; i++ {
		switch src[i] {
		case '<':
			depth++
		case '>':
			if i > 0 && (src[i-1] == '-' || src[i-1] == '=') {
				continue
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ';', '{', '}':
			return 0
		}
	}
	return 0
}

// classify says what the brace at pos opens.
func (s *braces) classify(f *frame, pos int) (frameKind, Unit, bool) {
	l := s.lead(f, pos)
	u := Unit{Start: l.start, Doc: l.doc}
	if l.start >= pos {
		return block, u, false
	}
	var room [24]Range
	h := s.header(l.start, pos, room[:0])
	if len(h.words) == 0 {
		return block, u, false
	}
	word := func(i int) string { return h.words[i].Of(s.src) }
	if last := h.words[len(h.words)-1]; s.rust && h.paren < 0 && last.End < pos && s.src[last.End] == '!' {
		return f.kind, u, false // a macro around definitions: what it holds stands where it stands
	}
	inBody := f.kind == funcBody || f.kind == block
	for i := range h.words {
		w := word(i)
		kind, isType := types[w]
		switch {
		case isType && s.typeHeader(h, i):
			name, ok := s.typeName(h, i, pos, w)
			if nameless := s.c && (w == "struct" || w == "enum" || w == "union"); !ok && !nameless {
				break
			}
			u.Kind, u.Name = kind, name
			if kind == pki.Module {
				return outer, u, name.Len() > 0
			}
			return typeBody, u, true
		case w == "extern" && s.c && len(h.words) == 1 && h.paren < 0:
			return outer, u, false
		case functions[w] && !s.c && s.lang != "java" && s.lang != "csharp":
			if s.js && (h.assign >= 0 || i+1 == len(h.words)) {
				break
			}
			if i+1 < len(h.words) {
				s.function(f, &u, h, i+1)
				return funcBody, u, true
			}
		}
	}
	if s.js {
		return s.classifyJS(f, u, h, pos, inBody)
	}
	if inBody || h.paren < 0 || h.assign >= 0 && h.assign < h.paren {
		if !inBody && h.assign >= 0 && len(h.words) > 0 && f.kind == outer && s.c {
			u.Kind, u.Name = pki.Variable, h.words[len(h.words)-1]
			return block, u, true
		}
		return block, u, false
	}
	name := h.words[len(h.words)-1]
	switch s.lang {
	case "java", "csharp", "c", "cpp":
	case "kotlin", "scala", "swift", "php", "rust":
		if w := name.Of(s.src); w != "init" && w != "deinit" && w != "constructor" {
			return block, u, false
		}
	}
	if control[name.Of(s.src)] || control[word(0)] && word(0) != "unsafe" && word(0) != "new" && word(0) != "synchronized" {
		return block, u, false
	}
	u.Name = name
	s.owner(&u, h)
	u.Kind = pki.Function
	if f.kind == typeBody || u.Owner.Len() > 0 {
		u.Kind = pki.Method
	}
	return funcBody, u, true
}

// function fills in what follows the word for a function.
func (s *braces) function(f *frame, u *Unit, h header, at int) {
	u.Kind, u.Name = pki.Function, h.words[at]
	if f.kind == typeBody || f.kind == object {
		u.Kind = pki.Method
	}
	if s.lang == "kotlin" { // fun Type.name(
		for n := at + 1; n < len(h.words) && s.src[h.words[n-1].End] == '.'; n++ {
			u.Owner, u.Name, u.Kind = h.words[n-1], h.words[n], pki.Method
		}
	}
}

// owner finds the qualifier of a name: A::B::name.
func (s *braces) owner(u *Unit, h header) {
	if s.lang != "cpp" || len(h.words) < 2 {
		return
	}
	before := h.words[len(h.words)-2]
	between := s.src[before.End:u.Name.Start]
	if bytes.Contains(between, []byte("::")) && bytes.IndexByte(between, ' ') < 0 {
		u.Owner = before
	}
}

// typeHeader tells the definition of a type from a function that returns one.
func (s *braces) typeHeader(h header, i int) bool {
	if s.c {
		return h.paren < 0 && h.assign < 0
	}
	if s.js {
		return h.assign < 0 && i < 4
	}
	return h.assign < 0 || s.lang == "kotlin" || s.lang == "scala" || s.lang == "rust"
}

// typeName finds the name behind the word at i.
func (s *braces) typeName(h header, i, pos int, w string) (Range, bool) {
	if s.lang == "rust" && w == "impl" {
		return s.implName(h.words[i].End, pos)
	}
	if i+1 >= len(h.words) {
		return Range{}, false
	}
	at := i + 1
	if n := h.words[at].Of(s.src); (w == "enum" && (n == "class" || n == "struct") || w == "record" && (n == "class" || n == "struct")) && at+1 < len(h.words) {
		at++
	}
	if s.c { // macros may stand before the name
		for at+1 < len(h.words) && (h.colon < 0 || h.words[at+1].Start < h.colon) && h.words[at+1].Of(s.src) != "final" {
			at++
		}
	}
	switch h.words[at].Of(s.src) {
	case "extends", "implements", "in", "instanceof":
		return Range{}, false
	}
	if w == "object" && s.lang != "kotlin" && s.lang != "scala" || w == "record" && s.lang != "java" && s.lang != "csharp" {
		return Range{}, false
	}
	name := h.words[at]
	if w == "namespace" || w == "extension" { // A.B
		for at+1 < len(h.words) && s.src[h.words[at].End] == '.' {
			at++
			name = h.words[at]
		}
	}
	return name, true
}

// implName finds Type in impl<T> path::Trait<X> for path::Type<Y>.
func (s *braces) implName(i, pos int) (Range, bool) {
	src := s.src
	head := src[i:pos]
	if n := bytes.Index(head, []byte(" where ")); n >= 0 {
		head = head[:n]
	} else if n := bytes.Index(head, []byte("\nwhere")); n >= 0 {
		head = head[:n]
	}
	end := i + len(head)
	if i < end && src[i] == '<' {
		if j := angle(src, i, end); j > 0 {
			i = j
		}
	}
	if n := bytes.LastIndex(src[i:end], []byte(" for ")); n >= 0 && bytes.IndexByte(src[i+n:end], '>') < 0 || bytes.Contains(src[i:end], []byte(" for ")) && n >= 0 {
		i += n + 5
	}
	var name Range
	for i < end {
		if isWord(src[i]) {
			j := i
			for j < end && isWord(src[j]) {
				j++
			}
			if w := string(src[i:j]); w != "dyn" && w != "mut" && src[i-1] != '\'' {
				name = Range{i, j}
				if !bytes.HasPrefix(src[j:end], []byte("::")) {
					break
				}
			}
			i = j
			continue
		}
		i++
	}
	return name, name.Len() > 0
}

// classifyJS knows functions that are values, and methods.
func (s *braces) classifyJS(f *frame, u Unit, h header, pos int, inBody bool) (frameKind, Unit, bool) {
	src := s.src
	isFunction := h.arrow
	if !isFunction && h.assign >= 0 {
		rest := bytes.TrimLeft(src[h.assign+1:pos], " \t\r\n")
		rest = bytes.TrimPrefix(rest, []byte("async "))
		isFunction = bytes.HasPrefix(rest, []byte("function"))
	}
	first := h.words[0].Of(src)
	switch {
	case h.assign >= 0 && (h.paren < 0 || h.paren > h.assign):
		if control[first] {
			return block, u, false
		}
		at := len(h.words) - 1
		if h.colon >= 0 { // a type stands behind the name
			for at > 0 && h.words[at].Start > h.colon {
				at--
			}
		}
		u.Name = h.words[at]
		if at > 0 && src[h.words[at-1].End] == '.' {
			u.Owner = h.words[at-1]
			if u.Owner.Of(src) == "prototype" && at > 1 {
				u.Owner = h.words[at-2]
			}
		}
		if isFunction {
			u.Kind = pki.Function
			if f.kind == typeBody || u.Owner.Len() > 0 {
				u.Kind = pki.Method
			}
			return funcBody, u, true
		}
		if inBody || f.kind == typeBody {
			return object, u, false
		}
		u.Kind = pki.Variable
		return object, u, true
	case f.kind == object && h.colon >= 0 && (h.paren < 0 || h.colon < h.paren):
		u.Name = h.words[0]
		rest := bytes.TrimLeft(src[h.colon+1:pos], " \t\r\n")
		rest = bytes.TrimPrefix(rest, []byte("async "))
		if h.arrow || bytes.HasPrefix(rest, []byte("function")) {
			u.Kind = pki.Method
			return funcBody, u, true
		}
		return object, u, false
	case (f.kind == object || f.kind == typeBody) && h.paren >= 0:
		name := h.words[len(h.words)-1]
		if control[name.Of(src)] {
			return block, u, false
		}
		u.Kind, u.Name = pki.Method, name
		return funcBody, u, true
	case first == "export" && len(h.words) > 1 && h.words[1].Of(src) == "default", first == "return":
		return object, u, false
	}
	return block, u, false
}
