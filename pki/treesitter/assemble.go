package treesitter

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

const (
	maxName      = 200 // bytes; longer ones are wreckage of broken code
	maxSignature = 200 // characters
	maxDoc       = 400 // characters
)

// mark is a definition that was found, free of C memory: one match of a query.
type mark struct {
	start, end         int
	nameStart, nameEnd int
	pattern            int
	kind               pki.Kind // "" for a local scope
	declared           bool     // only a declaration
	receiver           string
	doc                string
	docStart, docEnd   int
}

// assemble turns marks into symbols: one per name, sorted, with what encloses
// them found by their ranges.
func (g *grammar) assemble(marks []mark, src []byte) []pki.Symbol {
	marks = merge(marks)
	lines := lineStarts(src)
	var out []pki.Symbol
	type scope struct {
		start, end int
		symbol     int // index in out, -1 for a local scope
	}
	var open []scope
	depth := 0
	for i, m := range marks {
		if g.unnamed != "" && m.kind != "" && i+1 < len(marks) && string(src[m.nameStart:m.nameEnd]) == g.unnamed &&
			marks[i+1].start == m.start && marks[i+1].end == m.end {
			continue // it has a name of its own
		}
		m.start = skipComments(src, m.start, m.end, g.comment)
		for len(open) > 0 {
			last := open[len(open)-1]
			// Names that share a declaration, int a, b, are side by side.
			if last.end > m.start && (m.kind == "" || last.symbol < 0 || last.start != m.start || last.end != m.end) {
				break
			}
			if last.symbol >= 0 {
				depth--
			}
			open = open[:len(open)-1]
		}
		if m.kind == "" {
			open = append(open, scope{m.start, m.end, -1})
			continue
		}
		var outer *pki.Symbol // the nearest symbol around
		local := len(open) > 0 && open[len(open)-1].symbol < 0
		for i := len(open) - 1; i >= 0 && outer == nil; i-- {
			if open[i].symbol >= 0 {
				outer = &out[open[i].symbol]
			}
		}
		if len(out) == maxSymbols {
			break
		}
		if isData(m) && (local || outer != nil && isBody(outer.Kind)) {
			continue
		}
		s, ok := g.symbol(m, outer, src)
		if !ok {
			continue
		}
		s.Depth = depth
		s.StartLine, s.EndLine = lineAt(lines, s.StartByte), lineAt(lines, max(s.StartByte, s.EndByte-1))
		out = append(out, s)
		open = append(open, scope{m.start, m.end, len(out) - 1})
		depth++
	}
	return out
}

// merge keeps one mark per name: the kind of the first pattern, the widest
// range, whatever has a receiver or a docstring. Local scopes stay.
func merge(marks []mark) []mark {
	slices.SortStableFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.nameStart, b.nameStart), cmp.Compare(a.pattern, b.pattern))
	})
	var out []mark
	for _, m := range marks {
		if last := len(out) - 1; m.kind != "" && last >= 0 && out[last].kind != "" && out[last].nameStart == m.nameStart {
			o := &out[last]
			o.start, o.end = min(o.start, m.start), max(o.end, m.end)
			o.receiver = cmp.Or(o.receiver, m.receiver)
			if o.doc == "" {
				o.doc, o.docStart, o.docEnd = m.doc, m.docStart, m.docEnd
			}
			continue
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b mark) int {
		// A local scope has no name; one as wide as a symbol is around it.
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.nameStart, b.nameStart))
	})
	return out
}

// isData: of interest only where other files or other parts can see it.
func isData(m mark) bool {
	return m.declared || m.kind == pki.Variable || m.kind == pki.Constant || m.kind == pki.Field
}

// isBody: what is declared inside is nobody else's business.
func isBody(k pki.Kind) bool {
	switch k {
	case pki.Function, pki.Method, pki.Variable, pki.Field, pki.Constant:
		return true
	}
	return false
}

// hasMembers: functions inside are methods and variables fields.
func hasMembers(k pki.Kind) bool {
	switch k {
	case pki.Class, pki.Interface, pki.Struct, pki.Enum, pki.Type, pki.Extension:
		return true
	}
	return false
}

