package conversation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Driver talks to the agent of a run.
type Driver interface {
	// Prompt has the agent hear these items and returns when it has stopped, with
	// the reason of run.end. What the agent says meanwhile goes to Run.Emit. The cause
	// of ctx's end is ErrClosed when the process ends.
	Prompt(ctx context.Context, items []Item) (reason string, err error)
	// Steer has an agent that works hear an item at once, or returns ErrNoSteer.
	Steer(ctx context.Context, item Item) error
	// Cancel asks the agent to stop; Prompt returns when it has.
	Cancel(ctx context.Context) error
	// Close ends the agent.
	Close() error
}

// Pauser is a Driver that stops between its steps, and goes on from there.
type Pauser interface {
	// Pause has Prompt return before the next step.
	Pause()
	// Unfinished reports whether Prompt without items has something to do.
	Unfinished() bool
}

// ErrNoSteer is a driver's answer when its agent hears prompts only between its
// steps: the item then goes to the front of the queue.
var ErrNoSteer = errors.New("the agent can't be steered")

// When an item is to be heard.
const (
	Queue     = "queue"     // after what the agent does now, and after the others
	Steer     = "steer"     // at once, without an end of what the agent does
	Interrupt = "interrupt" // at once; what the agent does is cancelled
)

// step is the time from a prompt until the agent stops.
type step struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc // ErrClosed: the process ends
	over     bool                    // it was told to have ended
	returned chan struct{}           // closed when the driver has returned
}

const (
	maxQueue    = 100
	maxQueued   = 1 << 20               // bytes of the texts in the queue
	maxAttached = 16 << 20              // bytes of what comes with a prompt
	cancelGrace = 50 * time.Millisecond // of the 100 that a cancellation may take
	driverGrace = 10 * time.Second      // a driver's Cancel
)

// Attach gives the run its driver, after Start or after a restart.
func (r *Run) Attach(d Driver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.driver = d
	r.kick()
}

// Prompt takes an item and returns its id. An empty when is Queue.
func (r *Run) Prompt(item Item, when string) (string, error) {
	r.mu.Lock()
	if err := r.mayQueue(item); err != nil {
		r.mu.Unlock()
		return "", err
	}
	item.ID = r.newItem()
	working := r.step != nil && !r.step.over
	if working && when == Steer {
		s, d := r.step, r.driver
		r.mu.Unlock()
		err := d.Steer(s.ctx, item)
		r.mu.Lock()
		if err == nil {
			if r.state == Ended || r.closing {
				r.mu.Unlock()
				return item.ID, nil
			}
			err = r.add(Event{Kind: Steered, Message: item.ID, Text: item.Text})
			r.mu.Unlock()
			return item.ID, err
		}
		if !errors.Is(err, ErrNoSteer) {
			r.store.log.Warn("steering failed; the prompt is queued", "run", r.id, "error", err)
		}
		if err := r.mayQueue(item); err != nil { // it took a while
			r.mu.Unlock()
			return "", err
		}
	}
	defer r.mu.Unlock()
	switch when {
	case "", Queue:
		r.queue = append(r.queue, item)
	case Steer:
		r.queue = slices.Insert(r.queue, 0, item)
	case Interrupt:
		r.queue = slices.Insert(r.queue, 0, item)
		r.paused = false
		if r.step != nil && !r.step.over {
			r.stop()
		}
	default:
		return "", fmt.Errorf("there is no %q: use queue, steer or interrupt", when)
	}
	return item.ID, r.queued()
}

// newItem makes an id, which is new also when the journal has lost its beginning.
func (r *Run) newItem() string {
	r.lastItem = max(r.lastItem, r.log.seq) + 1
	return "item-" + strconv.FormatInt(r.lastItem, 10)
}

func (r *Run) mayQueue(item Item) error {
	switch {
	case r.state == Ended:
		return ErrEnded
	case r.closing:
		return ErrClosed
	case len(r.queue) >= maxQueue:
		return fmt.Errorf("%d prompts wait: withdraw some", maxQueue)
	case len(item.Text) > maxText:
		return fmt.Errorf("the prompt has %d bytes and may have %d: attach a file", len(item.Text), maxText)
	}
	size := len(item.Text)
	for _, i := range r.queue {
		size += len(i.Text)
	}
	if size > maxQueued {
		return fmt.Errorf("the prompts that wait have %d bytes and may have %d: withdraw some", size, maxQueued)
	}
	size = 0
	for _, a := range item.Attachments {
		size += len(a.Data) + len(a.Text)
	}
	if size > maxAttached {
		return fmt.Errorf("the attachments have %d bytes and may have %d: name the files instead", size, maxAttached)
	}
	return nil
}

// queued tells of the queue and starts a step if there is none.
func (r *Run) queued() error {
	err := r.add(Event{Kind: QueueNow, Items: slices.Clone(r.queue), Paused: r.paused})
	r.kick()
	return err
}

// Edit changes the text of an item that is not heard yet.
func (r *Run) Edit(item, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("the prompt has %d bytes and may have %d: attach a file", len(text), maxText)
	}
	return r.alter(item, func(i int) { r.queue[i].Text = text })
}

// Withdraw takes back an item that is not heard yet.
func (r *Run) Withdraw(item string) error {
	return r.alter(item, func(i int) { r.queue = slices.Delete(r.queue, i, i+1) })
}

func (r *Run) alter(item string, how func(int)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.queue, func(i Item) bool { return i.ID == item })
	if i < 0 {
		return fmt.Errorf("no prompt %q waits: the agent has heard it, or it was withdrawn", item)
	}
	r.queue = slices.Clone(r.queue)
	how(i)
	return r.queued()
}

