package cli

import (
	"io"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// onTerminal makes what is printed harmless where a terminal shows it. Names of
// files, diffs and results are written by others, and what is in them could
// move the cursor over other lines, so that a person would accept what they
// don't see. What goes to a file or a program stays as it is.
func onTerminal(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return visible{w}
		}
	}
	return w
}

type visible struct{ w io.Writer }

func (v visible) Write(text []byte) (int, error) {
	if _, err := io.WriteString(v.w, redact.Visible(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
