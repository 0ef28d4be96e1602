package workspace

import "strings"

// Patterns are the rules of one file in the syntax of gitignore(5), for files
// that list something else than what is to be ignored.
type Patterns struct{ rules dirRules }

// ParsePatterns compiles patterns that are relative to the root of a view.
func ParsePatterns(text []byte) *Patterns {
	p := &Patterns{}
	p.rules.add(plainRules, text)
	return p
}

// Match reports whether the patterns name a file or directory itself. That a
// directory above it is named does not count.
func (p *Patterns) Match(name string, dir bool) bool {
	rules := p.rules
	for {
		first, rest, deeper := strings.Cut(name, "/")
		if !deeper {
			return rules.match([]byte(first), dir) == excluded
		}
		rules = rules.enter([]byte(first))
		name = rest
	}
}
