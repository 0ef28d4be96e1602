package redact

import (
	"slices"
	"strings"
)

// shellWord is one of a command, as the program gets it.
type shellWord struct {
	text       string
	at         []int32 // of each byte of text, its place in the string, and above it how it is quoted; nil when it is as it stands
	begin, end int     // in the string
	n          int     // of the string
}

// How a byte is quoted, in the low bits of word.at.
const (
	bareByte = iota
	singleQuoted
	doubleQuoted
	quoteBits = 2
)

// span is where text[i:j] stands in the string, without the quotes around it.
func (w *shellWord) span(i, j int) (from, to int) {
	if w.at == nil || i >= j {
		return w.begin + i, w.begin + j
	}
	first, last := int(w.at[i]), int(w.at[j-1])
	from, to = first>>quoteBits, last>>quoteBits+1
	if j == len(w.text) && first&(1<<quoteBits-1) == bareByte {
		to = w.end
	}
	return from, to
}

// literal reports whether a shell leaves text[i] as it is.
func (w *shellWord) literal(i int) bool {
	return w.at != nil && i < len(w.at) && w.at[i]&(1<<quoteBits-1) == singleQuoted
}

func (w *shellWord) option() bool { return len(w.text) > 1 && w.text[0] == '-' }

// command is a simple command of a line.
type command struct {
	words  []shellWord
	to     []shellWord // files that its output goes to
	in     []shellWord // here-strings
	docs   []shellWord // here-documents
	group  bool        // it is a group, which only says where its output goes
	piped  bool        // it gets the output of the one before
	target bool        // the next word is a file that is written
	source bool        // the next word is a file that is read
	input  bool        // the next word is a here-string
}

// take is an empty command, of those that are done.
func (h *hider) take(piped bool) *command {
	last := len(h.free) - 1
	if last < 0 {
		return &command{piped: piped}
	}
	c := h.free[last]
	h.free = h.free[:last]
	*c = command{words: c.words[:0], piped: piped}
	return c
}

func (c *command) add(w shellWord) {
	switch {
	case c.target:
		c.to = append(c.to, w)
	case c.input:
		c.in = append(c.in, w)
	case c.source:
	default:
		c.words = append(c.words, w)
	}
	c.target, c.source, c.input = false, false, false
}

// deepest is how far lines in quotes of lines are read.
const deepest = 3

// heredoc is a here-document that is to come.
type heredoc struct {
	end  string
	tabs bool
	of   *command
}

// line reads texts[n][from:to] as a shell does, a text that is no command line, too: only what programs of
// the table get is hidden, and NAME=value, which other texts have as well.
func (h *hider) line(n, from, to, depth int) {
	s := h.texts[n]
	var done []*command
	var outer []*command // in which this one is a substitution, or a group
	var docs []heredoc
	cur := h.take(false)
	end := func(piped bool) {
		if len(cur.words)+len(cur.to)+len(cur.in) > 0 || cur.group {
			done = append(done, cur)
			cur = h.take(piped)
			return
		}
		cur.piped = piped
	}
	run := func() {
		h.pipelines(done, depth)
		h.free = append(h.free, done...)
		done = done[:0]
	}
	for i := from; i < to; {
		switch c := s[i]; c {
		case ' ', '\t', '\r':
			i++
		case '\n':
			end(false)
			i++
			for _, d := range docs {
				body := i
				i = bodyEnd(s, i, to, d)
				d.of.docs = append(d.of.docs, shellWord{text: s[body:i], begin: body, end: max(body, i-1), n: n})
				h.inner(n, body, i, depth)
				i = lineEnd(s, i, to)
			}
			docs = docs[:0]
			if len(outer) == 0 {
				run()
			}
		case '#':
			if at := strings.IndexByte(s[i:to], '\n'); at >= 0 {
				i += at
			} else {
				i = to
			}
		case ';':
			end(false)
			i++
		case '|':
			piped := i+1 >= to || s[i+1] != '|'
			i++
			if i < to && (s[i] == '|' || s[i] == '&') {
				i++
			}
			end(piped)
		case '&':
			if i++; i < to && s[i] == '>' { // both outputs
				continue
			}
			end(false)
		case '(':
			outer, cur = append(outer, cur), h.take(false)
			i++
		case ')', '`':
			switch last := len(outer) - 1; {
			case last >= 0 && (c == ')' || outer[last].source):
				end(false)
				h.free = append(h.free, cur)
				outer, cur = outer[:last], outer[last]
				cur.source = false
				cur.group = c == ')' && len(cur.words) == 0
			case c == '`':
				cur.source = true // as a mark that a backtick ends it
				outer, cur = append(outer, cur), h.take(false)
			default:
				end(false)
			}
			i++
		case '<':
			rest := s[i:to]
			switch {
			case strings.HasPrefix(rest, "<<<"):
				cur.input = true
				i += 3
			case strings.HasPrefix(rest, "<<"):
				i += 2
				d := heredoc{of: cur}
				if i < to && s[i] == '-' {
					d.tabs = true
					i++
				}
				for i < to && (s[i] == ' ' || s[i] == '\t') {
					i++
				}
				w := readWord(s, n, i, to)
				d.end, i = w.text, max(w.end, i)
				if d.end != "" {
					docs = append(docs, d)
				}
			default:
				cur.source = true
				i++
			}
		case '>':
			for i++; i < to && (s[i] == '>' || s[i] == '|' || s[i] == '&'); i++ {
			}
			cur.target = true
		default:
			w := readWord(s, n, i, to)
			if w.end == i { // the end of a line after a backslash
				i = lineEnd(s, i, to)
				continue
			}
			i = w.end
			if i < to && (s[i] == '<' || s[i] == '>') && strings.Trim(w.text, "0123456789") == "" {
				continue // the number of a file
			}
			cur.add(w)
		}
	}
	end(false)
	for len(outer) > 0 {
		cur, outer = outer[len(outer)-1], outer[:len(outer)-1]
		end(false)
	}
	run()
	h.free = append(h.free, cur)
}

