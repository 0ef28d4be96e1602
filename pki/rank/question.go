package rank

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// MaxQuestion bounds what is read of a question, in bytes.
const MaxQuestion = 10 << 10

// Term is one term of a question.
type Term struct {
	ID     terms.ID
	Weight float32
	Whole  bool   // it stands for a whole identifier, or for words side by side
	Title  bool   // it is in the title
	Scope  bool   // it says where the title is about, as in "scope: title"
	Of     int    // the term that this one is another form of; its own place if it is none
	Text   string // as in the question
}

// Name is an identifier that the question names as code.
type Name struct {
	Name  string
	Owner string // what stands before it, "" for nothing
}

// Question is a question as it was read.
type Question struct {
	Terms []Term
	Names []Name
	Paths []string // slash-separated, as far as the question gives them
	Tests bool     // it is about tests

	Describes float32 // how likely it describes what code does, rather than a change of it
}

// Reader reads questions. It is safe for concurrent use.
type Reader struct {
	w      Weights
	stops  terms.StopWords
	faint  terms.StopWords
	asking terms.StopWords
	short  map[terms.ID][]terms.ID
}

// NewReader makes a reader.
func NewReader(w Weights) *Reader {
	return &Reader{w, terms.Stops(), terms.Faint(), terms.Asking(), terms.Abbreviations()}
}

// forms are the expressions for what a question is written in.
type forms struct {
	fence, ticked, scoped, dotted, called, pathLike, aboutTests *regexp.Regexp
	frames                                                      []*regexp.Regexp
}

// written compiles them for the first question: most servers are asked none.
var written = sync.OnceValue(func() *forms {
	return &forms{
		fence:  regexp.MustCompile("(?s)```.*?(?:```|$)"),
		ticked: regexp.MustCompile("`[^`\n]{1,200}`"),

		frames: []*regexp.Regexp{
			regexp.MustCompile(`File "([^"\n]+)", line \d+(?:, in (\w+))?`),                            // Python
			regexp.MustCompile(`(?m)^\s*at (?:async )?([\w$.<>\[\] ]+?) \(([^()\n]+?):\d+(?::\d+)?\)`), // JavaScript, Java: function, file
			regexp.MustCompile(`([\w./\\-]+\.[A-Za-z]{1,4}):\d+`),                                      // file:line
		},
		scoped:     regexp.MustCompile(`^(?:(?:fix|feat|bug|chore|perf|docs?|test|refactor|build|ci)\(([\w ,./*-]{2,40})\)!?:|\[?([\w./*-]{2,40})\]?!?:)\s`),
		dotted:     regexp.MustCompile(`[A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)+`),
		called:     regexp.MustCompile(`([A-Za-z_]\w{2,})\(`),
		pathLike:   regexp.MustCompile(`(?:[\w.@-]+/)+[\w.@-]+|\b[\w-]+\.(?:go|py|pyi|ts|tsx|mts|js|jsx|mjs|cjs|java|kt|rs|c|h|cc|cpp|hpp|cs|rb|php|scala|swift|lua|sh|vue|svelte|md|yml|yaml|toml|json)\b`),
		aboutTests: regexp.MustCompile(`(?i)\b(?:which|where|what|find|show|add|write|fix|existing|unit|integration|flaky|failing|regression)\s+(?:\w+\s+){0,3}(?:tests?|benchmarks?|fixtures?)\b|\btests? (?:for|of|that|covering|suite|case)\b|\btested\b`),
	}
})

// Read reads a question. The first line is its title, if there are more.
func (r *Reader) Read(text string) Question { return r.read(text, r.stops) }

// ReadAll reads a question without leaving words out: what has no answer
// otherwise may ask for something that bears the name of such a word.
func (r *Reader) ReadAll(text string) Question { return r.read(text, nil) }