// kick starts a step when there is something to be heard and nobody is busy.
func (r *Run) kick() {
	if r.closing || r.state == Ended {
		return
	}
	starts := r.goesOn || slices.ContainsFunc(r.queue, func(i Item) bool { return !i.Hold })
	if r.driver != nil && starts && !r.paused && (r.step == nil || r.returned()) {
		r.begin()
	}
	r.setState("")
}

// returned reports whether the driver has come back from the latest step.
func (r *Run) returned() bool {
	select {
	case <-r.step.returned:
		return true
	default:
		return false
	}
}

func (r *Run) begin() {
	s := &step{returned: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	items := r.queue
	r.step, r.queue, r.goesOn = s, nil, false
	r.steps++
	for _, id := range slices.Sorted(maps.Keys(r.questions)) { // of an earlier process
		r.closeQuestion(r.questions[id], "the conversation went on")
	}
	r.say(Event{Kind: StepStart, Step: r.steps})
	for _, i := range items {
		r.say(Event{Kind: Text, Message: i.ID, Role: "user", Text: i.Text})
	}
	r.say(Event{Kind: QueueNow})
	d := r.driver
	r.store.working.Add(1)
	go func() {
		defer r.store.working.Done()
		defer s.cancel(nil)
		reason, err := prompt(s.ctx, d, items)
		r.mu.Lock()
		defer r.mu.Unlock()
		close(s.returned)
		r.end(s, reason, err)
		r.kick()
	}()
}

// prompt calls the driver. A panic costs only this step.
func prompt(ctx context.Context, d Driver, items []Item) (reason string, err error) {
	defer func() {
		if p := recover(); p != nil {
			reason, err = Failed, fmt.Errorf("the driver of the agent panicked: %v", p)
		}
	}()
	return d.Prompt(ctx, items)
}

// say tells of an event of the run's own. It can fail only by what can't be
// encoded, which these can.
func (r *Run) say(e Event) {
	if err := r.add(e); err != nil {
		r.store.log.Error("an event was not told", "run", r.id, "error", err)
	}
}

// end tells that the agent has stopped, once.
func (r *Run) end(s *step, reason string, err error) {
	if s.over || r.closing {
		return
	}
	s.over = true
	r.closeQuestions("the agent has stopped")
	e := Event{Kind: RunEnd, Reason: reason}
	switch {
	case s.ctx.Err() != nil:
		e.Reason = Interrupted
	case err != nil:
		e.Reason, e.Text = Failed, err.Error()
	case reason == "":
		e.Reason = Done
	}
	r.say(e)
	r.setState(e.Reason)
}

// stop cancels the step without waiting.
func (r *Run) stop() {
	s, d := r.step, r.driver
	s.cancel(nil)
	r.closeQuestions("cancelled")
	r.store.cancel(r.id, d)
	time.AfterFunc(cancelGrace, func() { // an agent that takes its time
		r.mu.Lock()
		defer r.mu.Unlock()
		r.end(s, Interrupted, nil)
		r.kick()
	})
}

// Cancel ends the step within 100 ms and keeps what was said. Without a step the driver
// cancels what goes on all the same: sub-agents, and what the agent asks. Prompts that
// wait go on waiting, until Resume.
func (r *Run) Cancel() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.step
	if s == nil || s.over {
		if r.driver != nil && r.state != Ended && !r.closing {
			r.store.cancel(r.id, r.driver)
		}
		return r.state
	}
	if len(r.queue) > 0 && !r.paused {
		r.paused = true
		r.say(Event{Kind: QueueNow, Items: slices.Clone(r.queue), Paused: true})
	}
	r.stop()
	for !s.over && !r.closing {
		changed := r.log.changed
		r.mu.Unlock()
		<-changed // the grace ends it at the latest
		r.mu.Lock()
	}
	return r.state
}

// Pause lets no prompt be heard until Resume. What the agent does goes on, up to its
// next step if its driver can pause.
func (r *Run) Pause() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == Ended || r.closing || r.paused {
		return r.state
	}
	if p, ok := r.driver.(Pauser); ok && r.step != nil && !r.step.over {
		p.Pause()
	}
	r.paused = true
	_ = r.queued()
	return r.state
}

// Resume lets prompts be heard again, and has an agent go on that was stopped before it
// was done, if its driver can.
func (r *Run) Resume() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == Ended || r.closing {
		return r.state
	}
	if p, ok := r.driver.(Pauser); ok && (r.step == nil || r.step.over) && p.Unfinished() {
		r.goesOn = true
	}
	if r.paused {
		r.paused = false
		_ = r.queued()
	} else {
		r.kick()
	}
	return r.state
}

// setState finds the state that the run is in and tells it when it is new.
func (r *Run) setState(reason string) {
	state := Idle
	switch {
	case r.state == Ended:
		return
	case len(r.questions) > 0:
		state = Waiting
	case r.step != nil && !r.step.over:
		state = Running
	case r.paused:
		state = Paused
	}
	if state != r.state {
		r.state = state
		r.say(Event{Kind: StateNow, State: state, Reason: reason})
	}
}

// Close ends the run and its agent. The journal stays.
func (r *Run) Close() error {
	r.Cancel()
	r.mu.Lock()
	if r.state == Ended || r.closing {
		r.mu.Unlock()
		return nil
	}
	if s := r.step; s != nil && !s.over { // it began just now
		s.cancel(nil)
		r.end(s, Interrupted, nil)
	}
	r.closeQuestions("the run was closed")
	_ = r.log.endMessage()
	r.state, r.queue = Ended, nil
	r.say(Event{Kind: StateNow, State: Ended})
	d := r.driver
	r.driver = nil
	err := r.log.finish(r.store.path(r.id, false), r.store.path(r.id, true))
	r.mu.Unlock()
	if d != nil {
		err = errors.Join(err, d.Close())
	}
	r.store.prune()
	return err
}
