package trust

import (
	"slices"
	"strings"
)

func (v value) or(o value) value {
	return value{union(v.texts, o.texts), v.unknown || o.unknown}
}

// union is a and what else is in b, as a list of its own.
func union(a, b []string) []string {
	a = slices.Clone(a)
	for _, text := range b {
		if !slices.Contains(a, text) && len(a) < maxValues {
			a = append(a, text)
		}
	}
	return a
}

// special are the characters of patterns.
const special = `*?[]\`

// escape makes a pattern of a text, for that text alone.
func escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(special, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// unescape is the text of a pattern.
func unescape(pattern string) string { return unquote(pattern, special) }

// unquote takes away the backslashes before some characters. A quoted end of a line
// is nothing.
func unquote(s, some string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\n' || strings.IndexByte(some, s[i+1]) >= 0) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unquoted is a text without quotes as a pattern: what has a backslash before it
// stands for itself.
func unquoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				b.WriteString(escape(s[i : i+1]))
			}
		case s[i] == '[' && i+1 < len(s) && s[i+1] == '!':
			b.WriteString("[^")
			i++
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func isPattern(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}
