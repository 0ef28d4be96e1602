package loop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/linelog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

func TestTurn(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	u := r.turn()
	if !strings.Contains(u.System, "The mode is review: Edits wait.") || len(u.Tools) != 2 {
		t.Errorf("system %q, %d tools", u.System, len(u.Tools))
	}
	u.call(call("read", `{"path":"a.go"}`), call("write", `{"path":"b.go"}`))
	u = r.turn()
	whole(t, u.Request)
	want := "user text hello\nassistant call read{\"path\":\"a.go\"}\nassistant call write{\"path\":\"b.go\"}\nuser result readthe text\nuser result writewritten\n"
	if got := read(u.Request); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("done")
	if reason := r.ends(1); reason != conversation.Done {
		t.Errorf("it ended with %s", reason)
	}
	titles := map[string]bool{}
	for _, e := range r.events() {
		if e.Kind == conversation.CallFinished {
			titles[e.Call.Title+" "+e.Call.Outcome] = true
		}
	}
	if !titles["read: a.go completed"] || !titles["write: b.go completed"] {
		t.Errorf("finished: %v", titles)
	}
}

// Behaviour 1: what follows from an item is done when the item is on the disk.
func TestJournalComesFirst(t *testing.T) {
	r := newRig(t)
	r.tool("look", func(context.Context, Call) (Outcome, error) {
		items := r.items()
		last := items[len(items)-1]
		if last.Kind != Started || items[len(items)-2].Kind != Answered {
			t.Errorf("the call is made with %s at the end of the journal", last.Kind)
		}
		return Outcome{Text: "ok"}, nil
	})
	r.prompt("hello")
	u := r.turn()
	if items := r.items(); items[len(items)-1].Kind != Framed || items[len(items)-2].Prompt.Text != "hello" {
		t.Errorf("the model is asked with the journal at %s", items[len(items)-1].Kind)
	}
	u.call(call("look", `{}`))
	u = r.turn()
	if items := r.items(); items[len(items)-1].Kind != Resulted {
		t.Errorf("the model is asked with the journal at %s", items[len(items)-1].Kind)
	}
	u.say("done")
	r.ends(1)
}

// Behaviour 1: a last line that is torn is cut off; what is damaged before is refused.
func TestJournalTorn(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	r.turn().say("done")
	r.ends(1)
	_ = r.store.Close()
	path := filepath.Join(r.dir, "talk.jsonl")
	data, err := os.ReadFile(path)
	r.must(err)
	for name, one := range map[string]struct {
		data string
		bad  string
	}{
		"whole":   {string(data), ""},
		"torn":    {string(data) + `{"n":7,"kind":"sa`, ""},
		"newer":   {strings.Replace(string(data), `"version":1`, `"version":2`, 1), "later version"},
		"damaged": {strings.Replace(string(data), `"kind":"said"`, `"kind":"sa`, 1), "damaged in line 2"},
		"gap":     {strings.Replace(string(data), `{"n":2,`, `{"n":3,`, 1), "damaged in line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			r.must(ownfile.WriteFile(path, []byte(one.data), 0o600))
			j, items, err := openJournal(path, time.Now)
			if one.bad != "" {
				if err == nil || !strings.Contains(err.Error(), one.bad) {
					t.Errorf("it says %v", err)
				}
				return
			}
			if err != nil || len(items) != 5 {
				t.Fatalf("%d items, %v", len(items), err)
			}
			r.must(j.append(&Item{Kind: Prompted, Prompt: &Prompt{Text: "more"}}))
			r.must(j.log.Close())
			if items := r.items(); len(items) != 6 || items[5].N != 6 {
				t.Errorf("then it has %d items", len(items))
			}
		})
	}
}

