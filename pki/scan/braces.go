package scan

import "bytes"

// flavour is what tells languages with braces apart.
type flavour struct {
	lang    string
	lines   bool // a statement may end with its line
	nested  bool // block comments nest
	js      bool
	c       bool // preprocessor, types before names
	triple  bool // """ strings
	hash    bool // # begins a comment
	single  bool // '…' is a string
	ticks   bool // `…` is a string with ${}
	rust    bool
	objects bool // an object may hold functions
}

var flavours = map[string]flavour{
	"javascript": {lang: "js", lines: true, js: true, single: true, ticks: true, objects: true},
	"typescript": {lang: "ts", lines: true, js: true, single: true, ticks: true, objects: true},
	"tsx":        {lang: "ts", lines: true, js: true, single: true, ticks: true, objects: true},
	"java":       {lang: "java", triple: true},
	"csharp":     {lang: "csharp", hash: true, triple: true},
	"kotlin":     {lang: "kotlin", lines: true, nested: true, triple: true},
	"scala":      {lang: "scala", lines: true, nested: true, triple: true},
	"swift":      {lang: "swift", lines: true, nested: true, triple: true, hash: true},
	"php":        {lang: "php", hash: true, single: true},
	"rust":       {lang: "rust", nested: true, rust: true},
	"c":          {lang: "c", c: true},
	"cpp":        {lang: "cpp", c: true},
}

type frameKind uint8

const (
	outer    frameKind = iota // the file, a namespace
	typeBody                  // members
	funcBody
	object // of JavaScript
	block
)

// frame is an open brace.
type frame struct {
	kind  frameKind
	unit  int // -1: none
	paren int // open ( and [ inside
	head  int // where the statement begins that is being read, with what is above it

	known int  // head that lead was found for, and one
	lead  lead // what stands at head
	open  bool // there was no more than that so far

	inType bool // a type in braces, which is part of a statement
}

// maxDepth bounds how deep units are looked for.
const maxDepth = 64

// lead returns what stands before the statement that is being read, up to end.
// What was only comments so far is not read again.
func (s *braces) lead(f *frame, end int) lead {
	switch {
	case f.known != f.head+1:
		f.lead = s.behindComments(lead{doc: Range{f.head, f.head}, start: f.head}, end)
	case f.open:
		f.lead = s.behindComments(f.lead, end)
	}
	f.known, f.open = f.head+1, f.lead.start >= end
	return f.lead
}

type braces struct {
	flavour
	src   []byte
	out   []Unit
	stack []frame

	constants int // macros without arguments so far
}

// maxConstants bounds the macros without arguments that are units: tables of
// registers have thousands, which are found by the text of their file.
const maxConstants = 100

// special marks the bytes that run has to look at.
var special = func() (t [256]bool) {
	for _, c := range []byte("\"'`/#{}()[];\n,") {
		t[c] = true
	}
	return t
}()

func (s *braces) top() *frame { return &s.stack[len(s.stack)-1] }

// parent is the unit around the place that is being read.
func (s *braces) parent() int {
	for i := len(s.stack) - 1; i >= 0; i-- {
		if s.stack[i].unit >= 0 {
			return s.stack[i].unit
		}
	}
	return -1
}

func (s *braces) run() {
	src := s.src
	s.stack = append(s.stack, frame{unit: -1})
	for i := 0; i < len(src); i++ {
		if !special[src[i]] {
			continue
		}
		f := s.top()
		switch c := src[i]; c {
		case '"', '\'', '`':
			i = s.quoted(i) - 1
		case '/':
			i = s.slash(i)
		case '#':
			i = s.hashLine(i)
		case '(', '[':
			f.paren++
		case ')', ']':
			f.paren = max(0, f.paren-1)
		case '{':
			s.open(i)
		case '}':
			s.close(i)
		case ';':
			if f.paren == 0 {
				s.statement(i + 1)
			}
		case ',':
			if f.kind == object && f.paren == 0 {
				f.head = i + 1
			}
		case '\n':
			if s.lines && f.paren == 0 && s.ended(i) {
				s.statement(i + 1)
			}
		}
	}
	for i := range s.out {
		if s.out[i].End == 0 {
			s.out[i].End = len(src)
		}
	}
}

// ended reports whether a statement ends with the line that ends at i.
func (s *braces) ended(i int) bool {
	f := s.top()
	at := s.lead(f, i).start
	if at >= i {
		return false // nothing but comments so far
	}
	j := i - 1
	for j > at && (s.src[j] == ' ' || s.src[j] == '\t' || s.src[j] == '\r') {
		j--
	}
	switch s.src[j] {
	case '=', ',', '(', '[', ':', '|', '&', '+', '-', '?', '.', '<', '*':
		return false
	case '>':
		if j > 0 && s.src[j-1] == '=' {
			return false
		}
	}
	if s.src[at] == '@' { // a decorator
		return false
	}
	j = i + 1
	for j < len(s.src) && (s.src[j] == ' ' || s.src[j] == '\t' || s.src[j] == '\r' || s.src[j] == '\n') {
		j++
	}
	if j == len(s.src) {
		return true
	}
	switch s.src[j] {
	case '{', '.', '?', ':', '=', '&', '|', '+', ')', '>':
		return false
	}
	switch wordAt(s.src, j, min(len(s.src), j+12)).Of(s.src) {
	case "extends", "implements", "where", "throws":
		return false
	}
	return true
}

