package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// What our own agent is to do, how its plan says so, and what its sub-agents make.
const (
	wanted = "Two words with the same count: test which comes first, and say so in the README."
	plan   = "# Plan\n\n1. A sub-agent writes a test in count/tie_test.go.\n2. Another says in the README that it is tested.\n3. The tests are run over what both have made.\n"

	tieTest = "count/tie_test.go"
	tieText = `package count

import "testing"

func TestTie(t *testing.T) {
	if top := Top("b a"); top[0].Text != "a" {
		t.Errorf("first is %q", top[0].Text)
	}
}
`
	tieLine = "- The order of such words is tested.\n"
)

// talk plays the model of all agents of a run: whose request it is says a word in it.
type talk struct {
	d    *demo
	run  string
	held []*clients.Turn
	seen map[string]bool // the questions that are answered
}

// prompt begins a run of our own agent.
func (d *demo) prompt(mode, text string) (*talk, error) {
	var r struct {
		Run string `json:"run"`
	}
	if err := d.execute("sidecar.agent.run", map[string]any{"agent": "builtin", "mode": mode, "prompt": text}, &r); err != nil {
		return nil, err
	}
	d.out.call("prompt", text)
	return &talk{d: d, run: r.Run, seen: map[string]bool{}}, nil
}

// of is the next request that has a word.
func (k *talk) of(word string) (*clients.Turn, error) {
	for {
		if i := slices.IndexFunc(k.held, func(t *clients.Turn) bool { return strings.Contains(t.Body, word) }); i >= 0 {
			turn := k.held[i]
			k.held = slices.Delete(k.held, i, i+1)
			return turn, nil
		}
		select {
		case turn := <-k.d.model.Turns():
			k.held = append(k.held, turn)
		case <-k.d.ctx.Done():
			return nil, fmt.Errorf("the model was not asked by %q: %w", word, k.d.ctx.Err())
		}
	}
}

// event is what the demo reads of an event of a run.
type event struct {
	Type     string `json:"type"`
	Run      string `json:"run"`
	Kind     string `json:"kind"`
	Reason   string `json:"reason"`
	Text     string `json:"text"`
	Question string `json:"question"`
	Call     struct {
		URI string `json:"uri"`
	} `json:"call"`
}

// event reads an event of the run.
func (k *talk) event(m fakeeditor.Message) (e event, ok bool) {
	err := json.Unmarshal(m.Params, &e)
	return e, err == nil && m.Method == "sidecar/event" && e.Type == "agent" && e.Run == k.run
}

// await waits until the editor has been told an event of the run.
func (k *talk) await(what string, is func(event) bool) (found event, err error) {
	err = k.d.editor.Await(k.d.ctx, what, func(r *fakeeditor.Record) bool {
		return slices.ContainsFunc(r.Notifications, func(m fakeeditor.Message) bool {
			e, ok := k.event(m)
			if ok = ok && is(e); ok {
				found = e
			}
			return ok
		})
	})
	return found, err
}

// asked counts the questions of the run.
func (k *talk) asked() int {
	questions := map[string]bool{}
	for _, m := range k.d.editor.Record().Notifications {
		if e, ok := k.event(m); ok && e.Kind == "question" {
			questions[e.Question] = true
		}
	}
	return len(questions)
}

// answer answers the question that is open, as a person does.
func (k *talk) answer(answer string) (event, error) {
	q, err := k.await("a question", func(e event) bool { return e.Kind == "question" && !k.seen[e.Question] })
	if err != nil {
		return q, err
	}
	k.seen[q.Question] = true
	return q, k.d.execute("sidecar.agent.answer", map[string]any{"run": k.run, "question": q.Question, "answer": answer}, nil)
}

// done waits for the end of the run, and wants it to be a good one.
func (k *talk) done() error {
	end, err := k.await("the end of the run", func(e event) bool { return e.Kind == "run.end" })
	if err == nil && end.Reason != "done" {
		err = fmt.Errorf("the run ended by %s: %s", end.Reason, end.Text)
	}
	return err
}

