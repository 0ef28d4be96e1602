package skills

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value is what a key of the frontmatter has: a text, or a map of texts.
type value struct {
	text    string
	entries map[string]string
}

// split takes a SKILL.md apart: the lines between its first two ---, and what follows.
func split(text string) (head []string, body string, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := strings.Split(text, "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return nil, "", errors.New("it does not begin with frontmatter: its first line has to be ---")
	}
	for i, line := range lines[1:] {
		if end := strings.TrimRight(line, " \t"); end == "---" || end == "..." {
			return lines[1 : i+1], strings.TrimSpace(strings.Join(lines[i+2:], "\n")), nil
		}
	}
	return nil, "", errors.New("its frontmatter has no end: a line --- has to follow it")
}

// reader reads the part of YAML that frontmatter is written in: texts of every style,
// lists of texts, and one level of maps. What is below is passed over.
type reader struct {
	lines []string
	at    int
	warn  func(format string, args ...any)
}

// parse reads frontmatter.
func parse(lines []string, warn func(format string, args ...any)) (map[string]value, error) {
	r := &reader{lines: lines, warn: warn}
	return r.mapping(0, true)
}

func (r *reader) failed(format string, args ...any) error {
	return fmt.Errorf("line %d of its frontmatter: %s", r.at+2, fmt.Sprintf(format, args...)) // the line --- is the first
}

// indent is how far a line is indented; blank reports whether there is nothing to read in it.
func indent(line string) (n int, blank bool) {
	rest := strings.TrimLeft(line, " ")
	return len(line) - len(rest), rest == "" || rest[0] == '#' || strings.TrimSpace(rest) == ""
}

// mapping reads the keys that are indented by n.
func (r *reader) mapping(n int, top bool) (map[string]value, error) {
	out := map[string]value{}
	for r.at < len(r.lines) {
		line := r.lines[r.at]
		in, blank := indent(line)
		switch {
		case blank:
			r.at++
			continue
		case in < n && !top:
			return out, nil
		case in != n:
			return nil, r.failed("it is indented otherwise than the lines before")
		case line[in] == '\t':
			return nil, r.failed("it is indented with a tab; use spaces")
		}
		key, rest, err := r.key(line[n:])
		if err != nil {
			return nil, err
		}
		if _, twice := out[key]; twice {
			r.warn("%s is there twice in its frontmatter, and the first one counts", key)
		}
		v, err := r.value(n, rest, top)
		if err != nil {
			return nil, err
		}
		if _, twice := out[key]; !twice {
			out[key] = v
		}
	}
	return out, nil
}

// key takes the key off a line.
func (r *reader) key(line string) (key, rest string, err error) {
	if line[0] == '"' || line[0] == '\'' {
		end := strings.IndexByte(line[1:], line[0])
		if end < 0 {
			return "", "", r.failed("the quotes of a key are not closed")
		}
		key, rest = line[1:end+1], strings.TrimLeft(line[end+2:], " ")
		if !strings.HasPrefix(rest, ":") {
			return "", "", r.failed("a key and a colon are expected")
		}
		return key, strings.TrimSpace(rest[1:]), nil
	}
	i := strings.Index(line, ":")
	for i >= 0 && i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
		next := strings.Index(line[i+1:], ":")
		if next < 0 {
			i = -1
			break
		}
		i += 1 + next
	}
	if i <= 0 || strings.ContainsAny(line[:1], "-?{}[]&*!|>%@`,") {
		return "", "", r.failed("a key and a colon are expected, as in name: some-name")
	}
	return strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+1:]), nil
}

// value reads what follows a key that is indented by n. rest is what stands in its line.
func (r *reader) value(n int, rest string, maps bool) (value, error) {
	switch {
	case rest == "" || rest[0] == '#':
		r.at++
		return r.below(n, maps)
	case rest[0] == '|' || rest[0] == '>':
		text, err := r.block(n, rest)
		return value{text: text}, err
	case rest[0] == '"' || rest[0] == '\'':
		text, err := r.quoted(n, rest)
		return value{text: text}, err
	case rest[0] == '[' || rest[0] == '{':
		return r.flow(n, rest)
	}
	return value{text: r.plain(n, rest)}, nil
}