// statement ends what was being read; a definition without braces is kept.
func (s *braces) statement(end int) {
	f := s.top()
	if f.kind == outer || f.kind == typeBody && !s.js {
		s.plain(f.head, end)
	}
	f.head = end
}

// open handles the brace at i.
func (s *braces) open(i int) {
	f := s.top()
	next := frame{kind: block, unit: -1, head: i + 1}
	switch {
	case s.js && f.paren == 0 && s.typeBefore(f, i):
		next.inType = true
	case f.paren > 0:
		if s.objects && objectBefore(s.src, i) {
			next.kind = object
		}
	case (f.kind == funcBody || f.kind == block) && !s.js, len(s.stack) > maxDepth:
	default:
		kind, u, ok := s.classify(f, i)
		switch {
		case ok && len(s.out) < MaxUnits:
			u.Parent, u.Body = s.parent(), i
			s.out = append(s.out, u)
			next.unit, next.kind = len(s.out)-1, kind
		default:
			next.kind = kind
		}
	}
	s.stack = append(s.stack, next)
}

// close handles the closing brace at i.
func (s *braces) close(i int) {
	column0 := i == 0 || s.src[i-1] == '\n'
	if len(s.stack) == 1 {
		s.top().head = i + 1
		return
	}
	n := len(s.stack) - 1
	if s.c && column0 {
		// Whatever #if and #else did to the braces, a definition ends here.
		for n > 1 && s.stack[n-1].kind != outer {
			n--
		}
	}
	for k := len(s.stack) - 1; k >= n; k-- {
		if u := s.stack[k].unit; u >= 0 {
			s.out[u].End = s.tail(u, i+1)
		}
	}
	inType := s.stack[n].inType
	s.stack = s.stack[:n]
	f := s.top()
	if f.kind != object && f.paren == 0 && !inType {
		f.head = i + 1
	}
}

// tail includes what may follow the last brace of a definition; the name of a
// nameless type of C stands there.
func (s *braces) tail(u, end int) int {
	unit := &s.out[u]
	if !s.c || unit.Callable() {
		return end
	}
	for j := end; j < len(s.src) && j < end+200; j++ {
		switch s.src[j] {
		case ';':
			if unit.Name.Len() == 0 {
				unit.Name = lastWord(s.src, end, j)
			}
			return j + 1
		case '{', '}', '#':
			return end
		}
	}
	return end
}

// objectBefore reports whether a brace at i opens an object: it stands where a
// value is expected.
func objectBefore(src []byte, i int) bool {
	for i--; i >= 0 && (src[i] == ' ' || src[i] == '\t' || src[i] == '\n' || src[i] == '\r'); i-- {
	}
	if i < 0 {
		return false
	}
	switch src[i] {
	case '=', '(', ',', ':', '[', '?', '&', '|':
		return true
	}
	return i >= 5 && string(src[i-5:i+1]) == "return"
}

// typeBefore reports whether a brace at i opens a type behind the parameters
// of a function.
func (s *braces) typeBefore(f *frame, i int) bool {
	j := i - 1
	for j > f.head && (s.src[j] == ' ' || s.src[j] == '\n') {
		j--
	}
	switch s.src[max(j, 0)] {
	case '<', ':', '|', '&', ',':
		from := s.lead(f, i).start
		return from < j && j-from < maxHeader && bytes.IndexByte(s.src[from:j], ')') > 0
	}
	return false
}

// lead is what stands before a statement, and where it begins.
type lead struct {
	doc   Range
	start int
	lines int // ends of lines behind the last comment
}

// labels are no part of the statement behind them.
var labels = [...]string{"public:", "private:", "protected:", "<?php"}

// behindComments goes on from l over white space and comments. The comments
// that stand right above are the doc.
func (s *braces) behindComments(l lead, end int) lead {
	src, i, lines := s.src, l.start, l.lines
	for i < end {
		switch c := src[i]; {
		case c == '\n':
			if lines++; lines > 1 {
				l.doc = Range{i, i}
			}
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == ';':
			i++
			continue
		case c == '/' && i+1 < end && src[i+1] == '/', c == '#' && s.lang == "php" && i+1 < end && src[i+1] != '[':
			e, _ := line(src, i)
			if l.doc.Len() == 0 {
				l.doc.Start = i
			}
			l.doc.End, i, lines = min(e, end), min(e, end), 0
			continue
		case c == '/' && i+1 < end && src[i+1] == '*':
			n := bytes.Index(src[i+2:end], []byte("*/"))
			if n < 0 {
				l.start = end
				return l
			}
			l.doc, i, lines = Range{i, i + n + 4}, i+n+4, 0
			continue
		case c == '#' && s.c:
			for i < end && src[i] != '\n' {
				if src[i] == '\\' {
					i++
				}
				i++
			}
			i = min(i, end)
			l.doc = Range{i, i}
			continue
		}
		if n := s.label(i, end); n > 0 {
			i += n
			l.doc = Range{i, i}
			continue
		}
		break
	}
	l.start, l.lines = i, lines
	return l
}

// label returns the length of a label at i.
func (s *braces) label(i, end int) int {
	if s.lang != "cpp" && s.lang != "php" {
		return 0
	}
	for _, l := range labels {
		if bytes.HasPrefix(s.src[i:end], []byte(l)) {
			return len(l)
		}
	}
	return 0
}

func lastWord(src []byte, i, end int) Range {
	for end > i && !isWord(src[end-1]) {
		end--
	}
	j := end
	for j > i && isWord(src[j-1]) {
		j--
	}
	return Range{j, end}
}
