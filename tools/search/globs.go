package search

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// globs is a list of globs over names of the view. One without a slash is
// compared with the last element of a name.
type globs []glob

type glob struct {
	text   string
	base   bool   // text is for the last element
	suffix string // *suffix, when the glob is no more than that
}

// parseGlobs reads a list separated by commas, "" for none. Globs that begin
// with ! are returned as not.
func parseGlobs(field, list string, n *names) (yes, not globs, err error) {
	for _, p := range splitList(list) {
		p = strings.TrimSpace(p)
		out := &yes
		if rest, ok := strings.CutPrefix(p, "!"); ok {
			p, out = rest, &not
		}
		if p == "" {
			continue
		}
		g, err := parseGlob(field, p, n)
		if err != nil {
			return nil, nil, err
		}
		*out = append(*out, g)
	}
	return yes, not, nil
}

// splitList cuts at commas outside of braces and classes.
func splitList(list string) []string {
	var parts []string
	depth, from := 0, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			i++
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth <= 0 {
				parts = append(parts, list[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, list[from:])
}

func parseGlob(field, p string, n *names) (glob, error) {
	written := p
	p = strings.TrimPrefix(p, "./")
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	g := glob{base: !strings.Contains(p, "/")}
	g.text = n.there(strings.TrimPrefix(p, "/"))
	if g.text == "" || !doublestar.ValidatePattern(g.text) {
		return g, tools.Errorf(tools.InvalidArguments, `%s: %q is not a valid glob; close its brackets and braces, or put \ before a character that stands for itself`, field, written)
	}
	g.text = n.somewhere(g)
	tail := strings.TrimPrefix(g.text, "**/")
	if rest, ok := strings.CutPrefix(tail, "*"); ok && rest != "" && (g.base || tail != g.text) && !strings.ContainsAny(rest, `*?[{\/`) {
		g.suffix = rest
	}
	return g, nil
}

// match reports whether one of the globs matches a name.
func (gs globs) match(name string) bool {
	for i := range gs {
		if gs[i].match(name) {
			return true
		}
	}
	return false
}

func (g *glob) match(name string) bool {
	switch {
	case g.suffix != "":
		return strings.HasSuffix(name, g.suffix)
	case g.base:
		name = path.Base(name)
	}
	return doublestar.MatchUnvalidated(g.text, name)
}

// hidden reports whether a glob names something that begins with a dot, and so
// asks for what is hidden.
func (gs globs) hidden() bool {
	for _, g := range gs {
		for i := 0; i+1 < len(g.text); i++ {
			if g.text[i] == '.' && (i == 0 || strings.IndexByte("/{,", g.text[i-1]) >= 0) {
				return true
			}
		}
	}
	return false
}
