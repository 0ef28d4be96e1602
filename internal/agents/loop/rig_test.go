package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// rig is an agent with a model that the test plays, and tools that it makes up.
type rig struct {
	*testing.T
	dir   string
	store *conversation.Store
	run   *conversation.Run
	agent *Agent
	opts  Options

	asked chan *turn // what the model is asked

	shortening func(itself bool) error
	stopping   func(last string, again bool) string

	mu       sync.Mutex
	requests []model.Request
	calls    []Call
	do       map[string]func(context.Context, Call) (Outcome, error)
	list     []Tool
	listed   func() // is called when the tools are asked for; may be nil
	news     []string
	backend  Backend
}

// turn is a request that waits for its answer.
type turn struct {
	model.Request
	ctx   context.Context
	hear  func(model.Piece)
	reply chan reply
}

type reply struct {
	answer model.Answer
	err    error
}

func (u *turn) say(text string) {
	u.hear(model.Piece{Kind: model.Text, Text: text})
	u.answer(model.Answer{Blocks: []model.Block{{Kind: model.Text, Text: text}}, Stop: model.Done})
}

func (u *turn) call(calls ...model.Block) {
	for i := range calls {
		calls[i].Kind = model.Call
	}
	u.answer(model.Answer{Blocks: calls, Stop: model.Calls})
}

func (u *turn) answer(a model.Answer) { u.reply <- reply{answer: a} }
func (u *turn) fail(f *model.Failure) { u.reply <- reply{err: f} }

func call(name, args string) model.Block { return model.Block{ID: "c", Name: name, Args: args} }

// Ask implements Model.
func (r *rig) Ask(ctx context.Context, q model.Request, hear func(model.Piece)) (model.Answer, error) {
	if hear == nil {
		hear = func(model.Piece) {}
	}
	var mu sync.Mutex
	over := false // then nobody hears any more
	u := &turn{Request: q, ctx: ctx, reply: make(chan reply, 1), hear: func(p model.Piece) {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			hear(p)
		}
	}}
	defer func() {
		mu.Lock()
		over = true
		mu.Unlock()
	}()
	r.mu.Lock()
	r.requests = append(r.requests, q)
	r.mu.Unlock()
	select {
	case r.asked <- u:
	case <-ctx.Done():
		return model.Answer{}, ctx.Err()
	}
	select {
	case a := <-u.reply:
		return a.answer, a.err
	case <-ctx.Done():
		return model.Answer{}, ctx.Err()
	}
}

func (r *rig) Backend(profile string) (Backend, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if profile == "missing" {
		return Backend{}, errors.New("there is no profile missing")
	}
	b := r.backend
	b.Model, b.Profile, b.Name = r, profile, "played"
	if profile == "" {
		b.Profile = "default"
	}
	return b, nil
}

func (r *rig) Tools() ([]Tool, error) {
	if r.listed != nil {
		r.listed()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list), nil
}

func (r *rig) Call(ctx context.Context, c Call) (Outcome, error) {
	r.mu.Lock()
	r.calls = append(r.calls, c)
	do := r.do[c.Name]
	r.mu.Unlock()
	if do == nil {
		return Outcome{Failed: true, Text: "there is no tool " + c.Name}, nil
	}
	return do(ctx, c)
}

func (r *rig) Facts() Facts {
	return Facts{Mode: "review", Means: "Edits wait.", System: "linux", Date: "2026-11-26"}
}

func (r *rig) Notes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.news
	r.news = nil
	return n
}

// Shortening and Stopping say what a test has them say.
func (r *rig) Shortening(_ context.Context, itself bool) error {
	if r.shortening == nil {
		return nil
	}
	return r.shortening(itself)
}

func (r *rig) Stopping(_ context.Context, last string, again bool) string {
	if r.stopping == nil {
		return ""
	}
	return r.stopping(last, again)
}

func (r *rig) Pending() []string { return []string{"main.go"} }

