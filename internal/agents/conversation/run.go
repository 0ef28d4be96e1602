package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/linelog"
)

// Run is one conversation with an agent.
type Run struct {
	store *Store
	id    string

	mu      sync.Mutex
	info    Info
	driver  Driver
	journal *linelog.Log
	behind  bool      // the journal lacks events and must be rewritten
	retry   time.Time // of that
	events  []entry   // ordered by Seq
	bytes   int       // of events
	seq     int64
	heardAt time.Time     // of the latest event
	changed chan struct{} // closed at the next event
	tail    *tail
	parts   map[string]int // how often a message went on after it was settled

	queue     []Item
	lastItem  int64
	paused    bool
	goesOn    bool  // without a prompt, where the agent stopped
	step      *step // the latest; nil before the first
	questions map[string]*question
	lastAsked int64
	usage     *Usage
	steps     int
	request   Request            // that the agent has heard last
	made      map[string]Request // after which one, by the ids of pending changes
	images    images             // with a lock of its own
	closing   bool               // the process ends; what is open stays open
}

// entry is an event with its size in the journal.
type entry struct {
	Event
	size int
}

// tail is the message that is being told.
type tail struct {
	kind, message, role, parent string

	name  string // the message as it is told: its id, or that with a number
	first int64  // seq of its first delta
	text  strings.Builder
}

// Info is what a list of runs shows.
type Info struct {
	Run        string    `json:"run"`
	Agent      string    `json:"agent"`
	Title      string    `json:"title"`
	State      State     `json:"state"`
	Session    string    `json:"session"`
	Parent     string    `json:"parent,omitempty"`
	ForkOf     string    `json:"forkOf,omitempty"` // the run whose conversation this one began with
	Ref        string    `json:"ref,omitempty"`    // the agent's own name of the conversation, to go on with it
	Shadow     string    `json:"shadow,omitempty"` // of the session
	Once       bool      `json:"once,omitempty"`   // it ends with its process: its session can't be opened again as it was
	Mode       string    `json:"mode,omitempty"`   // of the session
	Step       int       `json:"step"`
	Pending    int       `json:"pending"`
	Usage      *Usage    `json:"usage,omitempty"`
	WaitingFor string    `json:"waitingFor,omitempty"`
	OpenedAt   time.Time `json:"openedAt"`
	HeardAt    time.Time `json:"heardAt,omitzero"`    // when something happened last, in this process
	Attached   bool      `json:"attached"`            // there is a driver
	AgentMode  string    `json:"agentMode,omitempty"` // of the agent's own
	Model      string    `json:"model,omitempty"`
}

func (s *Store) newRun(id string) *Run {
	return &Run{store: s, id: id, changed: make(chan struct{}), parts: map[string]int{}, questions: map[string]*question{}, made: map[string]Request{}}
}

// ID of the run.
func (r *Run) ID() string { return r.id }

// Seq is that of the latest event; 0 is none.
func (r *Run) Seq() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seq
}

// Info returns what a list of runs shows.
func (r *Run) Info() Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.info
	i.HeardAt = r.heardAt
	i.Step, i.Pending, i.Usage, i.Attached = r.steps, len(r.queue), r.usage, r.driver != nil
	i.WaitingFor = waitsFor(r.questions)
	return i
}

// Errors of runs.
var (
	ErrEnded   = errors.New("the run has ended: start a new one")
	ErrTaken   = errors.New("another process drives the agents of this folder")
	ErrClosed  = errors.New("the runs are being closed")
	ErrTooMany = errors.New("too many runs are open: close one")
	ErrUnknown = errors.New("there is no such run")
)

// Emit tells of something in the run. It is for the driver; what has a method of
// its own, as questions have, is not told by it.
func (r *Run) Emit(e Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.info.State == Ended {
		return ErrEnded
	}
	if r.closing {
		return ErrClosed
	}
	r.noted(e)
	if e.Kind == UsageNow && e.Usage != nil {
		u := *e.Usage
		r.usage = &u
	}
	return r.tell(e)
}

// noted takes in what a note says of the run: its title, the agent's name of it, modes.
func (r *Run) noted(e Event) {
	if e.Kind == Note {
		r.info.Title = cmp.Or(e.Title, r.info.Title)
		r.info.Ref = cmp.Or(e.Ref, r.info.Ref)
		r.info.Mode = cmp.Or(e.Mode, r.info.Mode)
		r.info.AgentMode, r.info.Model = cmp.Or(e.AgentMode, r.info.AgentMode), cmp.Or(e.Model, r.info.Model)
	}
}

