package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/search/internal/dfa"
)

// RE2 runs in linear time, but in time that grows with the pattern's size too,
// so that size is bounded: in bytes as written and in instructions when its
// repetitions are written out.
const (
	maxPattern = 4 << 10
	maxProgram = 10_000
)

// pattern is what to look for in lines, compiled. It is shared by the workers.
type pattern struct {
	re      *regexp.Regexp // nil when every place of a needle is a match
	size    int            // instructions of re
	auto    *dfa.Program   // says which lines re matches; nil without re
	needles []needle       // one of them is in every match; nil when unknown
	likely  bool           // the needle may be in so many lines that it helps nothing
	keepCR  bool           // the pattern speaks of \r itself
	needed  textindex.Needed
}

// compilePattern makes a pattern of an expression or plain text. A failure is
// an *tools.Error with the place and what to do.
func compilePattern(expr string, plain, fold bool) (*pattern, error) {
	if len(expr) > maxPattern {
		return nil, tools.Errorf(tools.InvalidArguments, "pattern: %d bytes long, at most %d are possible; search for a part of it", len(expr), maxPattern)
	}
	if plain && strings.ContainsAny(expr, "\n") {
		return nil, tools.Errorf(tools.InvalidArguments, "pattern: lines are searched one by one, so it can't contain a line break; search for its most telling line")
	}
	p := &pattern{keepCR: strings.Contains(expr, "\r") || !plain && strings.Contains(expr, `\r`)}
	if plain && !fold {
		p.needles = []needle{{text: expr}}
		p.needed = textindex.Needed{{expr}}
		return p, nil
	}
	source := expr
	if plain {
		source = regexp.QuoteMeta(expr)
	}
	if fold {
		source = "(?i)" + source
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, patternError(expr, err)
	}
	if needsNewline(tree) {
		return nil, tools.Errorf(tools.InvalidArguments, `pattern: lines are searched one by one, so \n never matches; search for one line of it and use context`)
	}
	p.needed = needed(tree)
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
		p.needles = []needle{{text: string(tree.Rune)}}
		return p, nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, patternError(expr, err)
	}
	if p.size = len(prog.Inst); p.size > maxProgram {
		return nil, tools.Errorf(tools.InvalidArguments, "pattern: its repetitions make it too large (%d steps, at most %d are possible); use smaller counts, * or +", p.size, maxProgram)
	}
	if p.re, err = regexp.Compile(source); err != nil {
		return nil, patternError(expr, err)
	}
	p.auto = dfa.Compile(prog, !p.keepCR)
	if p.needles = required(tree); common(p.needles) {
		p.needles = nil
	}
	if p.needles == nil {
		if run := requiredRun(tree); run != nil {
			p.needles, p.likely = []needle{{sets: run}}, true
		}
	}
	if tree.Op == syntax.OpLiteral && len(p.needles) == 1 && len(p.needles[0].text) == len(string(tree.Rune)) {
		p.re, p.auto = nil, nil
	}
	return p, nil
}

// common reports whether needles are in so many lines that looking for them
// takes longer than matching all lines.
func common(needles []needle) bool {
	for _, n := range needles {
		if len(n.text) == 1 && frequency(n.text[0]) > commonByte {
			return true
		}
	}
	return false
}

// commonByte ranks bytes that are in every third line of source text.
const commonByte = 30