func (r *Reader) read(text string, stops terms.StopWords) Question {
	if len(text) > 4*MaxQuestion {
		text = text[:4*MaxQuestion]
	}
	text = clean(strings.ToValidUTF8(text, " "))
	if len(text) > MaxQuestion {
		text = strings.ToValidUTF8(text[:MaxQuestion], "")
	}
	p := &reading{Reader: r, stops: stops, at: map[terms.ID]int{}}
	title, body, several := strings.Cut(strings.TrimSpace(text), "\n")
	p.q.Describes = describes(title, several)
	p.q.Tests = written().aboutTests.MatchString(title)
	if m := written().scoped.FindStringSubmatch(title); m != nil {
		p.words(m[1]+m[2], r.w.Title*r.w.Scope)
		for i := range p.q.Terms {
			p.q.Terms[i].Scope = true
		}
	}
	p.plain(title, r.w.Title)
	for i := range p.q.Terms {
		p.q.Terms[i].Title = true
	}
	if !several {
		p.bare(title)
	}
	if several {
		var code strings.Builder
		prose := written().fence.ReplaceAllStringFunc(body, func(s string) string {
			code.WriteString(strings.Trim(s, "`"))
			code.WriteByte('\n')
			return "\n"
		})
		var rest strings.Builder
		for line := range strings.Lines(prose) {
			if codeLine(line) {
				code.WriteString(line)
			} else {
				rest.WriteString(line)
			}
		}
		p.plain(rest.String(), r.w.Text)
		p.code(code.String())
	}
	p.finish()
	if len(p.q.Terms) == 0 { // nothing but stop words: better those than nothing
		p.stops = nil
		p.plain(title, r.w.Title)
		p.finish()
	}
	return p.q
}

// fewWords is how many words a question may have, apart from those that are
// left out, for these to be names too.
const fewWords = 2

// bare takes words of a short question for names that would be left out
// otherwise: with "where is hello used" somebody asks for hello.
func (p *reading) bare(title string) {
	var names []string
	few := fewWords
	for word := range strings.FieldsFuncSeq(title, func(c rune) bool { return c > 0x7f || terms.Classes[c] == terms.Other }) {
		switch lower := strings.ToLower(word); {
		case !p.stops[lower]:
			few--
		case !p.asking[lower]:
			names = append(names, word)
		}
	}
	if few < 0 {
		return
	}
	for _, name := range names {
		p.name(name)
	}
}

// codeLine tells a line of code, of a console or of a trace from prose.
func codeLine(line string) bool {
	t := strings.TrimSpace(line)
	if t == "" {
		return false
	}
	for _, p := range [...]string{">>>", "...", "$ ", "at ", "File \"", "Traceback", "import ", "from ", "def ", "class ", "return ", "#include", "func ", "fn ", "let ", "const ", "var ", "@"} {
		if strings.HasPrefix(t, p) {
			return p != "from " && p != "return " && p != "class " || strings.ContainsAny(t, "(:;.=")
		}
	}
	if n := len(t); t[n-1] == '{' || t[n-1] == ';' || t[n-1] == '}' || t[n-1] == ')' && strings.ContainsAny(t, "=") {
		return true
	}
	signs := 0
	for _, c := range t {
		if strings.ContainsRune("(){}[]=<>;\"'|\\+*&%$_/", c) {
			signs++
		}
	}
	return signs*5 > len(t)
}

// reading is a question that is being read.
type reading struct {
	*Reader
	q     Question
	stops terms.StopWords
	at    map[terms.ID]int
	heard []float32 // how much of each term there is
}

// plain reads prose.
func (p *reading) plain(text string, weight float32) {
	text = written().ticked.ReplaceAllStringFunc(text, func(s string) string {
		p.words(strings.Trim(s, "`"), weight*p.w.Tick)
		p.references(strings.Trim(s, "`"), true)
		return " "
	})
	p.references(text, false)
	p.words(text, weight)
}

// code reads code and traces: their words say little, what they name much.
func (p *reading) code(text string) {
	p.references(text, false)
	p.words(text, p.w.Code)
}

// references takes what is named exactly. quoted: the text is one name.
func (p *reading) references(text string, quoted bool) {
	for i, re := range written().frames {
		for _, m := range re.FindAllStringSubmatch(text, 60) {
			file, function := m[1], ""
			if len(m) > 2 {
				function = m[2]
			}
			if i == 1 {
				file, function = m[2], m[1]
			}
			p.path(file)
			p.name(function)
		}
	}
	for _, m := range written().pathLike.FindAllString(text, 40) {
		p.path(m)
	}
	for _, m := range written().dotted.FindAllString(text, 60) {
		p.name(m)
	}
	for _, m := range written().called.FindAllStringSubmatch(text, 60) {
		p.name(m[1])
	}
	if quoted && !strings.ContainsAny(text, " /") {
		p.name(text)
	}
}