// tool adds one. Those whose name begins with read change nothing.
func (r *rig) tool(name string, do func(context.Context, Call) (Outcome, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.do[name] = do
	r.list = append(r.list, Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`), Title: name, Reads: strings.HasPrefix(name, "read"), Beside: strings.HasPrefix(name, "read")})
}

func newRig(t *testing.T, with ...func(*rig)) *rig {
	t.Helper()
	r := &rig{T: t, dir: t.TempDir(), asked: make(chan *turn), do: map[string]func(context.Context, Call) (Outcome, error){}}
	r.tool("read", func(context.Context, Call) (Outcome, error) { return Outcome{Text: "the text"}, nil })
	r.tool("write", func(context.Context, Call) (Outcome, error) { return Outcome{Text: "written"}, nil })
	for _, f := range with {
		f(r)
	}
	r.open()
	run, err := r.store.Start(conversation.Spec{Agent: "builtin", Title: "t", Session: "s"})
	r.must(err)
	r.run = run
	r.attach()
	t.Cleanup(func() { _ = r.store.Close() })
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) open() {
	store, err := conversation.Open(conversation.Options{Dir: filepath.Join(r.dir, "runs"), Wait: 5 * time.Second})
	r.must(err)
	r.store = store
}

func (r *rig) attach() {
	r.Helper()
	o := r.opts
	o.Run, o.Host, o.Journal = r.run, r, filepath.Join(r.dir, "talk.jsonl")
	a, err := Open(o)
	r.must(err)
	r.agent = a
	r.run.Attach(a)
}

// restart ends the process, as far as the run can tell, and begins another.
func (r *rig) restart() {
	r.Helper()
	_ = r.store.Close()
	r.open()
	run, err := r.store.Get(r.run.ID())
	r.must(err)
	r.run = run
	r.attach()
}

func (r *rig) prompt(text string) {
	r.Helper()
	_, err := r.run.Prompt(conversation.Item{Text: text}, conversation.Queue)
	r.must(err)
}

// turn waits for the next request.
func (r *rig) turn() *turn {
	r.Helper()
	select {
	case u := <-r.asked:
		return u
	case <-time.After(10 * time.Second):
		r.Fatal("the model was not asked")
		return nil
	}
}

// ends waits for the end of the nth turn and returns its reason.
func (r *rig) ends(n int) string {
	r.Helper()
	ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	s := r.run.Subscribe(0)
	for {
		e, err := s.Next(ctx)
		if err != nil {
			r.Fatalf("the turn does not end: %v\n%s", err, r.story())
		}
		if e.Kind == conversation.RunEnd {
			if n--; n == 0 {
				return e.Reason
			}
		}
	}
}

// until waits for an event.
func (r *rig) until(what string, is func(conversation.Event) bool) conversation.Event {
	r.Helper()
	ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	s := r.run.Subscribe(0)
	for {
		e, err := s.Next(ctx)
		if err != nil {
			r.Fatalf("%s does not come: %v\n%s", what, err, r.story())
		}
		if is(e) {
			return e
		}
	}
}

// events are those of the run.
func (r *rig) events() []conversation.Event {
	r.Helper()
	all, _, err := r.run.History(0, 0, 0)
	r.must(err)
	return all
}

func (r *rig) story() string {
	var b strings.Builder
	for _, e := range r.events() {
		fmt.Fprintf(&b, "%d %s %s %q\n", e.Seq, e.Kind, e.Reason, e.Text+e.Delta)
	}
	return b.String()
}

// items are those of the journal, as it is on the disk.
func (r *rig) items() []Item {
	r.Helper()
	items, _, err := readItems(filepath.Join(r.dir, "talk.jsonl"))
	r.must(err)
	return items
}

// read is what a request has, in words: one line for each block.
func read(q model.Request) string {
	var b strings.Builder
	for _, m := range q.Messages {
		for _, one := range m.Blocks {
			fmt.Fprintf(&b, "%s %s %s%s%s\n", m.Role, one.Kind, one.Name, one.Args, one.Text)
		}
	}
	return b.String()
}

// whole checks that each call of a request has one result, in the order of the calls,
// right behind it.
func whole(t *testing.T, q model.Request) {
	t.Helper()
	for i, m := range q.Messages {
		if i > 0 && m.Role == q.Messages[i-1].Role {
			t.Errorf("two messages of %s in a row:\n%s", m.Role, read(q))
		}
		var calls, results []string
		for _, b := range m.Blocks {
			if b.Kind == model.Call {
				calls = append(calls, b.ID+b.Name)
			}
		}
		if len(calls) == 0 {
			continue
		}
		if i+1 < len(q.Messages) {
			for _, b := range q.Messages[i+1].Blocks {
				if b.Kind == model.Result {
					results = append(results, b.ID+b.Name)
				}
			}
		}
		if !slices.Equal(calls, results) {
			t.Errorf("calls %q have results %q:\n%s", calls, results, read(q))
		}
	}
}
