package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config is where hooks are named. It is read by Reload.
type Config interface {
	Hooks() (list []Hook, problems []string)
}

// Options are what a Runner works with. Told may be nil.
type Options struct {
	Config Config
	// Start starts a program in root, confined, whose standard streams are the hook's.
	Start func(ctx context.Context, root string, h *Hook, argv []string) (*Process, error)
	Told  func(Ran)        // by several at once
	Now   func() time.Time // nil: time.Now
}

// Runner runs the hooks of a workspace. A nil *Runner has none.
type Runner struct {
	o   Options
	now atomic.Pointer[snapshot]

	mu      sync.Mutex
	closed  bool
	keepers map[key]*keeper
	running sync.WaitGroup
}

type snapshot struct {
	all      []Hook
	byEvent  map[Event][]*Hook // those that may run
	problems []string
}

// key is what makes a hook in a root another one.
type key struct{ event, matcher, command, origin, dir, root string }

func (h *Hook) key(root string) key {
	return key{string(h.Event), h.Matcher, h.Command, h.Origin, h.Dir, root}
}

// New returns a runner with the hooks that the configuration names now.
func New(o Options) *Runner {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Runner{o: o, keepers: map[key]*keeper{}}
	r.now.Store(&snapshot{})
	r.Reload()
	return r
}

// Reload reads the configuration again. Hooks that run come to their end.
func (r *Runner) Reload() {
	if r == nil {
		return
	}
	list, problems := r.o.Config.Hooks()
	s := &snapshot{all: list, byEvent: map[Event][]*Hook{}, problems: problems}
	named := map[key]bool{}
	for i := range list {
		h := &list[i]
		if h.Trusted {
			s.byEvent[h.Event] = append(s.byEvent[h.Event], h)
			named[h.key("")] = true
		}
	}
	r.now.Store(s)
	r.mu.Lock()
	var gone []*keeper
	for k, kept := range r.keepers {
		bare := k
		bare.root = ""
		if !named[bare] {
			gone = append(gone, kept)
			delete(r.keepers, k)
		} else {
			go kept.release() // the settings may confine it in another way now
		}
	}
	r.mu.Unlock()
	for _, k := range gone {
		k.close()
	}
}

// Active reports whether a hook would be run at an event for one of names, the words
// that a matcher may name: so that nothing is made for nobody.
func (r *Runner) Active(e Event, names ...string) bool {
	return r != nil && len(r.matching(e, names)) > 0
}

// matching are the hooks of an event that would run; each command once.
func (r *Runner) matching(e Event, names []string) (list []*Hook) {
	for _, h := range r.now.Load().byEvent[e] {
		if (len(names) == 0 || slices.ContainsFunc(names, h.matches)) &&
			!slices.ContainsFunc(list, func(o *Hook) bool { return o.Command == h.Command && o.Dir == h.Dir }) {
			list = append(list, h)
		}
	}
	return list
}

// Run runs the hooks of in.Event, beside each other, and merges what they say in the
// order in which they are named: what is denied stays so.
func (r *Runner) Run(ctx context.Context, in Input, names ...string) Outcome {
	if r == nil {
		return Outcome{}
	}
	return r.Try(ctx, in, r.o.Told, names...)
}

// Try is Run that tells somebody else of what was run; told may be nil, and may be
// called by several at once.
func (r *Runner) Try(ctx context.Context, in Input, told func(Ran), names ...string) Outcome {
	list := r.matching(in.Event, names)
	if len(list) == 0 {
		return Outcome{}
	}
	row, _ := RowOf(in.Event)
	data := encode(in)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return Outcome{}
	}
	r.running.Add(1)
	r.mu.Unlock()
	defer r.running.Done()

	got := make([]Outcome, len(list))
	var all sync.WaitGroup
	for i, h := range list {
		all.Go(func() { got[i] = r.one(ctx, h, row, in, data, told) })
	}
	all.Wait()
	var o Outcome
	for i, more := range got {
		o.add(more, list[i].Origin)
	}
	return o
}

