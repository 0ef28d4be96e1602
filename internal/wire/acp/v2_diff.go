package acp

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// change2 is what happens to a file.
type change2 struct{ Operation, Path, OldPath string }

// patch2 shows some or all changes as text.
type patch2 struct{ Format, Text string }

// diff2 are the changes, each with the parts of it that the patch shows. The changes say
// which files there are: what a patch has of others is not shown.
func diff2(changes []change2, p patch2) []ToolContent {
	shown := map[string][]part2{}
	if p.Format == "git_patch" {
		shown = parts2(p.Text)
	}
	all := []ToolContent{}
	for _, c := range changes {
		one := ToolContent{Type: ShowsDiff, Path: c.Path, From: c.OldPath}
		parts := partsOf(shown, c.Path)
		if len(parts) == 0 {
			parts = []part2{{}}
		}
		for _, part := range parts {
			one.NewText, one.OldText = part.after, nil
			if before := part.before; c.Operation != "add" {
				one.OldText = &before
			}
			all = append(all, one)
		}
	}
	return all
}

// partsOf takes what a patch has of a file, by its path or by a name below git's a/ and b/.
func partsOf(shown map[string][]part2, path string) []part2 {
	name := strings.TrimLeft(path, "/")
	for _, as := range []string{path, "b/" + name, "a/" + name} {
		if parts := shown[as]; parts != nil {
			delete(shown, as) // changes that name it again have no other
			return parts
		}
	}
	return nil
}

// part2 is a hunk: the lines before and after it.
type part2 struct{ before, after string }

// patchReader reads the hunks of a git patch by their files' names after it, or before
// it for files that are deleted. Lines that belong to no hunk are passed over.
type patchReader struct {
	files         map[string][]part2
	from, to      string // of the file that is read
	in            bool   // in a hunk, which has
	before, after strings.Builder
	cut           part2 // line ends that are not there, before and after
	last          byte  // how the latest line of the hunk begins
	left, right   int   // lines of the hunk that are still to come
}

func parts2(text string) map[string][]part2 {
	r := &patchReader{files: map[string][]part2{}}
	for line := range strings.Lines(text) {
		r.read(line)
	}
	r.keep()
	return r.files
}

// keep ends a hunk.
func (r *patchReader) keep() {
	name := r.to
	if name == devNull {
		name = r.from
	}
	if r.in && name != "" {
		r.files[name] = append(r.files[name], part2{strings.TrimSuffix(r.before.String(), r.cut.before), strings.TrimSuffix(r.after.String(), r.cut.after)})
	}
	r.before.Reset()
	r.after.Reset()
	r.in, r.cut, r.left, r.right = false, part2{}, 0, 0
}

const devNull = "/dev/null"

func (r *patchReader) read(line string) {
	if r.in && line[0] == '\\' { // the latest line has no line end in its file
		if r.last != '+' {
			r.cut.before = "\n"
		}
		if r.last != '-' {
			r.cut.after = "\n"
		}
		return
	}
	if r.left > 0 || r.right > 0 {
		r.content(line)
		return
	}
	r.keep()
	line = strings.TrimRight(line, "\r\n")
	if rest, ok := strings.CutPrefix(line, "--- "); ok {
		r.from, r.to = patchName(rest), ""
	} else if rest, ok := strings.CutPrefix(line, "+++ "); ok {
		r.to = patchName(rest)
	} else if m := hunkHeader.FindStringSubmatch(line); m != nil {
		r.in, r.left, r.right = true, lines2(m[1]), lines2(m[2])
	}
}

// content reads a line of a hunk.
func (r *patchReader) content(line string) {
	r.last = line[0]
	switch line[0] {
	case '-':
		r.before.WriteString(line[1:])
		r.left--
	case '+':
		r.after.WriteString(line[1:])
		r.right--
	default: // a space, or nothing where it was taken away
		line = strings.TrimPrefix(line, " ")
		r.before.WriteString(line)
		r.after.WriteString(line)
		r.left--
		r.right--
	}
}

var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// lines2 is a number of lines in the header of a hunk, which is 1 when there is none.
func lines2(count string) int {
	n, err := strconv.Atoi(cmp.Or(count, "1"))
	if err != nil {
		return 0
	}
	return n
}

// patchName is the name of a file in a header, which git quotes when it has to.
func patchName(name string) string {
	name, _, _ = strings.Cut(name, "\t")
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			return plain
		}
	}
	return name
}
