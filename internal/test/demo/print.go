package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// printer tells what happens, in colour where that is wanted.
type printer struct {
	w      io.Writer
	colour bool
}

// colourful reports whether f is a terminal whose user has nothing against
// colours.
func colourful(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// The colours, as parameters of the escape sequence.
const (
	bold  = "1"
	faint = "2"
	red   = "31"
	green = "32"
	cyan  = "36"
)

func (p printer) paint(colour, text string) string {
	if !p.colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// title begins a step.
func (p printer) title(n int, text string) {
	fmt.Fprintf(p.w, "\n%s\n", p.paint(bold, fmt.Sprintf("%d. %s", n, text)))
}

// done says what was seen and checked.
func (p printer) done(format string, args ...any) {
	fmt.Fprintf(p.w, "   %s %s\n", p.paint(green, "✓"), fmt.Sprintf(format, args...))
}

// call shows a call before its result.
func (p printer) call(name, args string) {
	fmt.Fprintf(p.w, "   %s %s\n", p.paint(cyan, name), p.paint(faint, args))
}

// quote shows at most most lines of a text, 0 for all.
func (p printer) quote(text string, most int) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if most > 0 && i == most {
			fmt.Fprintf(p.w, "     %s\n", p.paint(faint, fmt.Sprintf("… %d more lines", len(lines)-i)))
			return
		}
		fmt.Fprintf(p.w, "     %s\n", p.paint(faint, line))
	}
}

// raw shows a text that has its colours already.
func (p printer) raw(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(p.w, "    %s", line)
	}
}

// diff shows a unified diff as git does.
func (p printer) diff(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		colour := ""
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "new file"):
			colour = bold
		case strings.HasPrefix(line, "@@"):
			colour = cyan
		case strings.HasPrefix(line, "+"):
			colour = green
		case strings.HasPrefix(line, "-"):
			colour = red
		}
		if colour != "" {
			line = p.paint(colour, line)
		}
		fmt.Fprintf(p.w, "     %s\n", strings.ReplaceAll(line, "\t", "    "))
	}
}
