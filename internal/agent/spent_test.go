package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/model"
	"github.com/sidecar-ls/sidecar-ls/internal/runs"
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
			r.must(os.Link(filepath.Join(r.dir, "talk.jsonl"), beside(r.run.ID())))
			run, err := r.store.Start(runs.Spec{Agent: "builtin", Session: "below", Parent: r.run.ID(), Once: true})
			r.must(err)
			o := Options{Run: run, Host: r, Journal: beside(run.ID())}
			if draws {
				o.Parent = r.agent
			}
			child, err := Open(o)
			r.must(err)
			r.must(child.Spend("run-deep", Usage{Tokens: 5}))
			r.must(child.keep(Item{Kind: Answered, Answer: &Answer{Usage: model.Usage{Input: 7}}}))
			r.must(child.journal.file.Close()) // and its process is killed
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
			r.must(os.Remove(beside(r.run.ID())))
			r.must(Settle(run.ID(), beside))
			if _, err := os.Stat(beside(r.run.ID())); err == nil {
				t.Error("a run that was deleted has a journal again")
			}
		})
	}
}
