package search

import (
	"context"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// names knows which names there are. Frameworks call directories [slug] or
// {lang}, and who writes such a name in a glob means it.
type names struct {
	ctx   context.Context
	index *textindex.Index
	files workspace.Files
}

// there puts backslashes into the elements at the beginning of a glob that name
// a file or a directory as they are.
func (n *names) there(text string) string {
	if !special(text, "[{") {
		return text
	}
	elements := strings.Split(text, "/")
	dir := ""
	for i, e := range elements {
		if special(e, "*?") {
			break
		}
		name := path.Join(dir, e)
		if special(e, "[{") {
			if _, err := n.files.Stat(name); err != nil {
				break
			}
			elements[i] = escape(e, `\[]{}`)
		} else {
			name = path.Join(dir, unescape(e))
		}
		dir = name
	}
	return strings.Join(elements, "/")
}

// somewhere is the text of a glob in which brackets stand for themselves, if
// something matches that, else its text. Braces with a comma are alternatives.
func (n *names) somewhere(g glob) string {
	elements := strings.Split(g.text, "/")
	for i, e := range elements {
		if open := strings.IndexByte(e, '['); open >= 0 && special(e, "[") && strings.IndexByte(e[open:], ']') > 0 {
			elements[i] = escape(e, "[]")
		}
		if open := strings.IndexByte(e, '{'); open >= 0 && special(e, "{") && strings.IndexByte(e[open:], '}') > 0 && !strings.Contains(e, ",") {
			elements[i] = escape(elements[i], "{}")
		}
	}
	as := glob{text: strings.Join(elements, "/"), base: g.base}
	if as.text == g.text || !doublestar.ValidatePattern(as.text) {
		return g.text
	}
	_, found, err := Files(n.ctx, n.index, n.files, as.walk(n.files), 1, func(name string) bool {
		for ; name != "."; name = path.Dir(name) {
			if as.match(name) {
				return true
			}
		}
		return false
	})
	if err != nil || found == 0 {
		return g.text
	}
	return as.text
}

// bracketHint says how to name a bracket, when a glob has some that do not stand
// for themselves.
func bracketHint(text string) string {
	if !special(text, "[") && (!special(text, "{") || strings.Contains(text, ",")) {
		return ""
	}
	return `[ ] stand for one of some characters and { } for one of some texts; put \ before each that is part of a name, as in \[slug\]/page.tsx`
}

// special reports whether one of some characters stands in a glob without a
// backslash.
func special(text, some string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if strings.IndexByte(some, text[i]) >= 0 {
			return true
		}
	}
	return false
}

// escape puts a backslash before some characters that have none.
func escape(text, some string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(some, '\\') < 0 {
			b.WriteByte(text[i])
			i++
		} else if strings.IndexByte(some, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// unescape is the name that a glob without special characters stands for.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
