package patch

import (
	"fmt"
	iofs "io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
)

var hunkHeader = regexp.MustCompile(`^@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

const devNull = "/dev/null"

// unified reads a unified diff line by line.
type unified struct {
	lines  []string
	at     int
	strict bool // counts in hunk headers must fit
	files  []File
	open   bool // the last file may get hunks
}

func parseUnified(lines []string, strict bool) ([]File, error) {
	u := &unified{lines: lines, strict: strict}
	for u.at < len(u.lines) {
		l := u.lines[u.at]
		var err error
		switch {
		case strings.HasPrefix(l, "diff --git "):
			err = u.gitHeader()
		case u.fileHeader():
			err = u.names()
		case strings.HasPrefix(l, "@@"):
			err = u.hunk()
		default:
			u.at++ // words between files
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range u.files {
		if err := u.files[i].check(); err != nil {
			return nil, err
		}
	}
	return u.files, nil
}

func (u *unified) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: %s", u.at+1, fmt.Sprintf(format, args...))
}

// fileHeader reports whether --- and +++ lines follow.
func (u *unified) fileHeader() bool {
	return u.at+1 < len(u.lines) && strings.HasPrefix(u.lines[u.at], "--- ") && strings.HasPrefix(u.lines[u.at+1], "+++ ")
}

// gitHeader reads from diff --git to the first hunk.
func (u *unified) gitHeader() error {
	f := File{Kind: Update, Git: true}
	f.Old, f.New = gitNames(u.lines[u.at][len("diff --git "):])
	for u.at++; u.at < len(u.lines); u.at++ {
		l := u.lines[u.at]
		if strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "diff --git ") {
			break
		}
		key, value := headerLine(l)
		switch key {
		case "new file mode ":
			f.Kind = Add
			if !isFile(value) {
				return u.errorf("only files can be added, not links or submodules; use run_command, as with ln -s")
			}
			f.Mode = fileMode(value)
		case "new mode ":
			f.Mode = fileMode(value)
		case "deleted file mode ":
			f.Kind = Delete
		case "rename from ":
			f.Old = unquoted(value)
		case "rename to ":
			f.New = unquoted(value)
		case "copy from ", "copy to ":
			return u.errorf("copies are not supported; add the new file with its text")
		case "GIT binary patch", "Binary files ":
			return u.errorf("binary patches are not supported")
		case "--- ":
			if !u.fileHeader() {
				return u.errorf("a +++ line must follow")
			}
			old, new := headerName(value), headerName(u.lines[u.at+1][len("+++ "):])
			if old == devNull {
				f.Kind = Add
			} else {
				f.Old = strip(old, "a/")
			}
			if new == devNull {
				f.Kind = Delete
			} else {
				f.New = strip(new, "b/")
			}
			u.at++
		}
	}
	u.add(f)
	return nil
}

func headerLine(l string) (key, value string) {
	for _, key := range [...]string{
		"new file mode ", "new mode ", "deleted file mode ", "rename from ", "rename to ", "copy from ", "copy to ",
		"GIT binary patch", "Binary files ", "--- ",
	} {
		if v, ok := strings.CutPrefix(l, key); ok {
			return key, v
		}
	}
	return "", ""
}

// names reads --- and +++ lines without git's header.
func (u *unified) names() error {
	old, new := headerName(u.lines[u.at][len("--- "):]), headerName(u.lines[u.at+1][len("+++ "):])
	f := File{Kind: Update, Old: old, New: new}
	given := old
	switch {
	case old == devNull && new == devNull:
		return u.errorf("both names are %s", devNull)
	case old == devNull:
		f.Kind, given = Add, new
	case new == devNull:
		f.Kind = Delete
	}
	prefixed := (old == devNull || strings.HasPrefix(old, "a/")) && (new == devNull || strings.HasPrefix(new, "b/"))
	if prefixed {
		f.Old, f.New, f.Plain = strip(old, "a/"), strip(new, "b/"), given
	}
	u.at += 2
	u.add(f)
	return nil
}

func (u *unified) add(f File) {
	if f.Kind == Add {
		f.Old = ""
	}
	if f.Kind == Delete {
		f.New, f.Whole = "", true
	}
	u.files, u.open = append(u.files, f), true
}

func (f File) check() error {
	name := f.Old + f.New
	switch {
	case name == "":
		return fmt.Errorf("a file of the patch has no name")
	case f.Kind == Add && len(f.Hunks) > 1:
		return fmt.Errorf("%s: a new file has one hunk", f.New)
	}
	for _, h := range f.Hunks {
		for _, o := range h.Ops {
			if f.Kind == Add && o.Kind != '+' {
				return fmt.Errorf("%s: a new file has added lines only", f.New)
			}
			if f.Kind == Delete && o.Kind != '-' {
				return fmt.Errorf("%s: a deleted file has removed lines only", f.Old)
			}
		}
	}
	return nil
}

// hunk reads one hunk.
func (u *unified) hunk() error {
	if !u.open {
		return u.errorf("a hunk without --- and +++ lines above it")
	}
	var h Hunk
	oldLeft, newLeft := -1, -1
	if m := hunkHeader.FindStringSubmatch(u.lines[u.at]); m != nil {
		h.Line, _ = strconv.Atoi(m[1]) // what is too large is no hint
		oldLeft, newLeft = count(m[2]), count(m[4])
		if oldLeft == 0 {
			h.Line++ // an empty range names the line before it
		}
	} else if u.strict {
		return u.errorf("no line numbers")
	} else if a := anchor(u.lines[u.at]); a != "" {
		h.Anchors = []string{a}
	}
	blank := 0 // blank lines that may be the end of the patch and not of the hunk
	for u.at++; u.at < len(u.lines); u.at++ {
		l := u.lines[u.at]
		if u.strict {
			if oldLeft == 0 && newLeft == 0 && !strings.HasPrefix(l, `\`) {
				break
			}
		} else if strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "@@") || u.fileHeader() {
			break
		}
		kind, text := byte(' '), l
		switch {
		case l == "":
			blank++
		case l[0] == '\\':
			h.noNewline()
			continue
		case l[0] == ' ' || l[0] == '-' || l[0] == '+':
			kind, text, blank = l[0], l[1:], 0
		case u.strict:
			return u.errorf("lines of a hunk begin with a space, - or +")
		default:
			blank = 0 // a context line whose space was forgotten
		}
		if kind != '+' {
			oldLeft--
		}
		if kind != '-' {
			newLeft--
		}
		if u.strict && (oldLeft < 0 || newLeft < 0) {
			return u.errorf("more lines than the hunk header says")
		}
		h.Ops = append(h.Ops, match.Op{Kind: kind, Text: text})
	}
	if u.strict && oldLeft+newLeft != 0 {
		return u.errorf("fewer lines than the hunk header says")
	}
	if !u.strict {
		h.Ops = h.Ops[:len(h.Ops)-blank]
	}
	if !changes(h.Ops) {
		return u.errorf("the hunk above changes nothing")
	}
	f := &u.files[len(u.files)-1]
	f.Hunks = append(f.Hunks, h)
	return nil
}

// noNewline takes note that the last line has no line end.
func (h *Hunk) noNewline() {
	if len(h.Ops) == 0 {
		return
	}
	if h.Ops[len(h.Ops)-1].Kind == '-' {
		if h.Final == match.KeepFinal {
			h.Final = match.WithFinal
		}
		return
	}
	h.Final = match.WithoutFinal
}

func changes(ops []match.Op) bool {
	for _, o := range ops {
		if o.Kind != ' ' {
			return true
		}
	}
	return false
}

func count(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// anchor is the text of an @@ line without numbers.
func anchor(l string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.TrimLeft(l, "@")), "@@"))
}

// headerName is the name in a --- or +++ line: quoted as git does, or up to a
// tab, after which there is a date.
func headerName(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	return unquoted(strings.TrimSpace(s))
}

func unquoted(s string) string {
	if len(s) > 1 && s[0] == '"' {
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
	}
	return s
}

func strip(name, prefix string) string { return strings.TrimPrefix(name, prefix) }

// gitNames splits the names of a diff --git line. Names with spaces are only
// certain when both are the same, which they are unless rename lines follow.
func gitNames(s string) (old, new string) {
	if strings.HasPrefix(s, `"`) {
		if i := strings.Index(s[1:], `" `); i >= 0 {
			return strip(unquoted(s[:i+2]), "a/"), strip(unquoted(s[i+3:]), "b/")
		}
	}
	if n := len(s); n%2 == 1 && s[n/2] == ' ' && strip(s[:n/2], "a/") == strip(s[n/2+1:], "b/") {
		return strip(s[:n/2], "a/"), strip(s[n/2+1:], "b/")
	}
	a, b, _ := strings.Cut(s, " ")
	return strip(a, "a/"), strip(unquoted(b), "b/")
}

// isFile reports whether a mode of git is that of a regular file.
func isFile(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "100") }

func fileMode(s string) iofs.FileMode {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 8, 32)
	if err != nil {
		return 0
	}
	return iofs.FileMode(n) & iofs.ModePerm
}
