package shell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// A rule whose Known is set allows what a person allows for a session with a pattern:
// commands that begin so and go on as beginnings say, where no option names a program.

// goesOnAsKnown reports whether c is such a command of the rule's.
func (j *Judge) goesOnAsKnown(r Rule, c Command, set []Assign) bool {
	if j.Rules.deny() && j.couldRun(c, Part{}) != "" {
		return false
	}
	return j.pattern(c, set) == r.String()
}

// mostWords and mostBytes bound a rule that a person allows: they read it.
const (
	mostWords = 8
	mostBytes = 200
)

// CheckKnown says why no rule with Known can allow commands that begin with those words, or
// nil. What is not known to be narrow is refused.
func CheckKnown(words []string) error {
	size := 0
	for _, w := range words {
		size += len(w)
	}
	switch {
	case len(words) == 0:
		return fmt.Errorf("a rule needs the first words of a command")
	case len(words) > mostWords || size > mostBytes:
		return fmt.Errorf("it has %d words of %d bytes, more than anybody reads; at most %d words of %d bytes can be allowed for good", len(words), size, mostWords, mostBytes)
	}
	c := Command{Text: strings.Join(words, " ")}
	for _, w := range words {
		if w == "" || !plainWord(w) {
			return fmt.Errorf("the word %.60q has characters that a shell or a reader may take for something else", w)
		}
		c.Words = append(c.Words, Word{Text: w, Known: true})
	}
	name := c.Program()
	_, wraps := wrappers[name]
	unversioned := strings.TrimRight(name, "0123456789.")
	switch {
	case strings.Contains(words[0], "/"):
		return fmt.Errorf("%s is a file, and what it does may change", quote(words[0]))
	case slices.Contains(interpreters, name), slices.Contains(interpreters, unversioned):
		return fmt.Errorf("%s runs whatever its arguments or its input say", quote(name))
	case wraps && name != "git":
		return fmt.Errorf("%s runs other commands", quote(name))
	case programs[name].never != "":
		return fmt.Errorf("%s can be anything: %s", quote(name), programs[name].never)
	case Irrecoverable(c) != "":
		return fmt.Errorf("it can't be undone: %s", Irrecoverable(c))
	}
	named := beginnings[name]
	for _, b := range named {
		if b.begins(c) == len(words) && guard(c, len(words)) == "" {
			return nil
		}
	}
	if len(named) > 0 {
		return fmt.Errorf("it is not known what commands run that begin with %s; for %s known are: %s", quote(c.Text), quote(name), begun(name))
	}
	return fmt.Errorf("it is not known what %s runs with other arguments", quote(name))
}

// begun lists how commands of a program can begin.
func begun(name string) string {
	var list []string
	for _, b := range beginnings[name] {
		list = append(list, quote(strings.TrimSpace(name+" "+strings.ReplaceAll(b.words, "*", "NAME"))))
	}
	return strings.Join(list, ", ")
}

// projects are programs that run what files of the project say, which agents can change.
var projects = []string{"cargo", "eslint", "gradle", "make", "mvn", "npm", "pnpm", "prettier", "pytest", "yarn", "go test", "git commit"}

// Widest says in words the most that a rule with Known allows.
func Widest(words []string) string {
	text := "every " + quote(strings.Join(words, " ")+" …")
	if slices.ContainsFunc(projects, func(p string) bool {
		return words[0] == p || len(words) > 1 && words[0]+" "+words[1] == p
	}) {
		text += ", and so whatever the project's own files have it run"
	}
	return text
}

// Opens are the patterns that a line lacks to be allowed: none when it is allowed, and ok is
// false when no rule with Known would allow it.
func (v Verdict) Opens() (patterns []string, ok bool) {
	if v.Irrecoverable != "" {
		return nil, false
	}
	for _, p := range v.Parts {
		switch {
		case p.Outcome == policy.Allow || p.Pattern != "" && slices.Contains(patterns, p.Pattern):
		case p.Outcome != "" || p.Pattern == "":
			return nil, false
		default:
			patterns = append(patterns, p.Pattern)
		}
	}
	return patterns, true
}
