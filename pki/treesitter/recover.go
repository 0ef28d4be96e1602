//go:build cgo

package treesitter

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// Where a file is broken, or newer than its grammar, whole declarations may be
// lost in what the parser could not make sense of. Their first lines still say
// what they are.

// lineForm is a line that begins a declaration: the group name is its name,
// kind, if there is one, the word that says what it is.
type lineForm struct {
	re   *regexp.Regexp
	kind pki.Kind // where the word does not say it
	word string   // that the line must have
}

var lineForms = sync.OnceValue(func() map[string][]lineForm {
	form := func(text string, kind pki.Kind, word string) lineForm {
		return lineForm{regexp.MustCompile(text), kind, word}
	}
	c := []lineForm{
		form(`^(?:[A-Za-z_][\w:<>,*& \t]*[\s*&])?(?:\w+::)*(?P<name>~?[A-Za-z_]\w*)[ \t]*\([^;{}]*\)[^;{}()]*\{`, pki.Function, "("),
		form(`^(?:static[ \t]+|extern[ \t]+|const[ \t]+|unsigned[ \t]+|struct[ \t]+|enum[ \t]+)*\w+[\s*]+(?P<name>\w+)[ \t]*\([^;{}()]*\)[ \t]*;`, pki.Function, "("),
		form(`^[ \t]*(?:typedef[ \t]+)?(?P<kind>struct|union|enum|class)[ \t]+(?:class[ \t]+)?(?P<name>\w+)[^;{}()=]*\{`, "", ""),
	}
	js := []lineForm{
		form(`^(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?(?:const[ \t]+)?(?P<kind>class|interface|enum|namespace)[ \t]+(?P<name>[\w$]+)`, "", ""),
		form(`^(?:export[ \t]+)?(?:declare[ \t]+)?(?P<kind>type)[ \t]+(?P<name>[\w$]+)[ \t]*[<=]`, "", ""),
		form(`^(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:async[ \t]+)?function[ \t]*\*?[ \t]*(?P<name>[\w$]+)[ \t]*[<(]`, pki.Function, "function"),
	}
	modifiers := `^[ \t]*(?:@\w+[ \t]+)*(?:[a-z]+[ \t]+)*?`
	return map[string][]lineForm{
		"c": c, "cpp": c,
		"javascript": js, "typescript": js, "tsx": js,
		"kotlin": {
			form(modifiers+`fun[ \t]+(?:<[^>\n]*>[ \t]*)?(?:[\w<>?, ]+\.)?(?P<name>\w+)[ \t]*\(`, pki.Function, "fun"),
			form(modifiers+`(?P<kind>class|interface|object)[ \t]+(?P<name>\w+)`, "", ""),
		},
		"scala":  {form(modifiers+`def[ \t]+(?P<name>\w+)`, pki.Function, "def"), form(modifiers+`(?P<kind>class|trait|object)[ \t]+(?P<name>\w+)`, "", "")},
		"swift":  {form(modifiers+`func[ \t]+(?P<name>\w+)[ \t]*[<(]`, pki.Function, "func"), form(modifiers+`(?P<kind>class|struct|enum|protocol)[ \t]+(?P<name>\w+)`, "", "")},
		"rust":   {form(`^[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?(?:async[ \t]+|const[ \t]+|unsafe[ \t]+|extern[ \t]+"C"[ \t]+)*fn[ \t]+(?P<name>\w+)[ \t]*[<(]`, pki.Function, "fn"), form(`^[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?(?P<kind>struct|enum|trait)[ \t]+(?P<name>\w+)`, "", "")},
		"php":    {form(modifiers+`function[ \t]+&?(?P<name>\w+)[ \t]*\(`, pki.Function, "function"), form(modifiers+`(?P<kind>class|interface|trait)[ \t]+(?P<name>\w+)`, "", "")},
		"csharp": {form(`^[ \t]*(?:(?:public|internal|protected|private|static|abstract|sealed|partial)[ \t]+)+(?P<kind>class|interface|struct|enum)[ \t]+(?P<name>\w+)`, "", "")},
		"java":   {form(`^[ \t]*(?:(?:public|protected|private|static|abstract|final)[ \t]+)+(?P<kind>class|interface|enum)[ \t]+(?P<name>\w+)`, "", "")},
		"lua":    {form(`^[ \t]*(?:local[ \t]+)?function[ \t]+(?:[\w.]+[.:])?(?P<name>\w+)[ \t]*\(`, pki.Function, "function")},
		"python": {form(`^[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)[ \t]*\(`, pki.Function, "def"), form(`^[ \t]*(?P<kind>class)[ \t]+(?P<name>\w+)[ \t]*[:(]`, "", "")},
		"ruby":   {form(`^[ \t]*def[ \t]+(?:self\.)?(?P<name>\w+[?!=]?)`, pki.Function, "def"), form(`^[ \t]*(?P<kind>class)[ \t]+(?:\w+::)*(?P<name>\w+)`, "", "")},
		"bash":   {form(`^[ \t]*(?:function[ \t]+)?(?P<name>[\w.-]+)[ \t]*\([ \t]*\)[ \t]*[{(]?[ \t]*(?:\r?\n|$)`, pki.Function, "(")},
	}
})

