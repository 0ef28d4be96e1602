// Package patch reads patches as models write them: unified diffs, with or
// without git's headers, and the form between *** Begin Patch and *** End
// Patch. Line numbers and counts in hunk headers are hints at most. It knows
// nothing of the files that a patch is for.
package patch

import (
	"fmt"
	iofs "io/fs"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
)

// Kind is what a patch does to a file.
type Kind string

// The kinds. An update may move its file.
const (
	Add    Kind = "add"
	Update Kind = "update"
	Delete Kind = "delete"
)

// File is what a patch does to one file.
type File struct {
	Kind  Kind
	Old   string // name before; "" for Add
	New   string // name after; "" for Delete
	Git   bool   // names begin with a/ and b/, which are taken off
	Plain string // the name as written, when nothing but a prefix like git's spoke for taking one off; else ""
	Mode  iofs.FileMode
	Hunks []Hunk

	// Whole says that the hunks of a Delete show all that was in the file.
	Whole bool
}

// Hunk is one place of a file.
type Hunk struct {
	Line    int      // where it should begin, counted from one; 0 means unknown
	Anchors []string // lines above the place, outermost first
	Ops     []match.Op
	Final   match.FinalEOL
	End     bool // the place is at the end of the file
}

// Parse reads a patch. Notes say what was put right. Errors name the line of
// the patch.
func Parse(s string) (files []File, notes []string, err error) {
	lines := split(s)
	if inner, ok := unfence(lines); ok {
		lines, notes = inner, append(notes, "the ``` fence around the patch was ignored")
	}
	for i, l := range lines {
		if strings.TrimSpace(l) == "*** Begin Patch" {
			files, err = parseEnvelope(lines[i+1:], i+2)
			return files, notes, err
		}
		if strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "@@ ") {
			break
		}
		if sectionOf(l) != "" {
			files, err = parseEnvelope(lines[i:], i+1)
			return files, append(notes, "*** Begin Patch was missing"), err
		}
	}
	// Counts are believed as long as they all fit.
	files, err = parseUnified(lines, true)
	if err != nil {
		if files, err = parseUnified(lines, false); err == nil {
			notes = append(notes, "line counts in hunk headers were wrong and ignored")
		}
	}
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no file header found: begin with --- and +++ lines, or with *** Begin Patch")
	}
	return files, notes, err
}

// split cuts at \n and takes off the \r that a patch of CRLF lines has.
func split(s string) []string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// unfence drops what is outside of a Markdown fence at the patch's beginning.
func unfence(lines []string) ([]string, bool) {
	first := 0
	for first < len(lines) && strings.TrimSpace(lines[first]) == "" {
		first++
	}
	if first == len(lines) || !strings.HasPrefix(lines[first], "```") {
		return lines, false
	}
	lines = lines[first+1:]
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.TrimSpace(lines[i]) == "```" {
			return lines[:i], true
		}
		if strings.TrimSpace(lines[i]) != "" {
			break
		}
	}
	return lines, true
}
