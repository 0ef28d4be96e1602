package config

import (
	"fmt"
	"slices"
	"strings"
)

// checkExamples fails when an example of r shows that its author meant
// something else.
func (r CommandRule) checkExamples() error {
	for _, line := range r.Match {
		if !r.begins(line) {
			return fmt.Errorf("match: %s does not begin with the prefix", cut(line))
		}
	}
	for _, line := range r.NotMatch {
		if r.begins(line) {
			return fmt.Errorf("notMatch: %s begins with the prefix", cut(line))
		}
	}
	return nil
}

// begins reports whether a command line begins with the words of the prefix.
func (r CommandRule) begins(line string) bool {
	got := words(line)
	return len(got) >= len(r.Prefix) && slices.Equal(got[:len(r.Prefix)], r.Prefix)
}

// words splits one simple command as a shell does: at white space that is not
// quoted.
func words(line string) []string {
	var out []string
	var word strings.Builder
	within, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case quote != 0 && ch == quote:
			quote = 0
		case ch == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			within = true
		case quote == 0 && (ch == '\'' || ch == '"'):
			quote, within = ch, true
		case quote == 0 && (ch == ' ' || ch == '\t' || ch == '\n'):
			if within {
				out = append(out, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteByte(ch)
			within = true
		}
	}
	if within {
		out = append(out, word.String())
	}
	return out
}
