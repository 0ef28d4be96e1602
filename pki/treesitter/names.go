package treesitter

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// lexicon is what must be known of a language to tell its names from its
// comments, its strings and its own words.
type lexicon struct {
	comments []string // that run to the end of the line
	block    [2]string
	quotes   string // of strings; escapes with a backslash
	lines    bool   // strings run over lines
	chars    bool   // 'c' is a character, and ' may mean other things
	names    string // bytes that names may have, besides letters, digits and _
	shell    bool   // names count where commands begin, and behind $
	keywords string
}

const cWords = " if else for while do switch case default break continue return goto sizeof true false null nullptr this super void int char long short float double bool boolean byte const static public private protected class struct enum union interface new try catch finally throw throws extends implements import package using namespace "

var slashes = [2]string{"/*", "*/"}

func lexiconOf(lang string) lexicon {
	c := lexicon{comments: []string{"//"}, block: slashes, quotes: `"`, chars: true}
	switch lang {
	case "c", "cpp":
		c.keywords = cWords + " NULL typedef extern register volatile signed unsigned inline auto include define ifdef ifndef endif elif undef pragma template typename virtual override operator constexpr noexcept delete friend explicit static_cast reinterpret_cast dynamic_cast const_cast "
	case "csharp":
		c.keywords = cWords + " string object decimal var get set value in is as base foreach async await out ref params sealed readonly override virtual abstract internal partial record where typeof nameof yield lock using "
	case "java":
		c.keywords = cWords + " final abstract synchronized volatile transient native instanceof assert var record "
	case "kotlin":
		c.keywords = " if else for while do when return break continue true false null this super class interface object fun val var import package is as in try catch finally throw override open abstract sealed data enum companion private public protected internal lateinit by init constructor suspend inline const operator typealias vararg out reified it "
	case "scala":
		c.keywords = " if else for while do match case return true false null this super class trait object def val var import package extends with new try catch finally throw override abstract sealed final implicit lazy private protected type yield given using then end "
	case "swift":
		c.chars = false
		c.keywords = " if else for while repeat switch case default guard return break continue true false nil self super Self class struct enum protocol extension func let var import in is as try catch throw throws rethrows override open public private internal fileprivate static final init deinit where async await inout mutating some any weak lazy "
	case "rust":
		c.keywords = " if else for while loop match return break continue true false self Self super crate struct enum trait impl fn let mut const static use mod pub in as ref move where async await dyn type unsafe extern i8 i16 i32 i64 u8 u16 u32 u64 usize isize f32 f64 bool char str "
		c.lines = true
	case "php":
		c = lexicon{comments: []string{"//", "#"}, block: slashes, quotes: `"'`, lines: true}
		c.keywords = cWords + " echo function fn use as array list isset unset empty foreach endforeach endif endwhile elseif abstract final trait global var print require require_once include include_once instanceof self parent string mixed and or not null NULL TRUE FALSE match yield "
	case "ruby":
		c = lexicon{comments: []string{"#"}, block: [2]string{"\n=begin", "\n=end"}, quotes: `"'`, lines: true, names: "?!"}
		c.keywords = " if else elsif unless for while until do case when then begin rescue ensure end return break next redo retry true false nil self super class module def yield and or not in alias undef defined? raise require require_relative attr_reader attr_accessor attr_writer private public protected include extend lambda proc puts "
	case "lua":
		c = lexicon{comments: []string{"--"}, block: [2]string{"--[[", "]]"}, quotes: `"'`}
		c.keywords = " and break do else elseif end false for function goto if in local nil not or repeat return then true until while self require "
	case "bash":
		c = lexicon{comments: []string{"#"}, quotes: `'`, lines: true, shell: true, names: "-:."}
		c.keywords = " if then else elif fi for while until do done case esac in function select time return exit echo local export readonly declare set unset shift test true false cd printf read eval source exec trap "
	case "python":
		c = lexicon{comments: []string{"#"}, quotes: `"'`}
		c.keywords = " if else elif for while return break continue True False None self cls class def import from as in is not and or try except finally raise with lambda yield global nonlocal pass del assert async await print "
	case "go":
		c.quotes += "`"
		c.keywords = " if else for switch case default return break continue func type struct interface map chan var const package import go defer select range goto fallthrough nil true false string int bool error byte any iota "
	default: // javascript, typescript, tsx
		c.quotes, c.chars, c.names = "\"'`", false, "$"
		c.keywords = cWords + " let var function async await yield of in typeof instanceof delete export from as type declare readonly abstract undefined string number any unknown never keyof get set "
	}
	return c
}

