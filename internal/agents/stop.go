package agents

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/acpdriver"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

var errOver = errors.New("the command has ended already")

// Stop ends the command of a call alone, and tells that in the run. The agent hears
// that its command was ended, and goes on.
func (m *Manager) Stop(run *conversation.Run, call string) error {
	d := m.runs.driver(run)
	if d == nil {
		return errIdle
	}
	title, end, err := d.stop(call)
	if err != nil {
		return err
	}
	defer end() // what follows from it is told after this
	return run.Emit(conversation.Event{Kind: conversation.Note, Reason: "stopped", Call: &conversation.Call{ID: call}, Text: "Stopped by a person: " + title})
}

var errIdle = errors.New("its agent does not run, and so none of its commands does")

func (c *external) stop(call string) (title string, end func(), err error) {
	a := c.here()
	if a == nil {
		return "", nil, errIdle
	}
	command, err := a.bridge.Command(call)
	if errors.Is(err, acpdriver.ErrOver) {
		return "", nil, errOver
	}
	if err != nil {
		return "", nil, err
	}
	t, ok := a.session.Terminal(command.Terminal).(*terminal)
	if !ok || !t.toStop() {
		return "", nil, errOver
	}
	return command.Title, t.program.Kill, nil
}

// stopped is what the agent reads at the end of the output of such a command.
const stopped = "\n[The user has stopped this command.]\n"

// toStop marks a command that is about to be ended; false if that is done already.
func (t *terminal) toStop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exit != nil || t.stopped {
		return false
	}
	t.stopped = true
	return true
}
