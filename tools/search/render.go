package search

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine bounds a line that is shown, in bytes.
const maxLine = 400

// render writes what was found, for a model.
func (in *grepArgs) render(m *Matches) string {
	var b strings.Builder
	for i, f := range m.Files {
		switch in.Mode {
		case "files":
			fmt.Fprintln(&b, showPath(f.Path))
		case "count":
			fmt.Fprintf(&b, "%s: %d\n", showPath(f.Path), f.Count)
		default:
			if i > 0 {
				b.WriteByte('\n')
			}
			f.render(&b, in.Context > 0)
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	in.summary(&b, m)
	return b.String()
}

// render writes the lines of one file below its path.
func (f *FileMatches) render(b *strings.Builder, gaps bool) {
	fmt.Fprintln(b, showPath(f.Path))
	var num []byte
	for i, l := range f.Lines {
		if gaps && i > 0 && l.Number > f.Lines[i-1].Number+1 {
			b.WriteString("--\n")
		}
		num = strconv.AppendInt(num[:0], int64(l.Number), 10)
		b.Write(num)
		if l.Match {
			b.WriteString(": ")
		} else {
			b.WriteString("- ")
		}
		showLine(b, f.Text(l), int(l.At))
		b.WriteByte('\n')
	}
}

// summary says how much there is, what is missing and what to do about it.
func (in *grepArgs) summary(b *strings.Builder, m *Matches) {
	switch {
	case m.Found == 0:
		fmt.Fprintf(b, "no matches in %s", count(m.Searched, "file"))
		if m.Searched == 0 {
			b.WriteString("; nothing fits path, include and exclude (ignored and hidden files are searched only when path names them)")
			if hint := bracketHint(in.Include); hint != "" {
				b.WriteString("; " + hint)
			}
		} else if in.Case == "sensitive" || in.Case == "smart" && hasUpper(in.Pattern, in.Literal) {
			b.WriteString("; try case insensitive or a shorter pattern")
		} else {
			b.WriteString("; try a shorter pattern (ignored and hidden files are searched only when path names them)")
		}
	case in.Mode == "files":
		fmt.Fprintf(b, "%s with a match", count(m.Found, "file"))
		if in.cut(m) {
			fmt.Fprintf(b, "; %d more are not shown: narrow with path or include", m.Found-m.kept)
		}
	case in.Mode == "count":
		fmt.Fprintf(b, "%s in %s", count(m.Lines, "matching line"), count(m.Found, "file"))
		if in.cut(m) {
			fmt.Fprintf(b, "; %d more files are not shown: narrow with path or include", m.Found-m.kept)
		}
	case in.cut(m):
		fmt.Fprintf(b, "… %d more %s in %s, of %s in %s; narrow with path or include", m.Lines-m.kept, plural(m.Lines-m.kept, "match"),
			count(cutFiles(m), "file"), count(m.Lines, "match"), count(m.Found, "file"))
	default:
		fmt.Fprintf(b, "%s in %s", count(m.Lines, "match"), count(m.Found, "file"))
	}
	b.WriteByte('\n')
	if m.Binary > 0 {
		fmt.Fprintf(b, "%s not searched\n", count(m.Binary, "binary file"))
	}
	if m.TooLarge > 0 {
		fmt.Fprintf(b, "%s not searched because of the size; use run_command\n", count(m.TooLarge, "file"))
	}
}

// cutFiles returns how many files have matching lines that are not shown.
func cutFiles(m *Matches) int {
	n := m.Found
	for _, f := range m.Files {
		if f.kept == f.Count {
			n--
		}
	}
	return n
}

func count(n int, what string) string { return fmt.Sprintf("%d %s", n, plural(n, what)) }

func plural(n int, what string) string {
	switch {
	case n == 1:
		return what
	case strings.HasSuffix(what, "ch"):
		return what + "es"
	}
	return what + "s"
}

// showPath writes a path that could pass for something else in quotes.
func showPath(path string) string {
	for _, r := range path {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return strconv.Quote(path)
		}
	}
	return path
}

// showLine writes a line, cut around the place at when it is long.
func showLine(b *strings.Builder, line []byte, at int) {
	if len(line) <= maxLine {
		b.Write(bytes.ToValidUTF8(line, []byte("\uFFFD")))
		return
	}
	from := max(0, min(at-maxLine/4, len(line)-maxLine))
	to := from + maxLine
	for from > 0 && !utf8.RuneStart(line[from]) && to-from < maxLine+utf8.UTFMax {
		from--
	}
	for to < len(line) && to > from && !utf8.RuneStart(line[to]) && to > from+maxLine-utf8.UTFMax {
		to--
	}
	if from > 0 {
		fmt.Fprintf(b, "[… %d bytes] ", from)
	}
	b.Write(bytes.ToValidUTF8(line[from:to], []byte("\uFFFD")))
	if to < len(line) {
		fmt.Fprintf(b, " [… %d bytes]", len(line)-to)
	}
}