func (g *grammar) symbol(m mark, outer *pki.Symbol, src []byte) (pki.Symbol, bool) {
	qualifier, name := splitName(strings.ToValidUTF8(string(src[m.nameStart:m.nameEnd]), ""))
	if name == "" || len(name) > maxName || g.reserved(name) || strings.ContainsAny(name, "\n\r") {
		return pki.Symbol{}, false
	}
	if name == g.unnamed {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	start := wordsBefore(src, m.start)
	s := pki.Symbol{Name: name, Kind: m.kind, StartByte: start, EndByte: m.end, NameByte: m.nameStart}
	if i := bytes.LastIndex(src[m.nameStart:m.nameEnd], []byte(name)); i > 0 {
		s.NameByte += i // behind what qualifies it
	}
	if receiver := receiverName(m.receiver); receiver != "" {
		qualifier = join(receiver, qualifier)
	}
	s.Container = qualifier
	if outer != nil {
		s.Container = join(outer.Qualified, qualifier)
	}
	s.Qualified = join(s.Container, name)
	if outer != nil && hasMembers(outer.Kind) {
		switch s.Kind {
		case pki.Function:
			s.Kind = pki.Method
		case pki.Variable:
			s.Kind = pki.Field
		}
	} else if s.Kind == pki.Function && qualifier != "" {
		s.Kind = pki.Method
	}
	s.Signature, s.BodyByte = g.signature(src[start:m.end], m.nameEnd-start)
	s.BodyByte += start
	s.Doc, s.DocStart, s.DocEnd = m.doc, m.docStart, m.docEnd
	if s.Doc == "" {
		s.Doc, s.DocStart, s.DocEnd = commentAbove(src, start, g.comment)
	}
	return s, true
}

func join(container, name string) string {
	if container == "" || name == "" {
		return container + name
	}
	return container + "." + name
}

// splitName takes A::B<T>::c and a.b.c apart at the last separator that is not
// inside of type arguments. The qualifier has dots and no type arguments.
func splitName(text string) (qualifier, name string) {
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	if strings.Contains(text, "operator") { // C++: signs and types may follow
		if i := strings.LastIndex(text, "::operator"); i >= 0 {
			return dotted(text[:i]), operatorName(text[i+2:])
		}
		return "", operatorName(text)
	}
	depth, cut, width := 0, -1, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '<':
			depth++
		case '>':
			depth--
		case ':', '.':
			if depth > 0 {
				break
			}
			if text[i] == '.' && i > 0 || strings.HasPrefix(text[i:], "::") {
				cut, width = i, 1
				if text[i] == ':' {
					width = 2
					i++
				}
			} else if text[i] == ':' { // Lua: T:method
				cut, width = i, 1
			}
		}
	}
	if cut < 0 {
		return "", withoutArguments(text)
	}
	return dotted(text[:cut]), withoutArguments(text[cut+width:])
}

// operatorName leaves off what stands behind a conversion: operator T() const.
func operatorName(text string) string {
	if i := strings.IndexByte(text, '('); i > 0 && !strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(text, "operator")), "(") {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

func dotted(text string) string {
	text = withoutArguments(text)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "::", "."), ":", ".")
	return strings.Trim(strings.ReplaceAll(text, `\`, "."), ".")
}

// withoutArguments drops <…> and white space. Operators are left as they are.
func withoutArguments(text string) string {
	if r, _ := utf8.DecodeRuneInString(text); strings.ContainsRune(text, '<') && (unicode.IsLetter(r) || r == '_' || r == '~') {
		var b strings.Builder
		depth := 0
		for _, r := range text {
			switch {
			case r == '<':
				depth++
			case r == '>':
				depth--
			case depth == 0:
				b.WriteRune(r)
			}
		}
		text = b.String()
	}
	return strings.TrimSpace(text)
}

// receiverName is the type or object that something is assigned to.
func receiverName(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".prototype")
	switch {
	case text == "exports", text == "module.exports", text == "this", text == "self", strings.ContainsAny(text, "()[]{}\"'\n\r"), len(text) > maxName:
		return ""
	}
	return dotted(strings.TrimPrefix(text, "exports."))
}

// reserved: a word that no declaration has as its name, but that broken code
// makes look so.
func (g *grammar) reserved(name string) bool {
	switch name {
	case "if", "for", "while", "return", "else":
		return true
	case "switch", "catch", "do", "sizeof", "foreach", "defined":
		return g.comment == "//" && g.lang != "rust"
	}
	return false
}
