package gitcmd

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Kind says what sort of failure it is, for whoever gives it a code.
type Kind int

// The kinds of failure.
const (
	Failed      Kind = iota // git refused or broke off
	Invalid                 // an argument can't be used
	NotFound                // what was named does not exist
	Exists                  // what was to be made exists
	Conflicted              // the repository's state is in the way
	NoUpstream              // so is that the branch has none, or one of another name
	Diverged                // so is that the branch and its upstream both have commits of their own
	Unavailable             // something needed is missing: git, a remote, a trusted workspace, room on the disk
	Sensitive               // a file that may hold secrets
	Protected               // a file that is not for tools
	Outside                 // a file outside the workspace
	TooMuch                 // more than is handled at once
	TimedOut                // it took too long
)

// Failure says why something was not done and what helps.
type Failure struct {
	Kind Kind
	Text string
}

func (f *Failure) Error() string { return f.Text }

// Failf makes a Failure, its text as fmt.Sprintf does.
func Failf(kind Kind, format string, args ...any) *Failure {
	return &Failure{kind, fmt.Sprintf(format, args...)}
}

// userinfo is the name and password in a URL.
var userinfo = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s@'"]*@`)

// HideUserinfo takes names and passwords out of the URLs in text.
func HideUserinfo(text string) string { return userinfo.ReplaceAllString(text, "${1}***@") }

// escapes are sequences that a terminal obeys.
var escapes = regexp.MustCompile("\x1b(\\[[0-9;:?<=>]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[PX^_][^\x1b]*(\x1b\\\\)?|.)?")

// CleanMessage makes what git and a remote wrote fit to be shown.
func CleanMessage(text string) string {
	text = escapes.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	var lines []string
	for line := range strings.Lines(text) {
		if at := strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r'); at >= 0 {
			line = line[at+1:] // the last state of a progress line
		}
		line = strings.Map(func(r rune) rune {
			if r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
				return -1
			}
			return r
		}, line)
		if line = strings.TrimRight(line, " \t"); line != "" && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line)
		}
	}
	return HideUserinfo(strings.Join(lines, "\n"))
}

// Shown is a value from outside as it may stand in a message.
func Shown(value string) string {
	value = CleanMessage(value)
	if len(value) > 200 {
		value = strings.ToValidUTF8(value[:200], "") + "…"
	}
	return value
}