// needsNewline reports whether every match of re contains a line break.
func needsNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCapture, syntax.OpPlus:
		return needsNewline(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && needsNewline(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if needsNewline(sub) {
				return true
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !needsNewline(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// patternError says where an expression is wrong.
func patternError(expr string, err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return tools.Errorf(tools.InvalidArguments, "pattern: %v", err)
	}
	where := ""
	if i := strings.Index(expr, e.Expr); i >= 0 && e.Expr != "" {
		where = fmt.Sprintf(" in %q at character %d", e.Expr, utf8.RuneCountInString(expr[:i])+1)
	}
	hint := "set literal to true to search for it as plain text"
	for _, look := range [...]string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(expr, look) {
			hint = "RE2 has no lookaround: match more and look at the lines, or " + hint
			break
		}
	}
	return tools.Errorf(tools.InvalidArguments, "pattern: %s%s; %s", e.Code, where, hint)
}

// hasUpper reports whether an expression has an upper-case letter that stands
// for itself, which makes smart case sensitive.
func hasUpper(expr string, plain bool) bool {
	for i := 0; i < len(expr); {
		r, n := utf8.DecodeRuneInString(expr[i:])
		if !plain && r == '\\' {
			i += escapeLen(expr[i:])
			continue
		}
		if !plain && strings.HasPrefix(expr[i:], "(?") {
			if end := strings.IndexAny(expr[i+2:], ":)>"); end >= 0 {
				i += end + 3
				continue
			}
		}
		if !plain && strings.HasPrefix(expr[i:], "[[:") {
			i += 3
			continue
		}
		if unicode.IsUpper(r) {
			return true
		}
		i += n
	}
	return false
}

// escapeLen returns the length of the escape that expr begins with.
func escapeLen(expr string) int {
	if len(expr) < 2 {
		return len(expr)
	}
	_, n := utf8.DecodeRuneInString(expr[1:])
	if c := expr[1]; c == 'p' || c == 'P' || c == 'x' {
		if strings.HasPrefix(expr[2:], "{") {
			if end := strings.IndexByte(expr, '}'); end >= 0 {
				return end + 1
			}
		}
		if c != 'x' {
			n++
		} else {
			n += 2
		}
	}
	return min(1+n, len(expr))
}

// matcher finds the lines of one text after another that match. Each worker
// has its own.
type matcher struct {
	*pattern
	ctx     context.Context
	lines   *dfa.Matcher // nil when it isn't needed, or when re is faster
	finders []*finder
	data    []byte

	passed, looked int // bytes, and those of lines that were matched in vain, while likely
}

func newMatcher(ctx context.Context, p *pattern) *matcher {
	m := &matcher{pattern: p, ctx: ctx}
	if p.auto != nil {
		m.lines = p.auto.New()
	}
	for _, n := range p.needles {
		m.finders = append(m.finders, newFinder(n))
	}
	return m
}

func (m *matcher) reset(data []byte) {
	m.data = data
	for _, f := range m.finders {
		f.reset(data)
	}
}

// match is a line that matches.
type match struct {
	start, end int // of the line, without its line break
	at         int // where in the text the match is, or near there
}

// checkEvery is after how many lines that don't match the deadline is looked at.
const checkEvery = 256

// next returns the first line that matches and begins at or after from, which
// is the beginning of a line. It stops early when the context ends.
func (m *matcher) next(from int) (match, bool) {
	for tries := 1; from < len(m.data); tries++ {
		at := from
		if m.finders != nil {
			if at = m.candidate(from); at == len(m.data) {
				return match{}, false
			}
		} else if m.lines != nil {
			if l, decided := m.nextLine(&from); decided {
				return l, l.end >= 0
			}
			if at = from; at == len(m.data) {
				return match{}, false
			}
		}
		l := match{at: at}
		m.around(from, &l)
		if m.matches(&l) {
			return l, true
		}
		if m.likely && m.finders != nil && m.lines != nil {
			m.weigh(l.end+1-from, l.end-l.start)
		}
		if tries%checkEvery == 0 && m.ctx.Err() != nil {
			return match{}, false
		}
		from = l.end + 1
	}
	return match{}, false
}

// weigh gives up looking for what may help nothing when it does not: then the
// automaton goes through everything. It takes one line that was matched in vain
// for some bytes more than it has.
func (m *matcher) weigh(passed, line int) {
	const (
		before = 64 << 10 // bytes to be seen first
		more   = 32
	)
	m.passed, m.looked = m.passed+passed, m.looked+line+more
	if m.passed > before {
		if m.looked > m.passed/2 {
			m.finders = nil
		}
		m.passed, m.looked = 0, 0
	}
}

// around finds the line around l.at, which lies at or after from.
func (m *matcher) around(from int, l *match) {
	l.start = from + bytes.LastIndexByte(m.data[from:l.at], '\n') + 1
	l.end = lineEnd(m.data, l.at)
}

// stretch is how much is searched without looking at the deadline.
const stretch = 1 << 20

// nextLine is next without anything to look for. When it isn't decided, from
// is where to go on with re.
func (m *matcher) nextLine(from *int) (l match, decided bool) {
	for *from < len(m.data) {
		to := len(m.data)
		if to-*from > stretch {
			to = min(lineEnd(m.data, *from+stretch)+1, to)
		}
		at, ok := m.lines.Find(m.data[:to], *from)
		switch {
		case !ok:
			m.lines = nil
			*from += bytes.LastIndexByte(m.data[*from:min(at, to)], '\n') + 1
			return l, false
		case at < to:
			l.at = at
			m.around(*from, &l)
			return l, true
		case m.ctx.Err() != nil:
			return match{end: -1}, true
		}
		*from = to
	}
	return match{end: -1}, true
}

// candidate returns where the first of the needles is.
func (m *matcher) candidate(from int) int {
	at := len(m.data)
	for _, f := range m.finders {
		at = min(at, f.index(from))
	}
	return at
}

// longRun is how many steps (instructions times bytes) an expression may take
// without looking at the deadline.
const longRun = 1 << 20

func (m *matcher) matches(l *match) bool {
	if m.re == nil {
		return true
	}
	line := m.data[l.start:l.end]
	if m.likely && m.lines != nil {
		// The place is the one that the automaton says without a needle.
		end := min(l.end+1, len(m.data))
		at, ok := m.lines.Find(m.data[:end], l.start)
		if ok {
			l.at = at
			return at < end
		}
		m.lines = nil
	}
	if m.lines != nil && len(line) > 0 {
		at, ok := m.lines.Find(line, 0)
		if ok {
			return at < len(line)
		}
		m.lines = nil
	}
	if !m.keepCR {
		line = withoutCR(line)
	}
	if len(line)*m.size < longRun {
		return m.re.Match(line)
	}
	loc := m.re.FindReaderIndex(&endingReader{ctx: m.ctx, data: line})
	if loc == nil || m.ctx.Err() != nil {
		return false
	}
	if m.finders == nil {
		l.at = l.start + loc[0]
	}
	return true
}

// endingReader reads runes until the context ends, which ends a search that
// nothing else can end.
type endingReader struct {
	ctx  context.Context
	data []byte
	pos  int
}

func (r *endingReader) ReadRune() (rune, int, error) {
	if r.pos%16 == 0 && r.ctx.Err() != nil || r.pos >= len(r.data) {
		return 0, 0, io.EOF
	}
	c, n := rune(r.data[r.pos]), 1
	if c >= utf8.RuneSelf {
		c, n = utf8.DecodeRune(r.data[r.pos:])
	}
	r.pos += n
	return c, n, nil
}
