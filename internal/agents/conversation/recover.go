package conversation

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// started reads what the run is.
func (r *Run) started(e Event) {
	r.info.Run, r.info.Agent, r.info.Title = r.id, e.Agent, e.Title
	r.info.Session, r.info.Parent, r.info.Ref, r.info.OpenedAt = e.Session, e.Parent, e.Ref, e.Time
	r.info.ForkOf, r.info.Shadow, r.info.Mode, r.info.Once = e.ForkOf, e.Shadow, e.Mode, e.Once
}

// replay brings a run to where its journal ends.
func (r *Run) replay(events []Event) {
	r.started(events[0])
	r.info.State = Idle
	for _, e := range events {
		r.seq = e.Seq
		r.attribute(e)
		switch e.Kind {
		case StepStart:
			r.steps = e.Step
			r.step = &step{}
		case RunEnd:
			if r.step != nil {
				r.step.over = true
			}
		case StateNow:
			r.info.State = e.State
		case UsageNow:
			r.usage = e.Usage
		case Note:
			r.noted(e)
		case QueueNow:
			r.queue, r.paused = e.Items, e.Paused
		case Asked:
			r.questions[e.Question] = &question{Event: e}
			r.lastAsked = max(r.lastAsked, number(e.Question, "q"))
		case Answered:
			delete(r.questions, e.Question)
			r.lastAsked = max(r.lastAsked, number(e.Question, "q"))
		}
		for _, i := range e.Items {
			r.lastItem = max(r.lastItem, number(i.ID, "item-"))
		}
		if e.Role == "user" || e.Kind == Steered {
			r.lastItem = max(r.lastItem, number(e.Message, "item-"))
		}
		r.replayText(e)
	}
}

// replayText keeps an event, and of messages the whole in the place of the parts.
func (r *Run) replayText(e Event) {
	line, _ := encode(e)
	if e.Kind != Text && e.Kind != Thought {
		r.events = append(r.events, entry{e, len(line)})
		r.bytes += len(line)
		return
	}
	if r.tail != nil && (e.Delta == "" || e.Message != r.tail.name) {
		r.dropTail()
	}
	if e.Delta != "" {
		if r.tail == nil {
			r.tail = &tail{kind: e.Kind, message: e.Message, role: e.Role, parent: e.Parent, name: e.Message, first: e.Seq}
		}
		r.tail.text.WriteString(e.Delta)
	}
	r.events = append(r.events, entry{e, len(line)})
	r.bytes += len(line)
}

func number(id, prefix string) int64 {
	digits, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// recover says what the end of the process has done to the run: what was said is
// kept, and the agent was interrupted.
func (r *Run) recover() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.settle(); err != nil {
		r.store.log.Error("the last message of a run is lost", "run", r.id, "error", err)
	}
	if r.step != nil && !r.step.over {
		r.say(Event{Kind: RunEnd, Reason: Interrupted, Text: "The server ended while the agent worked."})
	}
	r.step = nil
	if len(r.queue) > 0 && !r.paused { // nobody is there who would see them go
		r.paused = true
		r.say(Event{Kind: QueueNow, Items: r.queue, Paused: true})
	}
	r.setState(Interrupted)
}

// load reads the events of a run that has ended.
func (r *Run) load() ([]entry, error) {
	events, _, _, err := readJournal(r.store.path(r.id, true))
	if err != nil {
		return nil, fmt.Errorf("the journal of the run: %w", err)
	}
	old := r.store.newRun(r.id)
	if len(events) > 0 {
		old.replay(events)
	}
	r.made = old.made
	return old.events, nil
}

// suspend ends the driver because the process ends. Questions stay open.
func (r *Run) suspend() error {
	r.mu.Lock()
	if r.info.State == Ended || r.closing {
		r.mu.Unlock()
		return nil
	}
	_ = r.settle()
	if s := r.step; s != nil && !s.over {
		s.over = true
		s.cancel(ErrClosed)
		r.say(Event{Kind: RunEnd, Reason: Interrupted, Text: "The server ended while the agent worked."})
	}
	r.closing = true
	for _, q := range r.questions {
		if q.answer != nil {
			q.answer <- reply{err: ErrClosed}
		}
	}
	close(r.changed)
	r.changed = make(chan struct{})
	d := r.driver
	r.driver = nil
	r.mu.Unlock()
	if d != nil {
		return d.Close()
	}
	return nil
}

// finish writes the journal of a run that has ended, small and under a name that
// says so, with the title as it is now.
func (r *Run) finish() error {
	r.renew()
	var err error
	r.journal, err = rewrite(r.journal, r.events)
	_ = r.journal.Close()
	if err == nil {
		err = osfile.Rename(context.Background(), r.store.path(r.id, false), r.store.path(r.id, true))
	}
	if err != nil {
		return fmt.Errorf("the journal of the run: %w", err)
	}
	r.events, r.bytes = nil, 0
	return nil
}
