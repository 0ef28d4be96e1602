package fs

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
)

// How much of the nearest region an error shows.
const (
	maxRegion = 30   // lines
	maxShown  = 2000 // bytes, of the lines and of the diff each
)

// nearRegion is the structured part of a no_match error.
type nearRegion struct {
	Path       string  `json:"path" jsonschema:"file"`
	StartLine  int     `json:"startLine,omitempty" jsonschema:"of what comes nearest, from one"`
	EndLine    int     `json:"endLine,omitempty" jsonschema:"of what comes nearest"`
	Similarity float64 `json:"similarity,omitempty" jsonschema:"0 to 1"`
	Lines      string  `json:"lines,omitempty" jsonschema:"the text there"`
	Diff       string  `json:"diff,omitempty" jsonschema:"from the search text to the file"`
}

// noMatch says that the search text is not in the file, what comes nearest to
// it, and how that differs.
func noMatch(name string, t *match.Text, e Edit, m *match.Missing) error {
	if mark := hiddenIn(e.Search, t.Body); mark != "" {
		return tools.Errorf(tools.NoMatch, "search: %s stands for a secret that was hidden from you, so the search text can't be found in %s; search for what is before or after it, or for other lines", mark, name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the search text is not in %s", name)
	if m.Nearest == nil {
		b.WriteString(", nor anything like it")
	}
	if n := strings.Count(t.Body, e.Replace); n > 0 && len(strings.TrimSpace(e.Replace)) >= 8 {
		line := t.LineAt(strings.Index(t.Body, e.Replace)) + 1
		fmt.Fprintf(&b, "; the replacement is there already, at line %d, so the edit may have been made before", line)
	}
	if m.Nearest == nil {
		b.WriteString("; read the file and copy the text from there")
		err := tools.Errorf(tools.NoMatch, "%s", b.String())
		err.Structured = nearRegion{Path: name}
		return err
	}
	near := describe(name, t, lines(e.Search), m.Nearest)
	if reason := why(t, e.Search, m); reason != "" {
		fmt.Fprintf(&b, "; %s", reason)
	}
	b.WriteString(codePoints(e.Search, near.Lines))
	fmt.Fprintf(&b, ". %s\nCopy the file's lines exactly and try again.", near.text())
	err := tools.Errorf(tools.NoMatch, "%s", b.String())
	err.Structured = near
	return err
}

// describe collects what is to be told about the nearest region.
func describe(name string, t *match.Text, search []string, n *match.Near) nearRegion {
	region := t.Lines[n.First:n.Last]
	shown := region[:min(len(region), maxRegion)]
	text := strings.Join(match.Texts(shown), "\n") + "\n"
	d := diff.Unified("search", name, strings.Join(search, "\n")+"\n", strings.Join(match.Texts(region), "\n")+"\n", 1)
	if _, rest, ok := strings.Cut(d, "\n@@"); ok { // the names say nothing here
		_, d, _ = strings.Cut(rest, "\n")
	}
	return nearRegion{
		Path: name, StartLine: n.First + 1, EndLine: n.Last, Similarity: float64(int(n.Score*100)) / 100,
		Lines: clipped(text, maxShown), Diff: clipped(d, maxShown),
	}
}

func (n nearRegion) text() string {
	s := fmt.Sprintf("Nearest, %s (%.0f %% alike):\n%s", LineRange{n.StartLine, n.EndLine}, n.Similarity*100, n.Lines)
	if n.Diff != "" {
		s += "Difference (- search, + file):\n" + n.Diff
	}
	return strings.TrimSuffix(s, "\n")
}

// why says what kept the nearest region from being taken.
func why(t *match.Text, search string, m *match.Missing) string {
	var region strings.Builder
	for _, l := range t.Lines[m.Nearest.First:m.Nearest.Last] {
		region.WriteString(l.Text + "\n")
	}
	if m.Reason == "" || strings.HasPrefix(m.Reason, "too little") {
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if !strings.Contains(bare(region.String()), bare(search)) {
			return m.Reason
		}
		tabs := func(s string) bool { return strings.Contains(s, "\t") }
		switch {
		case tabs(region.String()) && !tabs(search):
			return "only white space differs: the file has tabs where search has spaces"
		case !tabs(region.String()) && tabs(search):
			return "only white space differs: the file has spaces where search has tabs"
		}
		return "only white space differs"
	}
	return m.Reason
}

// maxPoints bounds the characters that an error names.
const maxPoints = 8

// codePoints names the characters beyond ASCII that only one of two texts has: who
// sees them side by side may not see the difference.
func codePoints(search, file string) string {
	list := func(in, other string) string {
		var names []string
		for _, r := range in {
			name := fmt.Sprintf("%U", r)
			if r <= unicode.MaxASCII || strings.ContainsRune(other, r) || slices.Contains(names, name) {
				continue
			}
			if names = append(names, name); len(names) == maxPoints {
				break
			}
		}
		return strings.Join(names, " ")
	}
	out := ""
	if names := list(file, search); names != "" {
		out += "; the file has " + names + " there"
	}
	if names := list(search, file); names != "" {
		out += "; search has " + names
	}
	return out
}
