package gitrepo

import (
	"strings"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// ModelTrailer is the trailer that names a model which took part in a commit.
const ModelTrailer = "X-AI-Model"

// CheckMessage returns a commit message without white space around it.
func CheckMessage(message string) (string, error) {
	switch {
	case strings.TrimSpace(message) == "":
		return "", gitcmd.Failf(gitcmd.Invalid, "the commit message is empty; say what changes and why")
	case strings.IndexByte(message, 0) >= 0:
		return "", gitcmd.Failf(gitcmd.Invalid, "the commit message holds a NUL; leave it out")
	case !utf8.ValidString(message):
		return "", gitcmd.Failf(gitcmd.Invalid, "the commit message is not valid UTF-8")
	}
	return strings.Trim(strings.ReplaceAll(message, "\r\n", "\n"), "\n\t "), nil
}

// withModels adds a trailer for each model that has none, as git
// interpret-trailers --if-exists addIfDifferent does: to the block of trailers
// that the message ends in, or in a new one.
func withModels(message string, models []string) string {
	lines := strings.Split(strings.TrimRight(message, "\n \t"), "\n")
	start := trailerBlock(lines)
	block := lines[start:]
	var add []string
	has := func(model string) bool {
		for _, line := range append(block, add...) {
			if at := separator(line); at > 0 && strings.EqualFold(strings.TrimSpace(line[:at]), ModelTrailer) && strings.EqualFold(strings.TrimSpace(line[at+1:]), model) {
				return true
			}
		}
		return false
	}
	for _, model := range models {
		model = strings.Join(strings.Fields(gitcmd.CleanMessage(model)), " ")
		if len(model) > 0 && len(model) <= maxModel && !has(model) {
			add = append(add, ModelTrailer+": "+model)
		}
	}
	if len(add) > 0 && start == len(lines) {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, add...), "\n") + "\n"
}

// maxModel bounds the name of a model, in bytes.
const maxModel = 200

// trailerBlock returns the index of the line that begins the trailers of a
// message, len(lines) when there are none. They are the last paragraph but not
// the first, if it has nothing else, or one that git itself writes and for at
// most three other lines one that is a trailer.
func trailerBlock(lines []string) int {
	title := 0
	for title < len(lines) && (strings.TrimSpace(lines[title]) != "" || title == 0) {
		title++
	}
	recognized, trailers, others, continuations := false, 0, 0, 0
	seen := false
	for i := len(lines) - 1; i >= title; i-- {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "#"):
			others += continuations
			continuations = 0
		case strings.TrimSpace(line) == "":
			if !seen {
				continue
			}
			others += continuations
			if recognized && trailers*3 >= others || trailers > 0 && others == 0 {
				return i + 1
			}
			return len(lines)
		case strings.HasPrefix(line, "Signed-off-by: "), strings.HasPrefix(line, "(cherry picked from commit "):
			seen, recognized = true, true
			trailers++
			continuations = 0
		case separator(line) > 0 && !isSpace(line[0]):
			seen = true
			trailers++
			continuations = 0
		case isSpace(line[0]):
			seen = true
			continuations++
		default:
			seen = true
			others += 1 + continuations
			continuations = 0
		}
	}
	return len(lines)
}

// separator is the index of the colon after what may be the name of a trailer,
// or -1.
func separator(line string) int {
	space := false
	for i := range len(line) {
		c := line[i]
		switch {
		case c == ':':
			return i
		case !space && (c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'):
		case i > 0 && (c == ' ' || c == '\t'):
			space = true
		default:
			return -1
		}
	}
	return -1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }
