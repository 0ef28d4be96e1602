package loop

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// errNoSuch says that a prompt is not one that the conversation has.
var errNoSuch = errors.New("the conversation has no such prompt: it was rewound before, or the agent never got it")

// rewindRef begins the name of a rewind.
const rewindRef = "rewind:"

// Rewind has the model forget everything from a prompt on, or makes it hold
// again that another rewind made void: place is the prompt's id, or the name of that
// rewind. It returns the name of this one. What the agent used stays used.
func (a *Agent) Rewind(place string) (name string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := Item{Kind: Rewound}
	if i.To, err = a.transcript.before(place); err != nil {
		return "", err
	}
	if a.transcript.void[i.To+1] != nil {
		i.Kind, i.To = Returned, i.To+1
	}
	a.repeats.forget()
	err = a.kept([]*Item{&i})
	return rewindRef + strconv.Itoa(i.N), err
}

// IsRewind reports whether a place is a rewind, and not a prompt.
func IsRewind(place string) bool { return strings.HasPrefix(place, rewindRef) }

// before is the last item before a prompt or a rewind.
func (t *transcript) before(place string) (int, error) {
	if name, ok := strings.CutPrefix(place, rewindRef); ok {
		if n, err := strconv.Atoi(name); err == nil && t.void[n] != nil {
			return n - 1, nil
		}
		return 0, errNoSuch
	}
	for _, i := range t.live {
		if i.Kind == Prompted && i.Prompt.By == byPerson && i.Prompt.ID == place {
			return i.N - 1, nil
		}
	}
	return 0, errNoSuch
}

// Fork writes the journal of a conversation that begins as this one does before a
// prompt or a rewind; "" is as it is now. The fork has used nothing yet.
func (a *Agent) Fork(path, place string) error {
	a.mu.Lock()
	to, err := a.transcript.last, error(nil)
	if place != "" {
		to, err = a.transcript.before(place)
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
	return errors.Join(j.append(&Item{Kind: Forked}), j.log.Close())
}

// NoteRewound is the reason of the note that tells of a rewind. Its Ref is the name of
// the rewind, if that is one of the conversation.
const NoteRewound = "rewound"

// PlaceAfter is the first prompt of a run after an event, by its id, or the first rewind,
// by its name; "" is neither.
func PlaceAfter(events []conversation.Event, seq int64) string {
	for _, e := range events {
		switch {
		case e.Seq <= seq:
		case e.Kind == conversation.Text && e.Role == "user" || e.Kind == conversation.Steered:
			return e.Message
		case e.Kind == conversation.Note && e.Reason == NoteRewound && e.Ref != "":
			return e.Ref
		}
	}
	return ""
}