// tell appends an event. Messages are settled by what comes after them in the
// conversation; what is only said about it doesn't end them.
func (r *Run) tell(e Event) error {
	switch {
	case e.Kind == Text || e.Kind == Thought:
		return r.tellText(e)
	case e.Kind == Note && e.Reason == Withdrawn && r.tail != nil && r.tail.message == e.Message:
		r.parts[e.Message]-- // what comes in its place has its name
		r.dropTail()
	case settles[e.Kind] || e.Kind == Note && (e.Reason == Resumed || e.Reason == ImageShown):
		if err := r.settle(); err != nil {
			return err
		}
	}
	return r.append(e)
}

// settles are what comes after a message in the conversation.
var settles = map[string]bool{CallProposed: true, CallStarted: true, CallOutput: true, CallFinished: true, Asked: true, StepStart: true, RunEnd: true}

func (r *Run) tellText(e Event) error {
	t := r.tail
	if t != nil && (t.kind != e.Kind || t.message != e.Message || t.role != e.Role || t.parent != e.Parent || t.text.Len()+len(e.Delta) > maxText) {
		if err := r.settle(); err != nil {
			return err
		}
		t = nil
	}
	if e.Delta == "" {
		if e.Text == "" {
			return nil
		}
		if t != nil { // the whole takes the place of its parts
			r.dropTail()
			e.Message = t.name
		} else {
			e.Message = partName(r.parts, e.Message)
		}
		return r.append(e)
	}
	e.Text = ""
	if t == nil {
		t = &tail{kind: e.Kind, message: e.Message, role: e.Role, parent: e.Parent, name: partName(r.parts, e.Message), first: r.seq + 1}
	}
	e.Message = t.name
	if err := r.append(e); err != nil {
		return err
	}
	r.tail = t
	t.text.WriteString(r.events[len(r.events)-1].Delta)
	return nil
}

// partName gives a message that goes on after it was settled another id, because the
// whole text of the first part is told already.
func partName(parts map[string]int, message string) string {
	parts[message]++
	if n := parts[message]; n > 1 {
		return fmt.Sprintf("%s#%d", message, n)
	}
	return message
}

// settle ends the message that is being told: its text takes the place of its
// parts.
func (r *Run) settle() error {
	t := r.tail
	if t == nil {
		return nil
	}
	r.dropTail()
	return r.append(Event{Kind: t.kind, Message: t.name, Role: t.role, Parent: t.parent, Text: t.text.String()})
}

func (r *Run) dropTail() {
	from := r.find(r.tail.first - 1)
	kept := r.events[:from]
	for _, e := range r.events[from:] {
		if e.isDelta() {
			r.bytes -= e.size
		} else {
			kept = append(kept, e)
		}
	}
	clear(r.events[len(kept):])
	r.events, r.tail = kept, nil
}

// find returns the index of the first event after seq.
func (r *Run) find(seq int64) int { return after(r.events, seq) }

func after(all []entry, seq int64) int {
	return sort.Search(len(all), func(i int) bool { return all[i].Seq > seq })
}

