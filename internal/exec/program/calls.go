package program

import (
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Calls says to the gate what the calls of the shell tools leave behind: it is their shell.Calls.
type Calls struct {
	Sessions *session.Store
	Dispatch func() *dispatch.Dispatcher // it is built after the tools
}

// Closed is closed when a session ends; nil: there is none of that name.
func (c Calls) Closed(id string) <-chan struct{} {
	if s, err := c.Sessions.Get(id); err == nil {
		return s.Done()
	}
	return nil
}

// GivenUp has what a command had changed wait for review whose call was cancelled.
func (c Calls) GivenUp(t *tools.Tool, session, line string) {
	c.Dispatch().HoldGivenUp(t, session, line)
}

// Ended says that the output of a command in the background has an end that nobody has read.
func (c Calls) Ended(session, id string) {
	c.Dispatch().Unread(session, "command_output", map[string]string{"id": id})
}

// Lines makes of what a command prints the lines that a model may see.
func (c Calls) Lines() shell.Lines { return dispatch.NewLines(c.Dispatch()) }

// Note tells the session's agent at its next step what a command printed.
func (c Calls) Note(session string, n shell.Note) (unread int) {
	return dispatch.NotePrinted(c.Dispatch(), session, n.Head, n.Printed, n.Tail)
}
