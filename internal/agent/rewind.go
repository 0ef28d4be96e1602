package agent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/runs"
)

// errNoSuch says that a prompt is not one that the conversation has.
var errNoSuch = errors.New("the conversation has no such prompt: it was rewound before, or never heard")

// Rewind has the model forget what was said from a prompt on. What the agent did stays
// done, and what it used stays used.
func (a *Agent) Rewind(prompt string) error {
	a.mu.Lock()
	to, err := a.talk.before(prompt)
	if err == nil {
		err = a.kept([]*Item{{Kind: Rewound, To: to}})
		a.repeats.forget()
	}
	a.mu.Unlock()
	return err
}

// before is the last item before a prompt.
func (t *talk) before(prompt string) (int, error) {
	for _, i := range t.live {
		if i.Kind == Said && i.Said.By == byPerson && i.Said.ID == prompt {
			return i.N - 1, nil
		}
	}
	return 0, errNoSuch
}

// Fork writes the journal of a conversation that begins as this one does before a
// prompt; "" is as it is now. The fork has used nothing yet.
func (a *Agent) Fork(path, prompt string) error {
	a.mu.Lock()
	to, err := a.talk.last, error(nil)
	if prompt != "" {
		to, err = a.talk.before(prompt)
	}
	a.mu.Unlock()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(a.o.Journal)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	var copied bytes.Buffer
	lines := bufio.NewReader(bytes.NewReader(data))
	for range to {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
		copied.Write(line)
	}
	if err := os.WriteFile(path, copied.Bytes(), 0o600); err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	j, _, err := openJournal(path, a.o.Now)
	if err != nil {
		return err
	}
	return errors.Join(j.append(&Item{Kind: Forked}), j.file.Close())
}

// PromptAfter is the first prompt of a run after an event, by its id; "" is none.
func PromptAfter(events []runs.Event, seq int64) string {
	for _, e := range events {
		if e.Seq > seq && (e.Kind == runs.Text && e.Role == "user" || e.Kind == runs.Steered) {
			return e.Message
		}
	}
	return ""
}