// Behaviour 1: on a full disk nothing is done that is not in the journal.
func TestFullDisk(t *testing.T) {
	device, err := ownfile.Device("/dev/full", os.O_RDWR)
	if err != nil {
		needs.Skip(t, needs.Mounts, "there is no full disk here: ", err)
	}
	r := newRig(t)
	r.must(device.Close())
	full, err := linelog.Open("/dev/full", 0)
	r.must(err)
	r.prompt("hello")
	u := r.turn()
	r.agent.mu.Lock()
	whole := r.agent.journal.log
	r.agent.journal.log = full
	r.agent.mu.Unlock()
	defer whole.Close()
	u.call(call("write", `{}`))
	if reason := r.ends(1); reason != conversation.Failed {
		t.Errorf("it ended with %s", reason)
	}
	e := r.until("the end", func(e conversation.Event) bool { return e.Kind == conversation.RunEnd })
	if !strings.Contains(e.Text, "can't be written") || !strings.Contains(e.Text, "no space left") {
		t.Errorf("it says %q", e.Text)
	}
	if len(r.calls) != 0 {
		t.Errorf("%d calls were made", len(r.calls))
	}
	r.restart()
	r.prompt("again")
	u = r.turn()
	if got, want := read(u.Request), "user text hello\nuser text again\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("done")
	r.ends(2)
}

// Behaviour 2: one result per call, in call order, whatever happens.
func TestOneResultPerCall(t *testing.T) {
	r := newRig(t)
	first := make(chan bool)
	r.tool("read_slow", func(context.Context, Call) (Outcome, error) { <-first; return Outcome{Text: "slow"}, nil })
	r.tool("read_fast", func(context.Context, Call) (Outcome, error) { close(first); return Outcome{Text: "fast"}, nil })
	r.tool("crash", func(context.Context, Call) (Outcome, error) { panic("oh") })
	r.tool("silent", func(context.Context, Call) (Outcome, error) { return Outcome{}, nil })
	r.prompt("hello")
	r.turn().call(call("read_slow", `{}`), call("read_fast", `{}`), call("crash", `{}`), call("nonesuch", `{}`), call("silent", `{}`))
	u := r.turn()
	whole(t, u.Request)
	text := read(u.Request)
	for _, want := range []string{"result read_slowslow\nuser result read_fastfast\nuser result crashcrash crashed (oh)", "there is no tool nonesuch", "result silent(no output)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	u.say("done")
	r.ends(1)
}

// Behaviour 2: two hundred calls at once are not made.
func TestTooManyCalls(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	var many []model.Block
	for range 200 {
		many = append(many, call("write", `{}`))
	}
	r.turn().call(many...)
	u := r.turn()
	whole(t, u.Request)
	if strings.Contains(read(u.Request), "the same several times") { // its model has seen no result of them
		t.Error("the calls of one answer are counted one by one")
	}
	if len(r.calls) != maxCalls {
		t.Errorf("%d calls were made", len(r.calls))
	}
	u.say("done")
	r.ends(1)
}

// Behaviour 4: arguments that are no JSON are neither repaired nor run.
func TestBrokenArguments(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	r.turn().call(call("write", `{"path":"x.txt","content":"half`), call("write", `[]`), call("write", `{"a":"`+strings.Repeat("x", maxArgs)+`"}`), call("write", `{"whole":true}`))
	u := r.turn()
	whole(t, u.Request)
	text := read(u.Request)
	for _, want := range []string{`31 bytes of them came, which end with "{\"path\":\"x.txt\",\"content\":\"half"`, `2 bytes of them came`, "may have 1048576", "written"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q among the results", want)
		}
	}
	if len(r.calls) != 1 {
		t.Errorf("%d calls were made", len(r.calls))
	}
	u.say("done")
	r.ends(1)
}

// Behaviours 3 and 5: what was shown of an answer that failed is withdrawn.
func TestWithdrawn(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	u := r.turn()
	u.hear(model.Piece{Kind: model.Text, Text: "half an ans"})
	u.hear(model.Piece{Again: &model.Failure{Cause: model.Cut, Message: "it ended", Again: true, After: time.Millisecond}})
	u.hear(model.Piece{Kind: model.Text, Text: "whole"})
	u.answer(model.Answer{Blocks: []model.Block{{Kind: model.Text, Text: "whole"}}, Stop: model.Done})
	r.ends(1)
	var shown []string
	for _, e := range r.events() {
		if e.Kind == conversation.Text && e.Role == "assistant" {
			shown = append(shown, e.Message+" "+e.Text+e.Delta)
		}
	}
	if len(shown) != 1 || !strings.HasSuffix(shown[0], " whole") || strings.Contains(shown[0], "#") {
		t.Errorf("shown: %q", shown)
	}
	r.prompt("again")
	u = r.turn()
	u.hear(model.Piece{Kind: model.Text, Text: "and half again"})
	u.fail(&model.Failure{Cause: model.Cut, Message: "it ended", Again: true})
	if reason := r.ends(2); reason != conversation.Failed {
		t.Errorf("it ended with %s", reason)
	}
	for _, e := range r.events() {
		if strings.Contains(e.Text+e.Delta, "half again") {
			t.Errorf("half an answer stays: %+v", e)
		}
	}
	for _, i := range r.items() {
		if i.Kind == Answered && strings.Contains(textOf(i.Answer.Blocks), "half") {
			t.Errorf("half an answer is kept: %+v", i)
		}
	}
}