// below reads what stands below a key: a map, a list, or a text.
func (r *reader) below(n int, maps bool) (value, error) {
	at := r.at
	for at < len(r.lines) {
		if _, blank := indent(r.lines[at]); !blank {
			break
		}
		at++
	}
	if at == len(r.lines) {
		r.at = at
		return value{}, nil
	}
	in, _ := indent(r.lines[at])
	line := r.lines[at][in:]
	switch {
	case line == "-" || strings.HasPrefix(line, "- "):
		if in < n {
			return value{}, nil
		}
		r.at = at
		return r.list(in)
	case in <= n:
		return value{}, nil
	}
	r.at = at
	if _, _, err := r.key(line); err != nil {
		if line[0] == '\t' {
			return value{}, r.failed("it is indented with a tab; use spaces")
		}
		return value{text: r.plain(n, line)}, nil
	}
	if !maps {
		r.pass(in)
		return value{}, nil
	}
	m, err := r.mapping(in, false)
	if err != nil {
		return value{}, err
	}
	v := value{entries: map[string]string{}}
	for key, one := range m {
		v.entries[key] = one.text
	}
	return v, nil
}

// pass passes over lines that are indented by n or more.
func (r *reader) pass(n int) {
	for r.at < len(r.lines) {
		if in, blank := indent(r.lines[r.at]); !blank && in < n {
			return
		}
		r.at++
	}
}

// list reads a list of texts, which are put together with spaces.
func (r *reader) list(n int) (value, error) {
	var items []string
	for r.at < len(r.lines) {
		line := r.lines[r.at]
		in, blank := indent(line)
		switch {
		case blank:
			r.at++
			continue
		case in > n: // more of an item
			r.at++
			continue
		case in < n || line[in:] != "-" && !strings.HasPrefix(line[in:], "- "):
			return value{text: strings.Join(items, " ")}, nil
		}
		item := strings.TrimSpace(strings.TrimPrefix(line[in:], "-"))
		if item != "" && (item[0] == '"' || item[0] == '\'') {
			text, err := r.quoted(n, item)
			if err != nil {
				return value{}, err
			}
			items = append(items, text)
			continue
		}
		items = append(items, uncommented(item))
		r.at++
	}
	return value{text: strings.Join(items, " ")}, nil
}

// plain reads a text without quotes, and the lines on which it goes on.
func (r *reader) plain(n int, rest string) string {
	parts := []string{uncommented(rest)}
	for r.at++; r.at < len(r.lines); r.at++ {
		in, blank := indent(r.lines[r.at])
		if line := strings.TrimSpace(r.lines[r.at]); blank && line != "" || !blank && in <= n {
			break
		} else if line != "" {
			parts = append(parts, uncommented(line))
		}
	}
	text := strings.Join(parts, " ")
	if strings.Contains(text, ": ") || strings.HasSuffix(text, ":") {
		r.warn("a text with a colon has to be in quotes in its frontmatter; it was read as if it were: %.40q", text)
	}
	return text
}

// uncommented is a plain text without the comment behind it.
func uncommented(text string) string {
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// quoted reads a text in quotes, which may go on over lines.
func (r *reader) quoted(n int, rest string) (string, error) {
	quote, began := rest[0], r.at
	var b strings.Builder
	for line := rest[1:]; ; {
		for i := 0; i < len(line); i++ {
			c := line[i]
			switch {
			case c == quote && quote == '\'' && i+1 < len(line) && line[i+1] == '\'':
				b.WriteByte(c)
				i++
			case c == quote:
				if after := strings.TrimSpace(line[i+1:]); after != "" && after[0] != '#' {
					r.warn("what follows the quotes is left out in line %d of its frontmatter", r.at+2)
				}
				r.at++
				return b.String(), nil
			case c == '\\' && quote == '"':
				used, ok := unescape(&b, line[i+1:])
				if !ok {
					return "", r.failed("there is no escape like %.3q; use single quotes for text with backslashes", line[i:])
				}
				i += used
			default:
				b.WriteByte(c)
			}
		}
		r.at++
		if r.at >= len(r.lines) {
			r.at = began
			return "", r.failed("the quotes are not closed")
		}
		if in, blank := indent(r.lines[r.at]); !blank && in <= n {
			r.at = began
			return "", r.failed("the quotes are not closed")
		}
		if line = strings.TrimSpace(r.lines[r.at]); line == "" {
			b.WriteByte('\n')
		} else if !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte(' ')
		}
	}
}