// Names finds the names in a source, whose symbols are known or not, and what
// it imports without parsing it: the references know nothing of scopes. It
// returns soon whatever the source.
func Names(lang string, src []byte, symbols []pki.Symbol) pki.File {
	n := nameScanner{lexicon: lexiconOf(lang), src: src, starts: lineStarts(src), defined: make(map[int]bool), imported: make(map[int]bool)}
	n.file = pki.File{Symbols: symbols}
	for i := range symbols {
		n.defined[symbols[i].NameByte] = true
	}
	n.imports(lang)
	n.scan()
	return n.file
}

type nameScanner struct {
	lexicon
	src      []byte
	starts   []int        // of lines
	defined  map[int]bool // where symbols have their names
	imported map[int]bool // lines with imports
	file     pki.File

	open   []int  // symbols around, as indexes
	next   int    // the next symbol
	before string // the word before
	head   int    // 1 in the head of a class, 2 where its bases are
	parens int    // open in the head
}

func (n *nameScanner) scan() {
	for i := 0; i < len(n.src) && len(n.file.References) < maxReferences; {
		switch c := n.src[i]; {
		case n.begins(i, n.block[0]) && (c != '\n' || n.block[0][0] == '\n'):
			end := bytes.Index(n.src[i+len(n.block[0]):], []byte(n.block[1]))
			if end < 0 {
				return
			}
			i += len(n.block[0]) + end + len(n.block[1])
		case n.comment(i):
			i += lineLength(n.src[i:])
		case strings.IndexByte(n.quotes, c) >= 0:
			i = n.quoted(i)
		case c == '\'' && n.chars:
			i = n.character(i)
		case nameStart(c) || n.names != "" && c == '$' && strings.IndexByte(n.names, '$') >= 0:
			i = n.name(i)
		default:
			n.sign(c)
			i++
			if c >= '0' && c <= '9' { // 0xff, 1e9
				for i < len(n.src) && (nameStart(n.src[i]) || n.src[i] >= '0' && n.src[i] <= '9') {
					i++
				}
			}
		}
	}
}

func (n *nameScanner) begins(i int, mark string) bool {
	return mark != "" && bytes.HasPrefix(n.src[i:], []byte(mark))
}

func (n *nameScanner) comment(i int) bool {
	for _, mark := range n.comments {
		// # inside of a word is none in a shell, and in C it begins a directive.
		if n.begins(i, mark) && (!n.shell || i == 0 || strings.IndexByte(" \t\n;", n.src[i-1]) >= 0) {
			return true
		}
	}
	return false
}

func lineLength(src []byte) int {
	if i := bytes.IndexByte(src, '\n'); i >= 0 {
		return i
	}
	return len(src)
}

// quoted returns where a string ends. One that does not, ends with its line.
func (n *nameScanner) quoted(i int) int {
	quote := n.src[i : i+1]
	lines := n.lines || quote[0] == '`'
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(n.src[i:], triple) {
		if end := bytes.Index(n.src[i+3:], triple); end >= 0 {
			return i + 3 + end + 3
		}
	}
	for j := i + 1; j < len(n.src); j++ {
		switch c := n.src[j]; {
		case c == '\\' && !n.shell:
			j++
		case c == quote[0]:
			return j + 1
		case c == '\n' && !lines:
			return j
		}
	}
	return i + 1
}