// Behaviour 5: a provider that takes no more for an hour is not waited for.
func TestWaiting(t *testing.T) {
	for _, cause := range []model.Cause{model.Limit, model.Busy} {
		t.Run(string(cause), func(t *testing.T) {
			r := newRig(t)
			r.prompt("hello")
			r.turn().fail(&model.Failure{Cause: cause, Message: "too many", Again: true, After: time.Hour})
			if reason := r.ends(1); reason != Waiting {
				t.Errorf("it ended with %s", reason)
			}
			note := r.until("when it takes more", func(e conversation.Event) bool { return e.Kind == conversation.Note && e.Reason == Waiting })
			if note.RetryAt == nil || time.Until(*note.RetryAt) < 55*time.Minute {
				t.Errorf("it says to resume at %v", note.RetryAt)
			}
			r.run.Resume()
			u := r.turn()
			if got := read(u.Request); got != "user text hello\n" {
				t.Errorf("it goes on with\n%s", got)
			}
			u.say("done")
			if reason := r.ends(2); reason != conversation.Done {
				t.Errorf("it ended with %s", reason)
			}
		})
	}
}

// Behaviour 7: an interrupt ends the stream, and running tools; calls not begun are
// answered, and what was said is kept.
func TestInterrupt(t *testing.T) {
	t.Run("while it speaks", func(t *testing.T) {
		r := newRig(t)
		r.prompt("hello")
		u := r.turn()
		u.hear(model.Piece{Kind: model.Text, Text: "I was about to"})
		r.run.Cancel()
		<-u.ctx.Done()
		if reason := r.ends(1); reason != conversation.Interrupted {
			t.Errorf("it ended with %s", reason)
		}
		r.prompt("go on")
		u = r.turn()
		if got, want := read(u.Request), "user text hello\nassistant text I was about to\nuser text go on\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		u.say("done")
		r.ends(2)
	})
	t.Run("while it works", func(t *testing.T) {
		r := newRig(t)
		begun := make(chan bool)
		r.tool("long", func(ctx context.Context, _ Call) (Outcome, error) {
			close(begun)
			<-ctx.Done()
			return Outcome{}, ctx.Err()
		})
		r.prompt("hello")
		r.turn().call(call("read", `{}`), call("long", `{}`), call("write", `{}`))
		<-begun
		r.run.Cancel()
		if reason := r.ends(1); reason != conversation.Interrupted {
			t.Errorf("it ended with %s", reason)
		}
		r.prompt("go on")
		u := r.turn()
		whole(t, u.Request)
		text := read(u.Request)
		for _, want := range []string{"result readthe text", "result longThe user stopped it while it ran. Look", "result writeNot run: the user stopped you before it."} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if len(r.calls) != 2 {
			t.Errorf("%d calls were made", len(r.calls))
		}
		u.say("done")
		r.ends(2)
	})
}

