package conversation

import (
	"strconv"
	"strings"
)

// replay brings a run to where its journal ends.
func (r *Run) replay(events []Event) {
	r.state = Idle
	for _, e := range events {
		switch e.Kind {
		case StepStart:
			r.steps = e.Step
			r.step = &step{}
		case RunEnd:
			if r.step != nil {
				r.step.over = true
			}
		case StateNow:
			r.state = e.State
		case UsageNow:
			r.usage = e.Usage
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
		r.log.replay(e)
	}
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
	if err := r.log.endMessage(); err != nil {
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

// suspend ends the driver because the process ends. Questions stay open.
func (r *Run) suspend() error {
	r.mu.Lock()
	if r.state == Ended || r.closing {
		r.mu.Unlock()
		return nil
	}
	_ = r.log.endMessage()
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
	r.log.wake()
	d := r.driver
	r.driver = nil
	r.mu.Unlock()
	if d != nil {
		return d.Close()
	}
	return nil
}
