package loop

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// Behaviour 16: what an answer took that was cut or withdrawn is used, also after a restart.
func TestSpentInVain(t *testing.T) {
	r := newRig(t, func(r *rig) {
		r.backend.Price = func(u model.Usage) (float64, bool) { return float64(u.Output), true }
	})
	r.prompt("hello")
	u := r.turn()
	u.hear(model.Piece{Kind: model.Text, Text: "half"})
	u.reply <- reply{model.Answer{Lost: model.Usage{Input: 10, Output: 1}}, &model.Failure{Cause: model.Cut, Message: "it ended"}}
	r.ends(1)
	r.prompt("again")
	r.turn().answer(model.Answer{Blocks: []model.Block{{Kind: model.Text, Text: "yes"}}, Stop: model.Done, Usage: model.Usage{Input: 100, Output: 2}, Lost: model.Usage{Input: 20, Output: 1}})
	r.ends(2)
	want := Usage{Tokens: 134, Steps: 2, Cost: 4}
	for _, when := range []string{"", " after a restart"} {
		if used, _ := r.agent.Used(); used.Tokens != want.Tokens || used.Steps != want.Steps || used.Cost != want.Cost {
			t.Errorf("used%s is %+v, want %+v", when, used, want)
		}
		r.restart()
	}
}

// Behaviour 16: what a sub-agent used whose process was killed is used of the budget that it
// drew on, once; what draws on nobody's is nobody's.
func TestSettle(t *testing.T) {
	for name, draws := range map[string]bool{"a sub-agent": true, "on its own": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.prompt("hello")
			r.turn().say("ok")
			r.ends(1)
			before, _ := r.agent.Used()
			beside := func(run string) string { return filepath.Join(r.dir, run+".jsonl") }
			r.must(ownfile.Link(filepath.Join(r.dir, "talk.jsonl"), beside(r.run.ID())))
			run, err := r.store.Start(conversation.Spec{Agent: "builtin", Session: "below", Parent: r.run.ID(), Once: true})
			r.must(err)
			o := Options{Run: run, Host: r, Journal: beside(run.ID())}
			if draws {
				o.Parent = r.agent
			}
			child, err := Open(o)
			r.must(err)
			r.must(child.Spend("run-deep", Usage{Tokens: 5}))
			r.must(child.keep(Item{Kind: Answered, Answer: &Answer{Usage: model.Usage{Input: 7}}}))
			r.must(child.journal.log.Close()) // and its process is killed
			for range 2 {
				r.must(Settle(run.ID(), beside))
				r.restart()
				want := before
				if draws {
					want.Tokens, want.Steps = before.Tokens+12, before.Steps+1
				}
				if got, _ := r.agent.Used(); got != want {
					t.Errorf("used is %+v, want %+v", got, want)
				}
			}
			r.must(ownfile.Remove(beside(r.run.ID())))
			r.must(Settle(run.ID(), beside))
			if _, err := os.Stat(beside(r.run.ID())); err == nil {
				t.Error("a run that was deleted has a journal again")
			}
		})
	}
}

// Behaviour 16: the time in which people think is not used, nor that in which a sub-agent
// works, which is used by that alone. Waits side by side are one.
func TestWaitsAreNotUsed(t *testing.T) {
	r := newRig(t)
	r.tool("read_others", func(context.Context, Call) (Outcome, error) {
		first, second := r.agent.Waits(), r.agent.Waits()
		r.agent.mu.Lock()
		r.agent.begun, r.agent.since = r.agent.begun.Add(-time.Hour), r.agent.since.Add(-time.Hour)
		r.agent.mu.Unlock()
		first()
		second()
		return Outcome{}, nil
	})
	r.prompt("hello")
	r.turn().call(call("read_others", `{}`))
	r.turn().say("ok")
	r.ends(1)
	if used, _ := r.agent.Used(); used.Time > time.Minute {
		t.Errorf("%v are used", used.Time)
	}
}

// Behaviour 16: of a budget for several agents not more is used than there is, when they
// ask their models at once.
func TestReserve(t *testing.T) {
	for name, c := range map[string]struct {
		budget Budget
		want   Usage
	}{
		"steps": {Budget{Steps: 2}, Usage{Steps: 1}},
		"cost":  {Budget{Cost: 1}, Usage{Cost: 0.4, Steps: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			above := &pool{budget: c.budget}
			first, second, third := &pool{parent: above}, &pool{parent: above}, &pool{parent: above}
			for _, p := range []*pool{first, second} {
				if err := p.reserve(c.want); err != nil {
					t.Fatal(err)
				}
			}
			var over *errBudget
			if err := third.reserve(c.want); !errors.As(err, &over) {
				t.Errorf("a third is told %v", err)
			}
			if third.held != (Usage{}) {
				t.Errorf("what it can't have is held: %+v", third.held)
			}
			first.settle(c.want, Usage{})
			if err := third.reserve(c.want); err != nil {
				t.Errorf("what is given back can't be had: %v", err)
			}
		})
	}
}

// Behaviour 16: a request is expected to cost what the latest one did, and the first one
// what the price says.
func TestExpects(t *testing.T) {
	r := newRig(t, func(r *rig) {
		r.opts.Budget = Budget{Cost: 1}
		r.backend.Longest = 100
		r.backend.Price = func(u model.Usage) (float64, bool) { return float64(u.Output) / 1000, true }
	})
	r.prompt("hello")
	u := r.turn()
	if cost := r.agent.pool.held.Cost; cost != 0.1 {
		t.Errorf("for the first $%v are held", cost)
	}
	u.answer(model.Answer{Blocks: []model.Block{{Kind: model.Call, ID: "c", Name: "read", Args: "{}"}}, Stop: model.Calls, Usage: model.Usage{Output: 300}})
	u = r.turn()
	if cost := r.agent.pool.held.Cost; cost != 0.3 {
		t.Errorf("for the second $%v are held", cost)
	}
	u.say("ok")
	r.ends(1)
}

// Behaviour 16: that a bound of the cost is none, because the price is not known, is said
// when a run begins and when the budget is set.
func TestUnpriced(t *testing.T) {
	for name, priced := range map[string]bool{"unknown": false, "known": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.opts.Budget = Budget{Cost: 1}
				if priced {
					r.backend.Price = func(model.Usage) (float64, bool) { return 0, true }
				}
			})
			said := func() (n int) {
				for _, e := range r.events() {
					if e.Kind == conversation.Note && strings.Contains(e.Text, "The price of played is not known") {
						n++
					}
				}
				return n
			}
			want := func(n int) {
				t.Helper()
				if priced {
					n = 0
				}
				if got := said(); got != n {
					t.Errorf("it is said %d times, want %d", got, n)
				}
			}
			r.prompt("hello")
			r.turn().call(call("read", `{}`))
			r.turn().say("ok")
			r.ends(1)
			want(1)
			r.must(r.agent.Raise(Budget{Cost: 2, Tokens: 5}))
			want(2)
			r.must(r.agent.Raise(Budget{Tokens: 1000}))
			want(2)
		})
	}
}