// append gives an event its number, writes and tells it. When the journal can't
// be written, the event is told all the same, and written with a later one.
func (r *Run) append(e Event) error {
	e = bounded(e)
	e.Run, e.Seq, e.Time = r.id, r.seq+1, r.store.opts.Now()
	line, err := encode(e)
	if err == nil && len(line) > maxSize {
		e = stripped(e, len(line))
		line, err = encode(e)
	}
	if err != nil {
		return err
	}
	r.seq++
	r.heardAt = e.Time
	r.attribute(e)
	r.events = append(r.events, entry{e, len(line)})
	r.bytes += len(line)
	if !r.behind {
		if err := r.journal.Append(line); err != nil {
			r.behind = true
			r.store.log.Error("the journal of a run can't be written", "run", r.id, "error", err)
		}
	}
	if r.behind && !e.Time.Before(r.retry) || r.journal.Size() > r.store.opts.MaxBytes {
		r.shrink()
	}
	if durable[e.Kind] {
		r.store.sync(r)
	}
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

// retryTime is how long a journal that can't be written is left alone.
const retryTime = time.Second

// durable are the events that are brought to the disk soon, and not when the
// system likes: what people decided, and where a run stands.
var durable = map[string]bool{RunStart: true, Asked: true, Answered: true, QueueNow: true, StateNow: true, RunEnd: true, CallFinished: true}

// shrink writes the journal anew, with the oldest outputs cut when there is too
// much, and after them the oldest events.
func (r *Run) shrink() {
	r.renew()
	limit := int(r.store.opts.MaxBytes / 2)
	for i := range r.events {
		if r.bytes <= limit {
			break
		}
		e := &r.events[i]
		if e.Kind == CallOutput && len(e.Text)+len(e.Delta)+len(e.Raw) > 0 {
			e.Cut += len(e.Text) + len(e.Delta) + len(e.Raw)
			e.Text, e.Delta, e.Raw = "", "", nil
			r.measure(e)
		}
	}
	if r.bytes > limit {
		r.dropOldest(limit)
	}
	var err error
	r.journal, err = rewrite(r.journal, r.events)
	if r.behind = err != nil; r.behind {
		r.retry = r.store.opts.Now().Add(retryTime)
		r.store.log.Error("the journal of a run can't be written anew", "run", r.id, "error", err)
	}
}

// renew has the first event say what notes have said of the run: they may go.
func (r *Run) renew() {
	if len(r.events) > 0 && r.events[0].Kind == RunStart {
		first := &r.events[0]
		first.Title, first.Ref, first.Mode = r.info.Title, r.info.Ref, r.info.Mode
		r.measure(first)
	}
}

func (r *Run) measure(e *entry) {
	line, err := encode(e.Event)
	if err == nil {
		r.bytes += len(line) - e.size
		e.size = len(line)
	}
}

// dropOldest takes out the oldest events and puts a note in their place. The
// first one stays, which says what the run is, and what says where it stands.
func (r *Run) dropOldest(limit int) {
	latest := map[string]int{}
	for i, e := range r.events {
		latest[e.Kind] = i
	}
	var kept []entry
	note := entry{Event: Event{Run: r.id, Kind: Note, Reason: "cut", Text: "Older events were cut to bound the journal."}}
	for i, e := range r.events {
		stays := i == 0 || e.isDelta() || e.Kind == Asked && r.questions[e.Question] != nil || standing[e.Kind] && latest[e.Kind] == i
		if r.bytes <= limit || stays || i == len(r.events)-1 {
			kept = append(kept, e)
			continue
		}
		r.bytes -= e.size
		note.Cut += e.size
		if e.Kind == Note && e.Reason == "cut" {
			note.Cut += e.Cut
		}
		note.Seq, note.Time = e.Seq, e.Time
	}
	if note.Seq == 0 {
		return
	}
	r.measure(&note)
	at := sort.Search(len(kept), func(i int) bool { return kept[i].Seq > note.Seq })
	r.events = slices.Insert(kept, at, note)
}

// standing are the events of which the latest says where a run stands.
var standing = map[string]bool{StepStart: true, RunEnd: true, StateNow: true, QueueNow: true, UsageNow: true, Plan: true}

// History returns events: with before the latest limit ones before it, else the
// first limit ones after since. What was told so far of a message that is being
// told is one Delta among them. next is where to go on, for Subscribe too, without
// a gap and without doubles. With before it is the before of the next page.
func (r *Run) History(since, before int64, limit int) (events []Event, next int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.events
	if r.info.State == Ended && len(all) == 0 {
		if all, err = r.load(); err != nil {
			return nil, 0, err
		}
	}
	limit = cmp.Or(max(limit, 0), len(all))
	next = since
	if before > 0 {
		end := sort.Search(len(all), func(i int) bool { return all[i].Seq >= before })
		start := max(0, end-limit, sort.Search(len(all), func(i int) bool { return all[i].Seq > since }))
		all, next = all[min(start, end):end], before
		if len(all) > 0 {
			next = all[0].Seq
		}
	} else {
		start := sort.Search(len(all), func(i int) bool { return all[i].Seq > since })
		all = all[start:min(len(all), start+limit)]
		if len(all) > 0 {
			next = all[len(all)-1].Seq
		}
	}
	return joined(all), next, nil
}

// joined are events with the parts of the message that is being told as one, where
// the last of them is.
func joined(all []entry) []Event {
	events := make([]Event, 0, len(all))
	told := ""
	last := -1
	for i, e := range all {
		if e.isDelta() {
			told += e.Delta
			last = i
		}
	}
	for i, e := range all {
		if e.isDelta() && i != last {
			continue
		}
		if i == last {
			e.Delta = told
		}
		events = append(events, e.Event)
	}
	return events
}

// Subscription reads the events of a run in their order, those that there are
// and those that come. One that is slow holds nothing up: it misses parts of
// messages of which it gets the whole.
type Subscription struct {
	run  *Run
	at   int64
	past []entry // of a run that has ended, which holds nothing itself any more
}

// Subscribe reads from the first event after since.
func (r *Run) Subscribe(since int64) *Subscription { return &Subscription{run: r, at: since} }

// Next waits for the next event. After the last one of a run that has ended it
// returns ErrEnded.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	r := s.run
	for {
		r.mu.Lock()
		all := r.events
		if r.info.State == Ended && all == nil {
			if s.past == nil {
				var err error
				if s.past, err = r.load(); err != nil {
					r.mu.Unlock()
					return Event{}, err
				}
			}
			all = s.past
		}
		if i := after(all, s.at); i < len(all) {
			e := all[i].Event
			r.mu.Unlock()
			s.at = e.Seq
			return e, nil
		}
		ended, closing, changed := r.info.State == Ended, r.closing, r.changed
		r.mu.Unlock()
		switch {
		case ended:
			s.past = nil
			return Event{}, ErrEnded
		case closing:
			return Event{}, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}
