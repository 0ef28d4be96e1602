package system

import "testing"

// A sentence does not end behind an abbreviation.
func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"Finds files by a glob, e.g. **/*.go. It skips what git ignores.": "Finds files by a glob, e.g. **/*.go. It skips what git ignores.",
		"Find files, e.g. tests. Others follow.":                          "Find files, e.g. tests.",
		"Reads a file. Writes none.":                                      "Reads a file.",
		"Reads `a.go`. Writes none.":                                      "Reads `a.go`.",
		"Reads a file":                                                    "Reads a file",
		"Reads.\nMore. And more.":                                         "Reads.",
	} {
		if got := firstSentence(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
