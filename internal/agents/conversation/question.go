package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Question is asked of people by an agent.
type Question struct {
	Text          string
	Options       []Option // empty: any text is an answer
	Custom        bool     // besides the options, any text is an answer
	Call          *Call    // what the answer permits
	ExpiresAt     *time.Time
	Irrecoverable bool
	Always        *Rule // nil: none can be made of a yes
}

// Rule is one that allows commands for good, as sidecar.policy.allowAlways takes it.
type Rule struct {
	Prefix   []string `json:"prefix"`
	Decision string   `json:"decision"`
	Rest     string   `json:"rest,omitempty"`
	Packages string   `json:"packages,omitempty"`
	Host     string   `json:"host,omitempty"` // it is no command, but this host
}

// question is one that is open.
type question struct {
	Event
	answer chan reply // nil after a restart: nobody waits
}

type reply struct {
	answer, by string
	err        error
}

// Open are the questions that are open, as they were asked, oldest first.
func (r *Run) Open() (asked []Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.questions {
		e := q.Event
		e.Run = r.id
		asked = append(asked, e)
	}
	slices.SortFunc(asked, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return asked
}

// Bounds of what people can be asked.
const (
	maxQuestion = 64 << 10
	maxOptions  = 100
	maxOpen     = 256
)

// ErrUnanswered says that a question was closed without an answer.
var ErrUnanswered = errors.New("the question was not answered")

// Ask asks people and waits for the answer, the id of an option if there are
// any. When ctx ends, or the step, or the time, the question is closed; when the
// process ends, it stays open.
func (r *Run) Ask(ctx context.Context, q Question) (answer, by string, err error) {
	r.mu.Lock()
	if err := r.mayQueue(Item{}); errors.Is(err, ErrEnded) || errors.Is(err, ErrClosed) {
		r.mu.Unlock()
		return "", "", err
	}
	size := len(q.Text)
	for _, o := range q.Options {
		size += len(o.ID) + len(o.Label)
	}
	if size > maxQuestion || len(q.Options) > maxOptions || len(r.questions) >= maxOpen {
		r.mu.Unlock()
		return "", "", fmt.Errorf("the question has %d bytes and %d options, and %d are open: ask less at once", size, len(q.Options), len(r.questions))
	}
	r.lastAsked = max(r.lastAsked, r.log.seq) + 1
	open := &question{Event{Kind: Asked, Question: "q" + strconv.FormatInt(r.lastAsked, 10), Text: q.Text, Options: q.Options, Custom: q.Custom, Call: q.Call,
		ExpiresAt: q.ExpiresAt, Irrecoverable: q.Irrecoverable, Always: q.Always}, make(chan reply, 1)}
	r.questions[open.Question] = open
	r.say(open.Event)
	open.Seq = r.log.seq
	r.setState("")
	r.mu.Unlock()

	var expired <-chan time.Time
	if q.ExpiresAt != nil {
		timer := time.NewTimer(q.ExpiresAt.Sub(r.store.opts.Now()))
		defer timer.Stop()
		expired = timer.C
	}
	var why string
	select {
	case a := <-open.answer:
		return a.answer, a.by, a.err
	case <-ctx.Done():
		why = "cancelled"
	case <-expired:
		why = "expired"
	}
	r.mu.Lock()
	if r.questions[open.Question] == open && !r.closing {
		r.closeQuestion(open, why)
		r.setState("")
	}
	r.mu.Unlock()
	select {
	case a := <-open.answer: // it may have come just before
		return a.answer, a.by, a.err
	default:
		return "", "", ErrClosed
	}
}

// Answer answers a question that is open. After a restart nobody waits for the
// answer any more: the agent hears it as a prompt.
func (r *Run) Answer(id, answer, by string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == Ended {
		return ErrEnded
	}
	q := r.questions[id]
	switch {
	case r.closing:
		return ErrClosed
	case q == nil:
		return fmt.Errorf("no question %q is open: it was answered or closed", id)
	case q.ExpiresAt != nil && !r.store.opts.Now().Before(*q.ExpiresAt):
		r.closeQuestion(q, "expired")
		r.setState("")
		return fmt.Errorf("the question %q has expired", id)
	}
	label := answer
	if len(q.Options) > 0 {
		i := slices.IndexFunc(q.Options, func(o Option) bool { return o.ID == answer })
		if i < 0 && !q.Custom {
			return fmt.Errorf("%q is no answer to the question: use one of %v", answer, ids(q.Options))
		}
		if i >= 0 {
			label = q.Options[i].Label
		}
	}
	delete(r.questions, id)
	r.say(Event{Kind: Answered, Question: id, Answer: answer, By: by})
	if q.answer != nil {
		q.answer <- reply{answer: answer, by: by}
		r.setState("")
		return nil
	}
	// What else is open was asked with it: the agent hears the answers together,
	// before what people had to say otherwise.
	at := slices.IndexFunc(r.queue, func(i Item) bool { return i.Question == "" })
	if at < 0 {
		at = len(r.queue)
	}
	call := ""
	if q.Call != nil {
		call = q.Call.ID
	}
	r.queue = slices.Insert(slices.Clone(r.queue), at, Item{ID: r.newItem(), Question: id, Call: call, Answer: answer, Hold: len(r.questions) > 0,
		Text: fmt.Sprintf("The answer to your question %q is: %s", q.Text, label)})
	return r.queued()
}

func ids(options []Option) []string {
	var all []string
	for _, o := range options {
		all = append(all, o.ID)
	}
	return all
}

// closeQuestion closes one without an answer.
func (r *Run) closeQuestion(q *question, why string) {
	delete(r.questions, q.Question)
	r.say(Event{Kind: Answered, Question: q.Question, Reason: why})
	if q.answer != nil {
		q.answer <- reply{err: fmt.Errorf("%w: %s", ErrUnanswered, why)}
	}
}

// closeQuestions closes those that somebody waits for.
func (r *Run) closeQuestions(why string) {
	for _, id := range slices.Sorted(maps.Keys(r.questions)) {
		if q := r.questions[id]; q.answer != nil {
			r.closeQuestion(q, why)
		}
	}
}

// waitsFor is the oldest question that is open.
func waitsFor(questions map[string]*question) string {
	first := ""
	for id, q := range questions {
		if first == "" || q.Seq < questions[first].Seq || q.Seq == questions[first].Seq && id < first {
			first = id
		}
	}
	return first
}