// unescape writes what stands for an escape, whose characters behind the backslash text
// begins with, and says how many these are.
func unescape(b *strings.Builder, text string) (used int, ok bool) {
	if text == "" { // the line goes on
		return 0, true
	}
	simple := map[byte]string{
		'n': "\n", 't': "\t", 'r': "\r", '0': "\x00", 'a': "\a", 'b': "\b", 'e': "\x1b", 'f': "\f", 'v': "\v",
		' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
	}
	if s, known := simple[text[0]]; known {
		b.WriteString(s)
		return 1, true
	}
	n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]
	if n == 0 || len(text) < n+1 {
		return 0, false
	}
	code, err := strconv.ParseUint(text[1:n+1], 16, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, false
	}
	b.WriteRune(rune(code))
	return n + 1, true
}

// flow reads a list or a map that is written in brackets, as texts.
func (r *reader) flow(n int, rest string) (value, error) {
	began := r.at
	end := byte(']')
	if rest[0] == '{' {
		end = '}'
	}
	text := rest
	for r.at++; strings.LastIndexByte(text, end) < 0; r.at++ {
		if r.at >= len(r.lines) {
			r.at = began
			return value{}, r.failed("the bracket is not closed")
		}
		if in, blank := indent(r.lines[r.at]); !blank && in <= n && strings.TrimSpace(r.lines[r.at]) != string(end) {
			r.at = began
			return value{}, r.failed("the bracket is not closed")
		}
		text += " " + strings.TrimSpace(r.lines[r.at])
	}
	text = text[1:strings.LastIndexByte(text, end)]
	v := value{}
	var items []string
	for _, item := range strings.Split(text, ",") {
		item = strings.TrimSpace(item)
		if end == ']' {
			items = append(items, strings.Trim(item, `"'`))
			continue
		}
		if v.entries == nil {
			v.entries = map[string]string{}
		}
		if key, one, ok := strings.Cut(item, ":"); ok {
			v.entries[strings.Trim(strings.TrimSpace(key), `"'`)] = strings.Trim(strings.TrimSpace(one), `"'`)
		}
	}
	v.text = strings.TrimSpace(strings.Join(items, " "))
	return v, nil
}

// block reads a text that stands below, as it is (|) or with its lines put together (>).
func (r *reader) block(n int, rest string) (string, error) {
	style, keep, own := rest[0], byte(0), 0
	for _, c := range []byte(uncommented(rest)[1:]) {
		switch {
		case c == '-' || c == '+':
			keep = c
		case '1' <= c && c <= '9':
			own = n + int(c-'0')
		default:
			return "", r.failed("%q is no sign of a text over several lines", string(c))
		}
	}
	var lines []string
	for r.at++; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		if strings.TrimSpace(line) == "" {
			lines = append(lines, "")
			continue
		}
		in := len(line) - len(strings.TrimLeft(line, " "))
		if own == 0 {
			own = max(in, n+1)
		}
		if in < own {
			if in > n {
				return "", r.failed("it is indented less than the lines before")
			}
			break
		}
		lines = append(lines, line[own:])
	}
	text := strings.Join(lines, "\n")
	if style == '>' {
		text = folded(lines)
	}
	if keep != '+' {
		text = strings.TrimRight(text, "\n")
	}
	return text, nil
}

// folded puts lines together: an empty one is a line's end, and what is indented stays.
func folded(lines []string) string {
	var b strings.Builder
	before := ""
	for i, line := range lines {
		deep := strings.HasPrefix(line, " ") || strings.HasPrefix(before, " ")
		switch {
		case i == 0:
		case line == "" || deep:
			b.WriteByte('\n')
		case before != "":
			b.WriteByte(' ')
		}
		b.WriteString(line)
		before = line
	}
	return b.String()
}