var kindOfWord = map[string]pki.Kind{
	"class": pki.Class, "object": pki.Class, "interface": pki.Interface, "trait": pki.Interface, "protocol": pki.Interface,
	"struct": pki.Struct, "union": pki.Struct, "enum": pki.Enum, "type": pki.Type, "namespace": pki.Module,
}

// window is how much of a declaration is looked at, from its first line on.
const window = 500

// recoverLines adds what lines declare and the tree of a broken file lost.
func (g *grammar) recoverLines(root *sitter.Node, src []byte, symbols []pki.Symbol) []pki.Symbol {
	starts := lineStarts(src)
	known := make(map[int]bool) // lines with names
	for i := range symbols {
		known[lineAt(starts, symbols[i].NameByte)] = true
	}
	forms := lineForms()[g.lang]
	found := slices.Clip(symbols)
	var here []byte // the word that ends a here-document
	for i, start := range starts {
		line := src[start:]
		if i+1 < len(starts) {
			line = src[start:starts[i+1]]
		}
		text := bytes.TrimLeft(line, " \t")
		if g.lang == "bash" {
			switch words := hereWords(line); {
			case here != nil:
				if bytes.Equal(bytes.TrimSpace(text), here) {
					here = nil
				}
				continue
			case len(words) > 0 && !bytes.Contains(line, []byte("<<<")):
				here = bytes.Trim(words[len(words)-1], "\"'`")
			}
		}
		if known[i+1] || len(text) == 0 || !nameStart(text[0]) && text[0] != '@' && text[0] != '~' {
			continue
		}
		for _, form := range forms {
			at := form.find(src[start:min(len(src), start+window)], line)
			if at == nil || known[lineAt(starts, start+at[0])] || len(found) >= maxSymbols {
				continue
			}
			from, to := start+at[0], start+at[1]
			if g.comment == "//" && form.kind == pki.Function && bytes.Equal(bytes.ToUpper(src[from:to]), src[from:to]) {
				continue // a macro
			}
			if g.isText(root, lineAt(starts, from)-1, from-starts[lineAt(starts, from)-1]) {
				continue
			}
			outer := innermost(symbols, from)
			m := mark{start: start + len(line) - len(text), end: start + at[2], nameStart: from, nameEnd: to, kind: form.kind}
			if at[3] >= 0 {
				m.kind = kindOfWord[string(src[start+at[3]:start+at[4]])]
			}
			s, ok := g.symbol(m, outer, src)
			if !ok {
				continue
			}
			if outer != nil {
				s.Depth = outer.Depth + 1
			}
			s.StartLine, s.EndLine = lineAt(starts, s.StartByte), lineAt(starts, max(s.StartByte, s.EndByte-1))
			known[lineAt(starts, from)] = true
			found = append(found, s)
			break
		}
	}
	slices.SortStableFunc(found, func(a, b pki.Symbol) int { return a.StartByte - b.StartByte })
	return found
}

// isText reports whether a comment or a string is at a place. Both count from
// zero. In a shell a quote that the parser got wrong may swallow the rest.
func (g *grammar) isText(root *sitter.Node, row, column int) bool {
	at := sitter.Point{Row: uint32(row), Column: uint32(column)}
	n := root.NamedDescendantForPointRange(at, at)
	if n == nil {
		return false
	}
	kind := n.Type()
	return strings.Contains(kind, "comment") || strings.Contains(kind, "heredoc") || strings.Contains(kind, "string") && g.lang != "bash"
}

// find returns where in text, which begins with line, the name begins and ends,
// where the declaration ends, and where the word for its kind begins, -1 for
// nowhere, and ends.
func (f *lineForm) find(text, line []byte) []int {
	if !bytes.Contains(line, []byte(f.word)) {
		return nil
	}
	at := f.re.FindSubmatchIndex(text)
	if at == nil {
		return nil
	}
	name, kind := f.re.SubexpIndex("name"), f.re.SubexpIndex("kind")
	out := []int{at[2*name], at[2*name+1], at[1], -1, -1}
	if kind >= 0 {
		out[3], out[4] = at[2*kind], at[2*kind+1]
	}
	return out
}

// innermost returns the last symbol around an offset that can have members, or
// nil.
func innermost(symbols []pki.Symbol, at int) *pki.Symbol {
	var found *pki.Symbol
	for i := range symbols {
		if s := &symbols[i]; s.StartByte > at {
			break
		} else if s.EndByte > at && (hasMembers(s.Kind) || s.Kind == pki.Module) {
			found = s
		}
	}
	return found
}