// Behaviour 8: a steer is heard at the next step, after the results; what is queued, after
// the end.
func TestSteerAndQueue(t *testing.T) {
	r := newRig(t)
	r.tool("steered", func(context.Context, Call) (Outcome, error) {
		if _, err := r.run.Prompt(conversation.Item{Text: "left"}, conversation.Steer); err != nil {
			t.Error(err)
		}
		if _, err := r.run.Prompt(conversation.Item{Text: "later"}, conversation.Queue); err != nil {
			t.Error(err)
		}
		return Outcome{Text: "one"}, nil
	})
	r.prompt("hello")
	u := r.turn()
	if _, err := r.run.Prompt(conversation.Item{Text: "right"}, conversation.Steer); err != nil { // while it speaks
		t.Fatal(err)
	}
	u.call(call("steered", `{}`), call("write", `{}`))
	u = r.turn()
	whole(t, u.Request)
	want := "user text hello\nassistant call steered{}\nassistant call write{}\nuser result steeredone\nuser result writewritten\nuser text right\nuser text left\n"
	if got := read(u.Request); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("done")
	u = r.turn()
	if got := read(u.Request); got != want+"assistant text done\nuser text later\n" {
		t.Errorf("then\n%s", got)
	}
	u.say("done")
	r.ends(2)
}

// Behaviour 8: a steer that comes while the last words are said is not lost.
func TestSteerAtTheEnd(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	u := r.turn()
	if _, err := r.run.Prompt(conversation.Item{Text: "wait"}, conversation.Steer); err != nil {
		t.Fatal(err)
	}
	u.say("done")
	u = r.turn()
	if got, want := read(u.Request), "user text hello\nassistant text done\nuser text wait\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("yes?")
	r.ends(1)
}

// Behaviour 9: a pause finishes what runs and begins no step; it survives a restart.
func TestPause(t *testing.T) {
	r := newRig(t)
	r.tool("pausing", func(context.Context, Call) (Outcome, error) {
		r.run.Pause()
		return Outcome{Text: "one"}, nil
	})
	r.prompt("hello")
	r.turn().call(call("pausing", `{}`), call("write", `{}`))
	if reason := r.ends(1); reason != Paused || r.run.Info().State != conversation.Paused {
		t.Errorf("it ended with %s, %s", reason, r.run.Info().State)
	}
	r.restart()
	if state := r.run.Info().State; state != conversation.Paused {
		t.Errorf("after a restart it is %s", state)
	}
	r.run.Resume()
	u := r.turn()
	if got, want := read(u.Request), "user text hello\nassistant call pausing{}\nassistant call write{}\nuser result pausingone\nuser result writewritten\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("done")
	r.ends(2)
	if len(r.calls) != 2 {
		t.Errorf("%d calls were made", len(r.calls))
	}
}

// Behaviour 16: at most of a budget the model is told, at its end it has a last word.
func TestBudget(t *testing.T) {
	for name, b := range map[string]Budget{"tokens": {Tokens: 1000}, "calls": {Calls: 5}, "cost": {Cost: 1}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				r.opts.Budget = b
				r.backend.Longest = 10
				r.backend.Price = func(u model.Usage) (float64, bool) { return float64(u.Output) / 1000, true }
			})
			r.prompt("hello")
			use := func(u *turn, calls ...model.Block) {
				for i := range calls {
					calls[i].Kind = model.Call
				}
				u.answer(model.Answer{Blocks: calls, Stop: model.Calls, Usage: model.Usage{Output: 900}})
			}
			use(r.turn(), call("write", `{"a":1}`), call("write", `{"a":2}`), call("write", `{"a":3}`), call("write", `{"a":4}`))
			u := r.turn()
			if !strings.Contains(read(u.Request), "Most of the budget is used") {
				t.Errorf("nothing is said of the budget:\n%s", read(u.Request))
			}
			if !u.NoCalls { // of tokens too few are left for a step with calls
				use(u, call("write", `{"a":5}`))
				u = r.turn()
			}
			if !u.NoCalls || !strings.HasSuffix(read(u.Request), "Say what is done, and what is left to do.\n</note>\n") || len(u.Tools) != 2 {
				t.Errorf("the last step has %d tools, and may call them: %v\n%s", len(u.Tools), !u.NoCalls, read(u.Request))
			}
			u.answer(model.Answer{Blocks: []model.Block{{Kind: model.Text, Text: "half is done"}}, Stop: model.Done, Usage: model.Usage{Output: 200}})
			if reason := r.ends(1); reason != conversation.Budget {
				t.Errorf("it ended with %s", reason)
			}
			r.prompt("more")
			if reason := r.ends(2); reason != conversation.Budget {
				t.Errorf("then it ended with %s", reason)
			}
			r.must(r.agent.Raise(Budget{Tokens: 100_000, Calls: 100, Cost: 100}))
			r.restart() // what was raised stays so
			r.prompt("now")
			u = r.turn()
			if u.NoCalls || strings.Count(read(u.Request), lastStepText) != 1 {
				t.Errorf("with a raised budget it is asked\n%s", read(u.Request))
			}
			u.say("done")
			r.ends(3)
		})
	}
}

