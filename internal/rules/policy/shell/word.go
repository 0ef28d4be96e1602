package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word is the value of w after quotes are removed, as far as it is known.
func (r *reader) word(w *syntax.Word) Word {
	if lit := w.Lit(); lit != "" && !strings.ContainsAny(lit, `\{}*?[]`) {
		return Word{Text: lit, Known: true}
	}
	unknown := Word{Text: r.written(w)}
	var b strings.Builder
	glob := false
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if braces(p.Value) {
				return unknown
			}
			glob = glob || globs(p.Value)
			b.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				value, _, err := expand.Format(nil, p.Value, nil)
				value, _, _ = strings.Cut(value, "\x00") // as bash does
				if err != nil {
					return unknown
				}
				b.WriteString(value)
				continue
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return unknown
				}
				b.WriteString(unescape(lit.Value, "$`\"\\"))
			}
		default:
			return unknown
		}
	}
	// What a pattern begins with is what the names begin with that it stands for.
	return Word{Text: b.String(), Known: !glob, Glob: glob}
}

// unescape removes the backslashes that quote the next character: any, or one
// of some. A quoted line end is nothing.
func unescape(s, some string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (some == "" || s[i+1] == '\n' || strings.IndexByte(some, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// braces reports whether bash would make several words of an unquoted text.
func braces(s string) bool {
	open := strings.IndexByte(s, '{')
	return open >= 0 && (strings.Contains(s[open:], ",") || strings.Contains(s[open:], ".."))
}

// globs reports whether an unquoted text is a pattern for names of files.
func globs(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if strings.IndexByte(s[i:], ']') > 1 {
				return true
			}
		}
	}
	return false
}

// spell writes words so that a person can read them back.
func spell(words []Word) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.Text
		if w.Known && !w.Glob {
			if q, err := syntax.Quote(w.Text, syntax.LangBash); err == nil {
				parts[i] = q
			}
		}
	}
	return strings.Join(parts, " ")
}

// quote shortens a text for a message.
func quote(s string) string {
	const limit = 80
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return "`" + s + "`"
}

// texts are the values of words, and whether all are known.
func texts(words []Word) (out []string, known bool) {
	known = true
	for _, w := range words {
		out = append(out, w.Text)
		known = known && w.Known
	}
	return out, known
}
