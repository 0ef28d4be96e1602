package acpdriver

import (
	"errors"
	"fmt"
	"strings"
)

// terminal begins the URI of a call whose command a terminal of ours runs.
const terminal = "terminal:"

// Command is that of a call, which a terminal of ours runs.
type Command struct {
	Title    string
	Terminal string // its id
}

// Errors of Bridge.Command.
var (
	ErrNoCall = errors.New("the agent makes no such call now; sidecar.agent.history has its calls")
	ErrOver   = errors.New("the call has ended")
	ErrItself = errors.New("the agent runs this by itself; stop the agent instead, with sidecar.agent.cancel")
)

// Command is the command of a call that goes on.
func (b *Bridge) Command(call string) (Command, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.calls[call]
	if c == nil {
		return Command{}, fmt.Errorf("call %.100q: %w", call, ErrNoCall)
	}
	if c.finished {
		return Command{}, ErrOver
	}
	id, ok := strings.CutPrefix(c.URI, terminal)
	if !ok {
		return Command{}, ErrItself
	}
	return Command{c.Title, id}, nil
}