// Behaviour 16: of the calls of an answer only those are made that the budget has room for,
// that of the agent above too.
func TestBudgetOfCalls(t *testing.T) {
	for name, below := range map[string]bool{"its own": false, "that of the agent above": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				if r.opts.Budget = (Budget{Calls: 3}); below {
					r.opts = Options{Budget: Budget{Calls: 5}, Parent: &Agent{pool: &pool{budget: Budget{Calls: 3}}}}
				}
			})
			r.prompt("hello")
			r.turn().call(call("write", `{"a":1}`), call("write", `{"a":2}`), call("write", `{"a":3}`), call("write", `{"a":4}`), call("read", `{"a":5}`))
			u := r.turn()
			whole(t, u.Request)
			if n := strings.Count(read(u.Request), "Not run: the budget has no more calls"); len(r.calls) != 3 || n != 2 {
				t.Errorf("%d calls were made, %d were not:\n%s", len(r.calls), n, read(u.Request))
			}
			if !u.NoCalls {
				t.Error("it may call still")
			}
			u.say("half is done")
			if reason := r.ends(1); reason != conversation.Budget {
				t.Errorf("it ended with %s", reason)
			}
		})
	}
}

// Behaviour 16: time is used while the agent works, and not at its end alone.
func TestBudgetOfTime(t *testing.T) {
	r := newRig(t, func(r *rig) { r.opts.Budget = Budget{Time: time.Hour} })
	earlier := func() { // it works longer
		r.agent.mu.Lock()
		defer r.agent.mu.Unlock()
		r.agent.begun = r.agent.begun.Add(-50 * time.Minute)
	}
	r.prompt("hello")
	u := r.turn()
	earlier()
	u.call(call("write", `{"a":1}`))
	if u = r.turn(); u.NoCalls || !strings.Contains(read(u.Request), "Most of the budget is used") {
		t.Errorf("after 50 minutes it may call nothing: %v, and is told\n%s", u.NoCalls, read(u.Request))
	}
	earlier()
	u.call(call("write", `{"a":2}`))
	if u = r.turn(); !u.NoCalls {
		t.Error("after 100 minutes it may call still")
	}
	u.say("half is done")
	if reason := r.ends(1); reason != conversation.Budget {
		t.Errorf("it ended with %s", reason)
	}
	used, _ := r.agent.Used()
	r.restart()
	if again, _ := r.agent.Used(); used.Time < 100*time.Minute || again.Time != used.Time {
		t.Errorf("it has used %v, and %v after a restart", used.Time, again.Time)
	}
}

// Behaviour 17: the same call with the same result is a loop; polling is none.
func TestLoop(t *testing.T) {
	r := newRig(t)
	n := 0
	r.tool("poll", func(context.Context, Call) (Outcome, error) {
		n++
		return Outcome{Text: strings.Repeat("x", n)}, nil
	})
	r.prompt("hello")
	for range 8 {
		r.turn().call(call("poll", `{}`))
	}
	for i := range 10 {
		u := r.turn()
		if told := strings.Contains(read(u.Request), "the same several times in a row"); told != (i >= 6) {
			t.Errorf("after %d calls it is told: %v", i, told)
		}
		u.call(call([]string{"read", "write"}[i%2], []string{`{"a":1,"b":2}`, `{"b":2,"a":1}`}[i/2%2]))
	}
	if reason := r.ends(1); reason != conversation.Loop {
		t.Errorf("it ended with %s", reason)
	}
	r.prompt("look elsewhere")
	r.turn().call(call("read", `{"a":1,"b":2}`))
	u := r.turn()
	u.say("done")
	if reason := r.ends(2); reason != conversation.Done {
		t.Errorf("then it ended with %s", reason)
	}
}
