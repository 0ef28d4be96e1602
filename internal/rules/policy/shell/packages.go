package shell

import "strings"

// A rule whose Packages are set allows an install as long as the lock file lists just those.

// allows reports whether a rule that allows, and with whose words c begins, holds for c.
func (j *Judge) allows(r Rule, c Command, set []Assign) bool {
	switch {
	case r.Packages != "":
		return j.installs(r, c, set)
	case r.Known:
		return j.goesOnAsKnown(r, c, set)
	}
	return true
}

// installs reports whether c installs the packages of the rule and nothing else.
func (j *Judge) installs(r Rule, c Command, set []Assign) bool {
	if j.Installs == nil || len(set)+len(c.Env)+len(c.Via) > 0 || j.Rules.deny() && j.couldRun(c, Part{}) != "" {
		return false
	}
	words, known := texts(c.Words)
	return known && j.Installs.Digest(words) == r.Packages
}

// Alone is the only command of a line that does nothing else, in words that are known.
func (l *Line) Alone(text string) (words []string, ok bool) {
	if l.Unread != "" || l.PowerShell || len(l.Commands) != 1 || len(l.Writes)+len(l.Reads)+len(l.Assigns)+len(l.Doubts) > 0 {
		return nil, false
	}
	c := l.Commands[0]
	if len(c.Env)+len(c.Via) > 0 || strings.TrimSpace(text) != c.Text {
		return nil, false
	}
	for _, w := range c.Words {
		if !w.Known || w.Glob {
			return nil, false
		}
		words = append(words, w.Text)
	}
	return words, true
}