// one runs one hook.
func (r *Runner) one(ctx context.Context, h *Hook, row Row, in Input, data []byte, told func(Ran)) Outcome {
	begun := r.o.Now()
	ran := Ran{Hook: h, Event: in.Event, Session: in.Session, Call: in.Call, Tool: in.OurTool}
	var o Outcome
	failed := func(err error) (o Outcome) {
		o.said = fmt.Sprintf("the hook %q (%s, %s) failed: %v", clip(h.Command), in.Event, h.Origin, err)
		if h.FailClosed && row.Blocks {
			o.Decision, o.Reason = Deny, o.said+"; nothing goes on without it (failClosed)"
		}
		return o
	}
	if h.Changed != nil {
		if why := h.Changed(in.Dir); why != "" {
			ran.Failure, o = why, h.notTrusted(row, why)
			if ran.Decision, ran.Said = o.Decision, o.said; told != nil {
				told(ran)
			}
			return o
		}
	}
	k := r.keeper(h, in.Dir)
	if why := k.open(begun); why != "" {
		return failed(errors.New(why)) // the user has been told
	}
	e, err := k.run(ctx, data)
	if why := e.notStarted(); err == nil && why != "" && h.Changed != nil && ctx.Err() == nil {
		ran.Failure, o = why, h.notTrusted(row, why)
		if ran.Decision, ran.Said, ran.Took = o.Decision, o.said, r.o.Now().Sub(begun); told != nil {
			told(ran)
		}
		return o
	}
	if err == nil {
		o, err = e.read(row, in.OurTool)
	}
	if ctx.Err() != nil {
		return Outcome{} // the call is given up
	}
	k.note(r.o.Now(), err)
	if err != nil {
		ran.Failure, o = err.Error(), failed(err)
	}
	if h.Stricter && o.Decision == Allow {
		o.Decision, o.Reason = "", ""
	}
	ran.Decision, ran.Said, ran.Took = o.Decision, o.said, r.o.Now().Sub(begun)
	if told != nil {
		told(ran)
	}
	return o
}

// notTrusted is what holds in the place of a project's hook whose program is not as it
// was trusted, or can't be started: nobody knows what it would have held back, so a
// person is asked, where that can be, and what fails closed stays closed.
func (h *Hook) notTrusted(row Row, why string) (o Outcome) {
	o.said = fmt.Sprintf("the hook %q (%s) was not run: %s", clip(h.Command), h.Origin, why)
	switch {
	case h.FailClosed && row.Blocks:
		o.Decision, o.Reason = Deny, o.said
	case row.Event == PreToolUse:
		o.Decision, o.Reason = Ask, o.said
	}
	return o
}

func (r *Runner) keeper(h *Hook, root string) *keeper {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := h.key(root)
	k := r.keepers[id]
	if k == nil {
		argv := []string{"sh", "-c", gate, "hook", h.Command}
		k = &keeper{hook: h, start: func(ctx context.Context) (*Process, error) { return r.o.Start(ctx, root, h, argv) }}
		r.keepers[id] = k
	}
	return k
}

// Status describes a hook for people.
type Status struct {
	Event     Event  `json:"event"`
	Matcher   string `json:"matcher"`
	Origin    string `json:"origin"`
	Command   string `json:"command"`
	Trusted   bool   `json:"trusted"`
	LastError string `json:"lastError,omitempty"`
	Open      bool   `json:"open"` // it failed too often, and is not run for a while
}

// List describes the hooks in their order, and what is wrong with their sources.
func (r *Runner) List() (list []Status, problems []string) {
	if r == nil {
		return nil, nil
	}
	s, now := r.now.Load(), r.o.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range s.all {
		h := &s.all[i]
		st := Status{h.Event, h.Matcher, h.Origin, h.Command, h.Trusted, "", false}
		for id, k := range r.keepers {
			bare := id
			if bare.root = ""; bare == h.key("") {
				k.mu.Lock()
				st.Open = st.Open || k.openLocked(now)
				if len(k.failures) > 0 {
					st.LastError = k.last
				}
				k.mu.Unlock()
			}
		}
		list = append(list, st)
	}
	return list, s.problems
}

// Close ends all hooks.
func (r *Runner) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	keepers := r.keepers
	r.keepers = map[key]*keeper{}
	r.mu.Unlock()
	for _, k := range keepers {
		k.close()
	}
	r.running.Wait()
}

// encode is an input as it is written: one JSON object. It is made of texts and of
// JSON that was read before.
func encode(in Input) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(in); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Line is a hook's command in one line, for people.
func (h *Hook) Line() string { return strings.Join(strings.Fields(h.Command), " ") }
