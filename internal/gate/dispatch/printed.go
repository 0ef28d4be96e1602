package dispatch

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// Lines are the lines of a program's output as a model may see them: no secrets, no signs for
// a terminal. They are not safe for concurrent use.
type Lines struct {
	*redact.Stream
	secrets Refresher
}

// NewLines begins to read an output.
func NewLines(d *Dispatcher) *Lines {
	hide := d.o.Redact
	return &Lines{redact.NewStream(func(s string) string {
		return hide.Text(hide.Sanitize(strings.ToValidUTF8(s, "\uFFFD")))
	}), d.o.Secrets}
}

// Write is that of the stream, with the secrets that there are now.
func (l *Lines) Write(piece string) string {
	l.secrets.Refresh() // the program may have made some
	return l.Stream.Write(piece)
}

// NotePrinted tells a session's agent at its next step what a program of it printed, in the
// envelope of text from outside, between words of ours. It returns how many such notes there
// were since the last step; a session that has ended has none.
func NotePrinted(d *Dispatcher, session, head, printed, tail string) (unread int) {
	s, err := d.o.Sessions.Get(session)
	if err != nil {
		return 0
	}
	hide := d.o.Redact
	parts := []string{head}
	if printed != "" {
		parts = append(parts, envelope("", hide.Signs(printed), hide.Defuse(hide.Sanitize(printed))))
	}
	if tail != "" {
		parts = append(parts, tail)
	}
	return s.TellPrinted(hide.Text(strings.Join(parts, "\n")))
}
