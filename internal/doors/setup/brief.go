package setup

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Brief is what a person reads of a change before they are asked: the lines that come and
// go, without those around them. All files of a plug-in are one.
type Brief struct {
	Path         string // of the file, or of the plug-in's directory
	New, Removed bool
	Lines        []string // each after its sign
	More         int      // lines that are left out
	Plugin       int      // files of a plug-in, whose lines are ours; 0: this is no plug-in
}

// mostLines bounds the lines of a file.
const mostLines = 8

// Brief has the changes in short. hide takes secrets out of a diff.
func (p *Plan) Brief(hide func(string) string) (out []Brief) {
	var plug *Brief
	for _, c := range p.Changes {
		b := Brief{Path: c.writes(), New: !c.existed, Removed: c.Remove}
		if c.family == wholeFile {
			plug = plug.with(b)
			continue
		}
		b.Lines = signed(hide(c.Diff))
		if len(b.Lines) > mostLines {
			b.Lines, b.More = b.Lines[:mostLines], len(b.Lines)-mostLines
		}
		out = append(out, b)
	}
	if plug != nil {
		out = append(out, *plug)
	}
	return out
}

// writes is the file that is written.
func (c *Change) writes() string {
	if c.Target != "" {
		return c.Target
	}
	return c.Path
}

// with adds a file to a plug-in.
func (b *Brief) with(file Brief) *Brief {
	if b == nil {
		b = &Brief{Path: filepath.Dir(file.Path), New: file.New, Removed: file.Removed}
	}
	for !strings.HasPrefix(file.Path, b.Path+string(filepath.Separator)) && filepath.Dir(b.Path) != b.Path {
		b.Path = filepath.Dir(b.Path)
	}
	b.New, b.Removed, b.Plugin = b.New && file.New, b.Removed && file.Removed, b.Plugin+1
	return b
}

// signedLine is a line that comes or goes.
type signedLine struct{ sign, text string }

// signed are the lines of a diff that come or go, each after its sign. Lines without a word,
// and those that only get or lose a comma, are left out where there are others.
func signed(diff string) []string {
	var all, kept, gone []signedLine // gone: since the last line that stays
	for i, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		if i < 2 || line == "" || line[0] == '\\' { // the names of the file; the missing line end
			continue
		}
		l := signedLine{line[:1], strings.TrimRight(line[1:], " \t\r")}
		switch l.sign {
		case "(": // a note
			l = signedLine{"", line}
		case "+", "-", "~":
		default:
			gone = nil
			continue
		}
		all = append(all, l)
		same := func(g signedLine) bool { return strings.TrimSuffix(g.text, ",") == strings.TrimSuffix(l.text, ",") }
		switch at := slices.IndexFunc(gone, same); {
		case !strings.ContainsFunc(l.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		case l.sign == "+" && at >= 0:
			i := len(kept) - 1
			for kept[i] != gone[at] {
				i--
			}
			kept, gone = slices.Delete(kept, i, i+1), slices.Delete(gone, at, at+1)
		default:
			kept = append(kept, l)
			if l.sign == "-" {
				gone = append(gone, l)
			}
		}
	}
	if len(kept) == 0 {
		kept = all
	}
	return leftAligned(kept)
}

// leftAligned takes out the white space that all lines begin with.
func leftAligned(lines []signedLine) []string {
	var out, whites []string
	for _, l := range lines {
		if l.sign != "" { // a note is not of the file
			whites = append(whites, l.text[:len(l.text)-len(strings.TrimLeft(l.text, " \t"))])
		}
	}
	shared := ""
	if len(whites) > 0 {
		shared = whites[0]
	}
	for _, white := range whites {
		for !strings.HasPrefix(white, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	for _, l := range lines {
		out = append(out, strings.TrimLeft(l.sign+" ", " ")+strings.TrimPrefix(l.text, shared))
	}
	return out
}
