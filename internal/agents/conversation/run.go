package conversation

import (
	"cmp"
	"context"
	"errors"
	"sort"
	"sync"
	"time"
)

// Run is one conversation with an agent.
type Run struct {
	store *Store
	id    string

	mu     sync.Mutex
	state  State
	driver Driver
	log    *eventLog

	queue     []Item
	lastItem  int64
	paused    bool
	goesOn    bool  // without a prompt, where the agent stopped
	step      *step // the latest; nil before the first
	questions map[string]*question
	lastAsked int64
	usage     *Usage
	steps     int
	images    images // with a lock of its own
	closing   bool   // the process ends; what is open stays open
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

// start takes over what the first event of a run says.
func (i *Info) start(run string, e Event) {
	i.Run, i.Agent, i.Title = run, e.Agent, e.Title
	i.Session, i.Parent, i.Ref, i.OpenedAt = e.Session, e.Parent, e.Ref, e.Time
	i.ForkOf, i.Shadow, i.Mode, i.Once = e.ForkOf, e.Shadow, e.Mode, e.Once
}

// note takes over what a note says of the run: its title, the agent's name of it, modes.
func (i *Info) note(e Event) {
	i.Title, i.Ref, i.Mode = cmp.Or(e.Title, i.Title), cmp.Or(e.Ref, i.Ref), cmp.Or(e.Mode, i.Mode)
	i.AgentMode, i.Model = cmp.Or(e.AgentMode, i.AgentMode), cmp.Or(e.Model, i.Model)
}

func (s *Store) newRun(id string) *Run {
	return &Run{store: s, id: id, log: s.newEventLog(id), questions: map[string]*question{}}
}

// ID of the run.
func (r *Run) ID() string { return r.id }

// Seq is that of the latest event; 0 is none.
func (r *Run) Seq() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.seq
}

// Info returns what a list of runs shows.
func (r *Run) Info() Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.log.about
	i.State = r.state
	i.HeardAt = r.log.heardAt
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
	if r.state == Ended {
		return ErrEnded
	}
	if r.closing {
		return ErrClosed
	}
	if e.Kind == UsageNow && e.Usage != nil {
		u := *e.Usage
		r.usage = &u
	}
	return r.add(e)
}

// add adds an event to the log of the run.
func (r *Run) add(e Event) error {
	err := r.log.add(e)
	if err == nil && durable[e.Kind] {
		r.store.sync(r)
	}
	return err
}

// History returns events: with before the latest limit ones before it, else the
// first limit ones after since. What was told so far of a message that is being
// told is one Delta among them. next is where to go on, for Subscribe too, without
// a gap and without doubles. With before it is the before of the next page.
func (r *Run) History(since, before int64, limit int) (events []Event, next int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.log.events
	if r.state == Ended && len(all) == 0 {
		ended, err := r.store.ended(r.id)
		if err != nil {
			return nil, 0, err
		}
		all = ended.events
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
		all := r.log.events
		if r.state == Ended && all == nil {
			if s.past == nil {
				past, err := r.store.ended(r.id)
				if err != nil {
					r.mu.Unlock()
					return Event{}, err
				}
				s.past = past.events
			}
			all = s.past
		}
		if i := after(all, s.at); i < len(all) {
			e := all[i].Event
			r.mu.Unlock()
			s.at = e.Seq
			return e, nil
		}
		ended, closing, changed := r.state == Ended, r.closing, r.log.changed
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
