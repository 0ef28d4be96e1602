package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// ringText bounds what a notification says, in bytes.
const ringText = 120

// ring has the person's terminal call them to a question: with its bell, and with a notification
// of the desktop where the terminal is known to make one.
func ring(tty io.Writer, title string) {
	title, _, _ = strings.Cut(title, "\n")
	title = redact.Visible(strings.ToValidUTF8(title[:min(len(title), ringText)], ""))
	fmt.Fprint(tty, "\a"+notification(os.Getenv, "sidecar-ls asks: "+title))
}

// notification returns the escape sequence for a desktop notification; "" for one that is not known to
// understand it, and would print some of it.
func notification(env func(string) string, text string) string {
	switch env("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty":
		return "\x1b]9;" + text + "\x1b\\"
	}
	switch name := env("TERM"); {
	case env("TMUX") != "" || env("STY") != "": // in between, it would be lost
	case name == "xterm-kitty":
		return "\x1b]9;" + text + "\x1b\\"
	case strings.HasPrefix(name, "foot"), strings.HasPrefix(name, "rxvt-unicode"):
		return "\x1b]777;notify;sidecar-ls;" + strings.ReplaceAll(text, ";", ",") + "\x1b\\"
	}
	return ""
}
