package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// failure gives err its code. A time-out of the tool is not the caller's
// cancellation, and the model is told which it was.
func failure(err error, name string, t *tools.Tool) *tools.Error {
	e := tools.AsError(err)
	switch {
	case e.Code == tools.Timeout && errors.Is(err, context.DeadlineExceeded):
		limit := tools.DefaultTimeout
		if t != nil && t.Timeout != 0 {
			limit = t.Timeout
		}
		return tools.Errorf(tools.Timeout, "%s was stopped after %v; narrow the call", name, limit)
	case e.Code == tools.Cancelled && errors.Is(err, context.Canceled):
		return tools.Errorf(tools.Cancelled, "%s was cancelled", name)
	}
	return e
}

const envelopeTag = "untrusted_output"

// cutNotes is a text of at most so many bytes, whose last envelope is closed.
func cutNotes(text string, most int) string {
	const end = "\n</" + envelopeTag + ">"
	short := text[:headEnd(text, most)]
	if strings.LastIndex(short, "<"+envelopeTag) > strings.LastIndex(short, end) {
		short = text[:headEnd(text, max(0, most-len(end)))]
		if strings.Contains(short, "<"+envelopeTag) {
			short += end
		}
	}
	return short
}

// envelope wraps text from outside so that it can't pass for anything else:
// the closing tag is made impossible inside. tool "" is not named.
func envelope(tool string, signs []string, text string) string {
	const name = envelopeTag
	text = strings.ReplaceAll(text, "</"+name, "<\u2215"+name)
	flags := ""
	if len(signs) > 0 {
		flags = fmt.Sprintf(" flags=%q", strings.Join(signs, ","))
	}
	if tool != "" {
		flags = fmt.Sprintf(" tool=%q", tool) + flags
	}
	return fmt.Sprintf("<%s%s>\n%s\n</%s>", name, flags, strings.TrimSuffix(text, "\n"), name)
}