// close closes the run.
func (k *talk) close() error {
	return k.d.execute("sidecar.agent.close", map[string]any{"run": k.run}, nil)
}

// asks reports whether a person is asked about a tool of the run. It depends on how commands
// can be confined on this machine.
func (k *talk) asks(tool string) (bool, error) {
	var list struct {
		Runs []struct {
			Run     string `json:"run"`
			Session string `json:"session"`
		} `json:"runs"`
	}
	if err := k.d.execute("sidecar.agent.runs", map[string]any{"all": true}, &list); err != nil {
		return false, err
	}
	for _, r := range list.Runs {
		if r.Run == k.run {
			var e struct {
				Decision string `json:"decision"`
			}
			err := k.d.execute("sidecar.policy.explain", map[string]any{"name": tool, "arguments": map[string]any{}, "session": r.Session}, &e)
			return e.Decision == "ask", err
		}
	}
	return false, fmt.Errorf("the run %s is not there", k.run)
}

// own has our own agent work: a plan that is approved, two sub-agents in shadows, tests
// over what they made, one review.
func (d *demo) own() error {
	type object = map[string]any
	d.out.done("its model is scripted: the demo plays it over the wire that real ones speak")
	k, err := d.prompt("plan", wanted)
	if err != nil {
		return err
	}
	turn, err := k.of("Two words with the same count")
	if err != nil {
		return err
	}
	turn.CallOwn("propose_plan", object{"plan": plan})
	q, err := k.answer("approve_review")
	if err != nil {
		return err
	}
	if !strings.HasSuffix(q.Call.URI, ".md") {
		return fmt.Errorf("the plan is at %q", q.Call.URI)
	}
	d.out.quote(plan, 0)
	d.out.done("the user has read the plan as a document, and approves it, to be carried out in the mode review")
	if turn, err = k.of("Two words with the same count"); err != nil {
		return err
	}
	turn.CallAllOwn(clients.Called{Tool: "spawn_agent", Args: object{"task": "write-the-test"}}, clients.Called{Tool: "spawn_agent", Args: object{"task": "write-the-readme"}})
	readme, err := d.read("README.md")
	if err != nil {
		return err
	}
	for _, one := range []struct{ task, name, text string }{{"write-the-test", tieTest, tieText}, {"write-the-readme", "README.md", readme + tieLine}} {
		turn, err := k.of(one.task)
		if err != nil {
			return err
		}
		d.out.call("spawn_agent", one.task+", in a shadow of its own")
		turn.CallOwn("write_file", object{"path": one.name, "content": one.text})
		if turn, err = k.of(one.task); err != nil {
			return err
		}
		turn.Say("It is written.")
	}
	if turn, err = k.of("It is written."); err != nil {
		return err
	}
	d.out.done("both work at once, and neither sees the other's files")
	turn.CallOwn("run_tests", object{})
	d.out.call("run_tests", "over what waits for review")
	asks, err := k.asks("run_tests")
	switch {
	case err != nil:
		return err
	case asks:
		if _, err = k.answer("allow_once"); err != nil {
			return err
		}
	default:
		d.out.done("nobody is asked: nothing of them leaves the session before it is decided")
	}
	if turn, err = k.of("It is written."); err != nil {
		return err
	}
	if !strings.Contains(turn.Result, "passed") {
		return fmt.Errorf("run_tests says %s", turn.Result)
	}
	d.out.quote(turn.Result, 3)
	turn.Say("The order of words with the same count is tested.")
	if err := k.done(); err != nil {
		return err
	}
	waits, err := d.pending()
	if err != nil {
		return err
	}
	if len(waits.Edits) != 2 || waits.hunks() != 2 {
		return fmt.Errorf("%d files with %d hunks are pending, want 2 with 2", len(waits.Edits), waits.hunks())
	}
	d.out.done("what both made is one review: %d hunks in %d files", waits.hunks(), len(waits.Edits))
	if err := d.acceptAll(2); err != nil {
		return err
	}
	d.want[tieTest] = tieText
	d.want["README.md"] += tieLine
	d.out.done("the user accepts it")
	return k.close()
}
