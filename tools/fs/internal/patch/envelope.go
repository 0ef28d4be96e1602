package patch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
)

// The lines that structure the *** Begin Patch form.
const (
	addFile    = "*** Add File: "
	updateFile = "*** Update File: "
	deleteFile = "*** Delete File: "
	moveTo     = "*** Move to: "
	endOfFile  = "*** End of File"
	endPatch   = "*** End Patch"
)

// sectionOf returns which line begins a file's part, or "".
func sectionOf(l string) string {
	for _, s := range [...]string{addFile, updateFile, deleteFile} {
		if strings.HasPrefix(l, s) {
			return s
		}
	}
	return ""
}

// parseEnvelope reads what follows *** Begin Patch; number is the first line's
// number in the patch.
func parseEnvelope(lines []string, number int) ([]File, error) {
	var files []File
	fail := func(i int, format string, args ...any) error {
		return fmt.Errorf("line %d of the patch: %s", number+i, fmt.Sprintf(format, args...))
	}
	for i := 0; i < len(lines); {
		l := lines[i]
		section := sectionOf(l)
		switch {
		case strings.TrimSpace(l) == endPatch:
			i = len(lines)
			continue
		case section == "" && strings.TrimSpace(l) == "":
			i++
			continue
		case section == "":
			return nil, fail(i, "expected %q, %q or %q, not a line that begins with %.12q", addFile, updateFile, deleteFile, l)
		}
		name := strings.TrimSpace(l[len(section):])
		if name == "" {
			return nil, fail(i, "the file has no name")
		}
		end := i + 1
		for end < len(lines) && sectionOf(lines[end]) == "" && strings.TrimSpace(lines[end]) != endPatch {
			end++
		}
		body := lines[i+1 : end]
		var f File
		var at int
		var err error
		switch section {
		case addFile:
			f, at, err = added(name, body)
		case deleteFile:
			f = File{Kind: Delete, Old: name}
		default:
			f, at, err = updated(name, body)
		}
		if err != nil {
			return nil, fail(i+1+at, "%v", err)
		}
		files = append(files, f)
		i = end
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the patch names no file")
	}
	return files, nil
}

// added reads the lines of a new file.
func added(name string, body []string) (File, int, error) {
	for len(body) > 0 && body[len(body)-1] == "" {
		body = body[:len(body)-1]
	}
	h := Hunk{Final: match.WithFinal}
	for i, l := range body {
		text, ok := strings.CutPrefix(l, "+")
		if !ok && l != "" {
			return File{}, i, fmt.Errorf("every line of an added file begins with +")
		}
		h.Ops = append(h.Ops, match.Op{Kind: '+', Text: text})
	}
	f := File{Kind: Add, New: name}
	if len(h.Ops) > 0 {
		f.Hunks = []Hunk{h}
	}
	return f, 0, nil
}

// updated reads the hunks of a file that changes.
func updated(name string, body []string) (File, int, error) {
	f := File{Kind: Update, Old: name, New: name}
	var h Hunk
	blank := 0
	flush := func() {
		h.Ops = h.Ops[:len(h.Ops)-blank]
		if len(h.Ops) > 0 {
			f.Hunks = append(f.Hunks, h)
		}
		h, blank = Hunk{}, 0
	}
	for i, l := range body {
		if to, ok := strings.CutPrefix(l, moveTo); ok && i == 0 {
			f.New = strings.TrimSpace(to)
			continue
		}
		switch {
		case strings.HasPrefix(l, "@@"):
			if len(h.Ops) > blank {
				flush()
			}
			if m := hunkHeader.FindStringSubmatch(l); m != nil {
				h.Line, _ = strconv.Atoi(m[1])
			} else if a := anchor(l); a != "" {
				h.Anchors = append(h.Anchors, a)
			}
		case strings.TrimSpace(l) == endOfFile:
			h.End = true
			flush()
		case l == "":
			h.Ops = append(h.Ops, match.Op{Kind: ' '})
			blank++
		case l[0] == ' ' || l[0] == '-' || l[0] == '+':
			h.Ops = append(h.Ops, match.Op{Kind: l[0], Text: l[1:]})
			blank = 0
		case l[0] == '\\':
			h.noNewline()
		default:
			return f, i, fmt.Errorf("lines of a hunk begin with a space, - or +, not %.12q", l)
		}
	}
	flush()
	for _, h := range f.Hunks {
		if !changes(h.Ops) {
			return f, 0, fmt.Errorf("a hunk of %s changes nothing; mark lines with - and +", name)
		}
	}
	if len(f.Hunks) == 0 && f.Old == f.New {
		return f, 0, fmt.Errorf("nothing is changed in %s", name)
	}
	return f, 0, nil
}
