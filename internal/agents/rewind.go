package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/files/checkpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// making notes what files are before the agent, or a sub-agent of it, changes them. It
// comes before the next event of the run.
func (d *own) making(files workspace.Files, changes []workspace.Change) error {
	if err := d.before.Add(d.run.Seq()+1, files, changes); err != nil {
		return err
	}
	if above := d.above(); above != nil && above.session.Shadow == d.session.Shadow { // else it is taken over later
		return above.making(files, changes)
	}
	return nil
}

// applied notes for the agent above what a sub-agent changed in its shadow.
func (d *own) applied(files workspace.Files, changes []workspace.Change) error {
	if above := d.above(); above != nil {
		return above.making(files, changes)
	}
	return nil
}

// above is the agent that this one is a sub-agent of; nil: of none.
func (d *own) above() *own {
	return d.m.runs.own(d.run.Info().Parent)
}

// ErrNoRewind says that an agent's run can't be rewound.
var ErrNoRewind = errors.New("this agent's run can't be rewound; start a new one, and take its edits back with sidecar.review.reject or sidecar.review.undo")

// What is rewound.
const (
	RewindConversation = "conversation"
	RewindFiles        = "files"
	RewindBoth         = "both"
)

// Rewind has the agent of a run forget what was said after an event, or takes back what
// it and its sub-agents changed after it, or both. To rewind to an event before a rewind
// takes that one back.
func (m *Manager) Rewind(ctx context.Context, run *conversation.Run, at int64, what string) error {
	if run.Info().Agent != Builtin {
		return ErrNoRewind
	}
	d, err := m.ownFor(run)
	if err != nil {
		return err
	}
	place, err := placeAfter(run, at)
	if err != nil {
		return err
	}
	if place == "" && what != RewindFiles {
		return fmt.Errorf("nothing was said after the event %d", at)
	}
	if err := m.team.stopAfter(ctx, d, at); err != nil {
		return err
	}
	note, work := conversation.Event{Kind: conversation.Note, Reason: loop.NoteRewound}, d.session.Work.Now()
	var said []string
	if what != RewindConversation {
		text, err := d.filesBack(ctx, at)
		if err != nil && (what == RewindFiles || !errors.Is(err, errNoChange)) {
			return err
		}
		if err == nil {
			said = append(said, text)
		}
	}
	if what == RewindFiles {
		d.session.Tell("The user has taken your changes back to what the files were at an earlier moment. " + said[0] + " Read a file again before you edit it.")
	} else {
		if note.Ref, err = d.Rewind(place); err == nil {
			err = d.recall()
		}
		if err != nil {
			return err
		}
		known := "The agent has forgotten what was said from there on."
		if loop.IsRewind(place) {
			known = "The agent knows again what it knew before that rewind."
		}
		if said = append(said, known); what == RewindConversation {
			said = append(said, "What it did stays done.")
		}
	}
	// The note comes first: to rewind to the event before it takes back all of this rewind.
	note.Text = strings.Join(said, " ")
	err = run.Emit(note)
	m.tellWork(run, &work)
	run.Changed(m.o.Pending(d.session.ID))
	return err
}

// stopAfter stops the sub-agents that were begun after an event and work on, with those
// below them. What they made is taken over when it returns, and not after the rewind.
func (a *subAgents) stopAfter(ctx context.Context, d *own, at int64) error {
	events, _, err := d.run.History(at, 0, 0)
	if err != nil {
		return err
	}
	var all []*child
	for _, k := range a.below(d.session.ID) {
		if slices.ContainsFunc(events, func(e conversation.Event) bool { return e.Kind == conversation.Child && e.Child == k.run.ID() }) {
			all = append(append(all, k), a.below(k.session)...)
		}
	}
	halt(all)
	for _, k := range all {
		select {
		case <-k.stopped:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

var errNoChange = errors.New("the agent changed no file after this event")

// maxNamed bounds how many files a note names.
const maxNamed = 20

// filesBack takes back what was changed after an event, and says what came of it.
func (d *own) filesBack(ctx context.Context, at int64) (string, error) {
	changes, err := d.before.After(at)
	if err != nil {
		return "", fmt.Errorf("what the files were can't be read: %w", err)
	}
	if len(changes) == 0 {
		return "", errNoChange
	}
	into, err := d.m.o.Gate().Edits(d.session.ID, "rewind")
	if err != nil {
		return "", err
	}
	files, left, err := checkpoint.Back(ctx, checkpoint.Noted{View: into, Making: d.making}, changes)
	said := "No file had to be changed back."
	if len(files) > 0 {
		said = "Changed back: " + named(files) + "."
	}
	if len(left) > 0 {
		var list []string
		for _, l := range left {
			list = append(list, l.Path+" ("+l.Why+")")
		}
		said += " Left as it is: " + named(list) + "."
	}
	if err != nil {
		return "", fmt.Errorf("%w. %s", err, said)
	}
	return said, nil
}

// named is a list as a note has it.
func named(list []string) string {
	if more := len(list) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), more)
	}
	return strings.Join(list, ", ")
}