// inner reads a line that is a part of another.
func (h *hider) inner(n, from, to, depth int) {
	if depth < deepest {
		h.line(n, from, to, depth+1)
	}
}

func lineEnd(s string, i, to int) int {
	if at := strings.IndexByte(s[i:to], '\n'); at >= 0 {
		return i + at + 1
	}
	return to
}

// bodyEnd is where the line begins that ends a here-document.
func bodyEnd(s string, i, to int, d heredoc) int {
	for i < to {
		next := lineEnd(s, i, to)
		l := strings.TrimRight(s[i:next], "\r\n")
		if d.tabs {
			l = strings.TrimLeft(l, "\t")
		}
		if l == d.end {
			return i
		}
		i = next
	}
	return to
}

// readWord reads the word that begins at i. It ends at i when there is none: after a backslash, a line ends.
func readWord(s string, n, i, to int) shellWord {
	w := shellWord{begin: i, n: n}
	var b []byte
	plain := func(until int) { // until here all was as it stands
		if w.at == nil && b == nil {
			b = append(make([]byte, 0, until-w.begin+16), s[w.begin:until]...)
			w.at = make([]int32, 0, until-w.begin+16)
			for k := w.begin; k < until; k++ {
				w.at = append(w.at, int32(k<<quoteBits))
			}
		}
	}
	put := func(k, quoted int) {
		b = append(b, s[k])
		w.at = append(w.at, int32(k<<quoteBits|quoted))
	}
	parens := 0
loop:
	for i < to {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r', ';', '|', '&', '<', '>', '`':
			break loop
		case '(':
			if i == w.begin || s[i-1] == '$' || s[i-1] == '=' {
				break loop
			}
			parens++
		case ')':
			if parens == 0 {
				break loop
			}
			parens--
		case '\\':
			if i+1 < to && (s[i+1] == '\n' || s[i+1] == '\r') {
				if i == w.begin {
					return shellWord{begin: i, end: i, n: n}
				}
				break loop
			}
			if i+1 >= to {
				break
			}
			plain(i)
			put(i+1, bareByte)
			i += 2
			continue
		case '\'', '"':
			end := quoteEnd(s, i, to)
			if end < 0 {
				break // as it stands
			}
			dollar := i > w.begin && s[i-1] == '$' && (b == nil || len(b) > 0 && b[len(b)-1] == '$')
			plain(i)
			if dollar { // $'…' and $"…"
				b, w.at = b[:len(b)-1], w.at[:len(w.at)-1]
			}
			b, w.at = slices.Grow(b, end-i), slices.Grow(w.at, end-i)
			for k := i + 1; k < end; k++ {
				quoted := singleQuoted
				if c == '"' {
					quoted = doubleQuoted
				}
				if s[k] == '\\' && k+1 < end && (dollar || c == '"' && strings.IndexByte("\"\\$`", s[k+1]) >= 0) {
					k++
					quoted = singleQuoted
				}
				put(k, quoted)
			}
			i = end + 1
			continue
		}
		if b != nil || w.at != nil {
			put(i, bareByte)
		}
		i++
	}
	w.end = i
	if w.at == nil {
		w.text = s[w.begin:i]
	} else {
		w.text = string(b)
	}
	return w
}

// longestSubstitution bounds how far the end of one in quotes is looked for.
const longestSubstitution = 4 << 10

// quoteEnd is where the quote at i ends, or -1. An apostrophe within a word of a sentence begins none that
// goes over lines.
func quoteEnd(s string, i, to int) int {
	q := s[i]
	if q == '\'' {
		last := to
		dollar := i > 0 && s[i-1] == '$'
		if i > 0 && letter(s[i-1]) && i+1 < to && letter(s[i+1]) {
			last = lineEnd(s, i, to)
		}
		for k := i + 1; k < last; k++ {
			switch {
			case s[k] == '\\' && dollar:
				k++
			case s[k] == '\'':
				return k
			}
		}
		return -1
	}
	ends := true
	for k := i + 1; k < to; k++ {
		switch s[k] {
		case '\\':
			k++
		case '$':
			if ends && k+1 < to && s[k+1] == '(' {
				end := substitutionEnd(s, k+1, min(to, k+longestSubstitution))
				ends, k = end > k+1, end
			}
		case '"':
			return k
		}
	}
	return -1
}

// substitutionEnd is where the bracket at i ends, or i.
func substitutionEnd(s string, i, to int) int {
	depth := 0
	for k := i; k < to; k++ {
		switch s[k] {
		case '\\':
			k++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return i
}

// words are those of one command.
func (h *hider) words() {
	c := &command{}
	for n, s := range h.texts {
		c.words = append(c.words, shellWord{text: s, end: len(s), n: n})
	}
	h.pipelines([]*command{c}, 0)
}