// name notes a name with what stands before it.
func (p *reading) name(text string) {
	parts := strings.FieldsFunc(text, func(c rune) bool { return c > 0x7f || terms.Classes[c] == terms.Other })
	if len(parts) == 0 {
		return
	}
	n := Name{Name: parts[len(parts)-1]}
	if len(parts) > 1 {
		n.Owner = parts[len(parts)-2]
	}
	if len(n.Name) < 3 || len(n.Name) > terms.MaxIdent || len(p.q.Names) >= 60 || slices.Contains(p.q.Names, n) {
		return
	}
	p.q.Names = append(p.q.Names, n)
}

func (p *reading) path(text string) {
	text = strings.Trim(path.Clean("/"+strings.ReplaceAll(text, `\`, "/")), "/.")
	for _, inside := range []string{"site-packages/", "dist-packages/", "node_modules/"} {
		if i := strings.LastIndex(text, inside); i >= 0 {
			text = text[i+len(inside):]
		}
	}
	if len(text) < 4 || len(p.q.Paths) >= 40 || slices.Contains(p.q.Paths, text) {
		return
	}
	p.q.Paths = append(p.q.Paths, text)
}

// words adds the words of a text, and what two of them side by side may be the
// name of.
func (p *reading) words(text string, weight float32) {
	before, behind := "", 0 // the last word, and where it ends
	for i := 0; i < len(text); {
		if terms.Classes[text[i]] == terms.Other {
			i++
			continue
		}
		j := i
		for j < len(text) && terms.Classes[text[j]] != terms.Other {
			j++
		}
		word := text[i:j]
		if j+1 < len(text) && text[j] == '\'' && terms.Classes[text[j+1]] == terms.Lower {
			for j++; j < len(text) && terms.Classes[text[j]] == terms.Lower; j++ {
			}
			if p.stops[strings.ToLower(text[i:j])] {
				i = j
				continue
			}
		}
		i = j
		if len(word) > terms.MaxIdent || p.stops[strings.ToLower(word)] {
			continue
		}
		ids, sole := terms.Of(word, nil)
		w := weight
		if p.faint[strings.ToLower(word)] {
			w *= p.w.Faint
		}
		for n, id := range ids {
			if !sole && n == len(ids)-1 {
				p.add(id, w*p.w.Ident, true, word)
			} else {
				p.add(id, w, false, word)
			}
		}
		if begin := i - len(word); before != "" && begin == behind+1 && (text[behind] == ' ' || text[behind] == '-') && len(before)+len(word) < terms.MaxIdent {
			p.add(terms.Whole(before+"_"+word), weight*p.w.Pair, true, before+" "+word)
		}
		before, behind = word, i
	}
}

func (p *reading) add(id terms.ID, weight float32, whole bool, text string) {
	i, ok := p.at[id]
	if !ok {
		i = len(p.q.Terms)
		p.at[id] = i
		p.q.Terms = append(p.q.Terms, Term{ID: id, Whole: whole, Text: text, Of: i})
		p.heard = append(p.heard, 0)
	}
	t := &p.q.Terms[i]
	t.Weight = max(t.Weight, weight)
	p.heard[i] += weight
}

// finish weighs the terms: what is said again says more, but ever less.
func (p *reading) finish() {
	for i := range p.q.Terms {
		t := &p.q.Terms[i]
		if t.Weight > 0 {
			times := p.heard[i] / t.Weight
			t.Weight *= times * (1 + p.w.Repeat) / (times + p.w.Repeat)
		}
	}
	for i, t := range slices.Clone(p.q.Terms) {
		if t.Whole {
			continue
		}
		for _, id := range p.short[t.ID] {
			if _, ok := p.at[id]; !ok {
				p.add(id, t.Weight*p.w.Short, false, t.Text)
				form := &p.q.Terms[p.at[id]]
				form.Of, form.Title, form.Scope = i, t.Title, t.Scope
			}
		}
	}
}