// character returns where 'c' ends; what is none, as a lifetime in Rust, is one
// byte.
func (n *nameScanner) character(i int) int {
	const longest = 12
	rest := n.src[i+1 : min(len(n.src), i+longest)]
	if len(rest) > 1 && rest[0] == '\\' {
		if end := bytes.IndexByte(rest[2:], '\''); end >= 0 {
			return i + 1 + 2 + end + 1
		}
	}
	if _, size := utf8.DecodeRune(rest); size < len(rest) && rest[size] == '\'' {
		return i + 1 + size + 1
	}
	return i + 1
}

func nameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// sign follows where the head of a class is.
func (n *nameScanner) sign(c byte) {
	switch c {
	case '{', ';':
		n.head = 0
	case '\n':
		if n.head == 2 && n.block[0] == "\n=begin" {
			n.head = 0
		}
	case '(', '[':
		n.parens++
	case ')', ']':
		n.parens = max(0, n.parens-1)
	case ':', '<':
		if n.head == 1 && n.parens == 0 && (c == ':' || n.block[0] == "\n=begin") {
			n.head = 2
		}
	}
	if c != ' ' && c != '\t' {
		n.before = string(rune(c))
	}
}

// name takes a name and returns where it ends.
func (n *nameScanner) name(i int) int {
	j := i + 1
	for j < len(n.src) && (nameStart(n.src[j]) || n.src[j] >= '0' && n.src[j] <= '9' || strings.IndexByte(n.names, n.src[j]) >= 0) {
		j++
	}
	word := string(n.src[i:j])
	if strings.HasSuffix(word, "?") && n.begins(j, ":") || n.shell {
		word = strings.TrimRight(word, "?.:-")
		j = i + len(word)
	}
	before := n.before
	n.before = word
	switch word {
	case "class", "struct", "interface", "trait", "object", "record", "protocol", "extension", "impl", "enum":
		n.head, n.parens = 1, 0
		return j
	case "extends", "implements", "with":
		if n.head > 0 {
			n.head = 2
		}
	}
	if strings.Contains(n.keywords, " "+word+" ") || len(word) > maxName || n.defined[i] || n.shell && !n.command(i, before) {
		return j
	}
	if cut := strings.LastIndex(word, "::"); cut >= 0 { // in a shell
		word, i = word[cut+2:], i+cut+2
	}
	r := pki.Reference{Name: word, Kind: n.kind(j, before), Scope: n.scope(i), In: pki.Unknown, Offset: i}
	r.Line, r.Column = position(n.starts, i)
	if n.imported[r.Line] {
		r.Kind = pki.RefImport
	}
	if utf8.ValidString(word) && word != "" {
		n.file.References = append(n.file.References, r)
	}
	return j
}

func (n *nameScanner) kind(end int, before string) pki.ReferenceKind {
	rest := bytes.TrimLeft(n.src[end:min(len(n.src), end+40)], " \t")
	switch {
	case n.head == 2 && n.parens == 0:
		return pki.RefExtends
	case n.shell && before != "$", before == "new", len(rest) > 0 && rest[0] == '(', bytes.HasPrefix(rest, []byte("!(")):
		return pki.RefCall
	case len(rest) > 1 && rest[0] == '=' && rest[1] != '=' && rest[1] != '>':
		return pki.RefWrite
	}
	return pki.RefRead
}

// command reports whether a shell looks for a command or a variable here.
func (n *nameScanner) command(i int, before string) bool {
	switch before {
	case "", "\n", ";", "|", "&", "(", "{", "`", "$", "!", "then", "do", "else", "if", "while", "until", "elif", "time", "exec", "eval":
		return true
	}
	return i == 0 || n.src[i-1] == '\n'
}

// scope is the innermost symbol around an offset.
func (n *nameScanner) scope(at int) string {
	symbols := n.file.Symbols
	for n.next < len(symbols) && symbols[n.next].StartByte <= at {
		n.open = append(n.open, n.next)
		n.next++
	}
	for len(n.open) > 0 && symbols[n.open[len(n.open)-1]].EndByte <= at {
		n.open = n.open[:len(n.open)-1]
	}
	if len(n.open) == 0 {
		return ""
	}
	return symbols[n.open[len(n.open)-1]].Qualified
}
