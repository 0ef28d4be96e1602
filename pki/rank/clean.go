package rank

import (
	"regexp"
	"strings"
	"sync"
)

// What issues and commit messages have that says nothing of the code: what a
// template asks its readers to do, lists of versions, and who signed.
type noise struct {
	comment *regexp.Regexp // of a template
	version *regexp.Regexp // a line that is a program and its version
	trailer *regexp.Regexp // a line at the end of a commit message
}

var noises = sync.OnceValue(func() *noise {
	return &noise{
		comment: regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`),
		version: regexp.MustCompile(`(?i)^[\s>*•|-]*\[?[@\w][\w .@/()\]-]{0,40}?\s*(?:==|[:=|]|\s)\s*(?:[A-Za-z][\w.-]*\s+){0,2}v?\d+\.\d+[\w.+-]*(?:\s*\([^)]*\))?[\s|]*$`),
		trailer: regexp.MustCompile(`^(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|Cc|Link|Closes|Fixes|Refs|PiperOrigin-RevId|X-[\w-]+): \S.*$|^\(cherry picked from commit .*\)$`),
	}
})

// fewVersions is how many lines of versions side by side are a list of them.
const fewVersions = 3

// clean leaves noise out of a question. What is left of one that is nothing
// else is the question as it was.
func clean(text string) string {
	n := noises()
	out := n.comment.ReplaceAllString(text, " ")
	lines := strings.Split(strings.TrimRight(out, " \t\r\n"), "\n")
	for len(lines) > 1 {
		last := strings.TrimSpace(lines[len(lines)-1])
		if last != "" && !n.trailer.MatchString(last) {
			break
		}
		lines = lines[:len(lines)-1]
	}
	kept := lines[:0:0]
	for i := 0; i < len(lines); {
		versions, end := 0, i
		for j := i; j < len(lines); j++ {
			switch t := strings.TrimSpace(lines[j]); {
			case n.version.MatchString(t):
				versions++
				end = j + 1
				continue
			case t == "" || strings.Trim(t, "-=|: ") == "":
				continue // between the rows of a table
			}
			break
		}
		if versions >= fewVersions {
			i = end
			continue
		}
		kept = append(kept, lines[i])
		i++
	}
	if out = strings.Join(kept, "\n"); strings.TrimSpace(out) == "" {
		return text
	}
	return out
}
