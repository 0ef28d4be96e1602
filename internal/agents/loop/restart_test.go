package loop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// Behaviours 1 and 2: whatever of the journal there is when the process ends, the
// conversation goes on, with one result for each call.
func TestRestartAnywhere(t *testing.T) {
	r := newRig(t)
	r.tool("fails", func(context.Context, Call) (Outcome, error) { return Outcome{Text: "no", Failed: true}, nil })
	r.prompt("hello")
	r.turn().call(call("read", `{}`), call("write", `{"a":1}`), call("fails", `{}`))
	r.turn().call(call("write", `{"a":2}`))
	r.turn().say("done")
	r.ends(1)
	_ = r.store.Close()
	path := filepath.Join(r.dir, "talk.jsonl")
	data, err := os.ReadFile(path)
	r.must(err)
	lines := strings.SplitAfter(string(data), "\n")
	for n := range lines {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			next := newRig(t, func(next *rig) {
				next.must(ownfile.WriteFile(filepath.Join(next.dir, "talk.jsonl"), []byte(strings.Join(lines[:n], "")+`{"n":`), 0o600))
			})
			next.prompt("go on")
			u := next.turn()
			whole(t, u.Request)
			text := read(u.Request)
			if n > 1 && !strings.HasPrefix(text, "user text hello\n") {
				t.Errorf("what was said is lost:\n%s", text)
			}
			if len(next.calls) != 0 {
				t.Errorf("%d calls were made again", len(next.calls))
			}
			u.say("done")
			next.ends(1)
			items := next.items()
			results := map[string]int{}
			for _, i := range items {
				if i.Kind == Resulted {
					results[i.Result.Call]++
				}
			}
			for key, n := range results {
				if n != 1 {
					t.Errorf("%s has %d results", key, n)
				}
			}
		})
	}
}

// Behaviour 2: what is said of a call that was cut off depends on what is known of it.
func TestCutOffCalls(t *testing.T) {
	for name, want := range map[string]string{"read_held": "changes nothing: call it again", "held": "not known whether it took effect"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			begun, hold := make(chan bool, 1), make(chan bool)
			r.tool(name, func(context.Context, Call) (Outcome, error) { begun <- true; <-hold; return Outcome{}, nil })
			r.prompt("hello")
			r.turn().call(call(name, `{}`), call("write", `{}`))
			<-begun
			data, err := os.ReadFile(filepath.Join(r.dir, "talk.jsonl")) // as a kill would leave it
			r.must(err)
			next := newRig(t, func(next *rig) {
				next.list, next.do = r.list, r.do
				next.must(ownfile.WriteFile(filepath.Join(next.dir, "talk.jsonl"), data, 0o600))
				next.listed = func() { _ = next.agent.Profile() } // as a host does that knows a worker
			})
			next.prompt("go on")
			u := next.turn()
			whole(t, u.Request)
			text := read(u.Request)
			if !strings.Contains(text, want) || !strings.Contains(text, "writeNot run: the agent was stopped before it.") {
				t.Errorf("no %q in\n%s", want, text)
			}
			u.say("done")
			next.ends(1)
			close(hold)
			r.turn().say("done")
			r.ends(1)
		})
	}
}

// Behaviour 2: of calls side by side, the result of one that has ended is not lost with
// those that have not.
func TestResultsAreKeptAsTheyCome(t *testing.T) {
	r := newRig(t)
	hold := make(chan bool)
	r.tool("read_held", func(context.Context, Call) (Outcome, error) { <-hold; return Outcome{Text: "late"}, nil })
	r.prompt("hello")
	r.turn().call(call("read_held", `{}`), call("read", `{}`))
	r.until("the end of one", func(e conversation.Event) bool { return e.Kind == conversation.CallFinished && e.Call.Tool == "read" })
	data, err := os.ReadFile(filepath.Join(r.dir, "talk.jsonl")) // as a kill would leave it
	r.must(err)
	close(hold)
	u := r.turn()
	if text := read(u.Request); !strings.HasSuffix(text, "user result read_heldlate\nuser result readthe text\n") {
		t.Errorf("the results are not in the order of the calls:\n%s", text)
	}
	u.say("done")
	r.ends(1)
	next := newRig(t, func(next *rig) {
		next.list, next.do = r.list, r.do
		next.must(ownfile.WriteFile(filepath.Join(next.dir, "talk.jsonl"), data, 0o600))
	})
	next.prompt("go on")
	u = next.turn()
	whole(t, u.Request)
	if text := read(u.Request); !strings.Contains(text, "user result readthe text\n") || strings.Count(text, "call it again") != 1 {
		t.Errorf("it is told\n%s", text)
	}
	u.say("done")
	next.ends(1)
}

// Behaviour 9: an agent whose process ended goes on when it is resumed.
func TestResume(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	r.turn().call(call("write", `{}`))
	r.turn() // it is asked, and then the process ends
	r.restart()
	r.run.Resume()
	u := r.turn()
	if got, want := read(u.Request), "user text hello\nassistant call write{}\nuser result writewritten\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("done")
	r.ends(2)
	if len(r.calls) != 1 {
		t.Errorf("%d calls were made", len(r.calls))
	}
	r.restart()
	r.run.Resume() // nothing is left to do
	if state := r.run.Info().State; state != conversation.Idle {
		t.Errorf("a run that is done is %s when it is resumed", state)
	}
}

// Behaviour 10: a question outlives the process, and its answer goes to the call.
func TestQuestionSurvives(t *testing.T) {
	for _, answer := range []string{"yes", "no"} {
		t.Run(answer, func(t *testing.T) {
			r := newRig(t)
			r.tool("risky", func(ctx context.Context, c Call) (Outcome, error) {
				got, err := r.agent.AskPeople(ctx, c.ID, conversation.Question{Text: "may I?", Options: []conversation.Option{{ID: "yes", Label: "Yes"}, {ID: "no", Label: "No"}}}, func(a string) bool { return a == "yes" })
				if err != nil {
					return Outcome{Failed: true, Text: err.Error()}, ctx.Err()
				}
				return Outcome{Text: "they say " + got}, nil
			})
			r.prompt("hello")
			r.turn().call(call("write", `{"first":1}`), call("risky", `{}`), call("write", `{}`))
			q := r.until("the question", func(e conversation.Event) bool { return e.Kind == conversation.Asked })
			if q.Call == nil || q.Call.ID == "" || r.run.Info().State != conversation.Waiting {
				t.Errorf("it asks for %+v, and is %s", q.Call, r.run.Info().State)
			}
			r.restart()
			if r.run.Info().State != conversation.Waiting {
				t.Fatalf("after a restart it is %s", r.run.Info().State)
			}
			r.must(r.run.Answer(q.Question, answer, "me"))
			u := r.turn()
			whole(t, u.Request)
			text := read(u.Request)
			for _, want := range []string{"riskythey say " + answer, "writeNot run: the agent was stopped before it."} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if strings.Contains(text, "The answer to your question") {
				t.Errorf("the answer is told twice:\n%s", text)
			}
			u.say("done")
			r.ends(2)
		})
	}
}

// Behaviour 10: who goes on without an answer has said no.
func TestQuestionLeft(t *testing.T) {
	r := newRig(t)
	r.tool("risky", func(ctx context.Context, c Call) (Outcome, error) {
		_, err := r.agent.AskPeople(ctx, c.ID, conversation.Question{Text: "may I?", Options: []conversation.Option{{ID: "yes", Label: "Yes"}}}, func(string) bool { return true })
		if err != nil {
			return Outcome{Failed: true, Text: err.Error()}, ctx.Err()
		}
		t.Error("it went on")
		return Outcome{}, nil
	})
	r.prompt("hello")
	r.turn().call(call("risky", `{}`))
	r.until("the question", func(e conversation.Event) bool { return e.Kind == conversation.Asked })
	r.restart()
	r.prompt("something else")
	u := r.turn()
	whole(t, u.Request)
	if text := read(u.Request); !strings.Contains(text, "riskyNot run: nobody had allowed it") {
		t.Errorf("it is told\n%s", text)
	}
	u.say("done")
	r.ends(2)
}

// Behaviours 20 and 21: a rewind forgets what came after; a fork does not know it.
func TestRewindAndFork(t *testing.T) {
	r := newRig(t)
	r.prompt("one")
	r.turn().call(call("write", `{}`))
	u := r.turn()
	if _, err := r.run.Prompt(conversation.Item{Text: "steered"}, conversation.Steer); err != nil {
		t.Fatal(err)
	}
	u.say("did one")
	r.turn().say("ok")
	r.ends(1)
	after := r.events()[len(r.events())-1].Seq
	r.prompt("two")
	r.turn().say("did two")
	r.ends(2)
	used := r.agent.transcript.used
	prompt := PlaceAfter(r.events(), after)
	fork := filepath.Join(r.dir, "fork.jsonl")
	r.must(r.agent.Fork(fork, prompt))
	now := filepath.Join(r.dir, "now.jsonl")
	r.must(r.agent.Fork(now, ""))
	rewound, err := r.agent.Rewind(prompt)
	r.must(err)
	if _, err := r.agent.Rewind(prompt); err == nil {
		t.Error("it is rewound twice")
	}
	for _, name := range []string{rewindRef, rewindRef + "1", rewindRef + "99"} {
		if _, err := r.agent.Rewind(name); err == nil {
			t.Errorf("%s is no rewind", name)
		}
	}
	live := len(r.agent.transcript.live)
	r.restart()
	back, err := r.agent.Rewind(rewound)
	r.must(err)
	if !holds(r.agent.transcript, prompt) {
		t.Error("a rewind that is void took the prompt with it")
	}
	r.restart()
	_, err = r.agent.Rewind(back)
	r.must(err)
	if got := len(r.agent.transcript.live); got != live || holds(r.agent.transcript, prompt) {
		t.Errorf("%d items hold, want %d", got, live)
	}
	r.restart()
	r.prompt("three")
	u = r.turn()
	one := "user text one\nassistant call write{}\nuser result writewritten\nassistant text did one\nuser text steered\nassistant text ok\n"
	if got := read(u.Request); got != one+"user text three\n" {
		t.Errorf("after a rewind\n%s", got)
	}
	u.say("did three")
	r.ends(3)
	if r.agent.transcript.used.Calls != used.Calls {
		t.Errorf("used %+v, before %+v", r.agent.transcript.used, used)
	}
	for path, want := range map[string]string{fork: one, now: one + "user text two\nassistant text did two\n"} {
		_, items, err := openJournal(path, r.agent.o.Now)
		r.must(err)
		talk := newTranscript(items)
		if got := read(talk.request()); got != want {
			t.Errorf("the fork knows\n%swant\n%s", got, want)
		}
		if _, err := talk.before(prompt); err == nil || len(talk.promptIDs) > 0 {
			t.Errorf("the fork takes a prompt of its own for one of the other run's")
		}
		if talk.used != (Usage{}) {
			t.Errorf("the fork has used %+v", talk.used)
		}
	}
}

// Behaviour 22: what the person did is told at the next step.
func TestNewsAreTold(t *testing.T) {
	r := newRig(t)
	r.news = []string{"main.go was rejected: too long"}
	r.prompt("hello")
	u := r.turn()
	if got, want := read(u.Request), "user text <note>\nSince your last step:\n- main.go was rejected: too long\n</note>\nuser text hello\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	r.mu.Lock()
	r.news = []string{"a.go was accepted"}
	r.mu.Unlock()
	u.call(call("write", `{}`))
	u = r.turn()
	if got := read(u.Request); !strings.HasSuffix(got, "user result writewritten\nuser text <note>\nSince your last step:\n- a.go was accepted\n</note>\n") {
		t.Errorf("then\n%s", got)
	}
	u.say("done")
	r.ends(1)
}

// Behaviour 22: what the person does while nobody works is told at the next step, once, also
// after a restart and a rewind. It alone begins no turn.
func TestNewsAreKept(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	r.turn().say("ok")
	r.ends(1)
	r.must(r.agent.Note("a.go was accepted"))
	if r.agent.Unfinished() {
		t.Error("a note is something to do")
	}
	_, err := r.agent.Rewind(PlaceAfter(r.events(), 0))
	r.must(err)
	r.restart()
	r.must(r.agent.Note("b.go was rejected: too long"))
	r.prompt("again")
	u := r.turn()
	r.must(r.agent.Note("c.go was accepted"))
	want := "user text <note>\nSince your last step:\n- a.go was accepted\n- b.go was rejected: too long\n</note>\nuser text again\n"
	if got := read(u.Request); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("done")
	r.ends(2)
	r.restart()
	r.prompt("more")
	u = r.turn()
	if got := read(u.Request); got != want+"assistant text done\nuser text <note>\nSince your last step:\n- c.go was accepted\n</note>\nuser text more\n" {
		t.Errorf("then\n%s", got)
	}
	u.say("done")
	r.ends(3)
	r.must(r.agent.Note("of this run"))
	fork := filepath.Join(r.dir, "fork.jsonl")
	r.must(r.agent.Fork(fork, ""))
	items, _, err := readItems(fork)
	r.must(err)
	if notes := newTranscript(items).notes; notes != nil {
		t.Errorf("a fork is told %q", notes)
	}
	for range 2 * maxNotes {
		r.must(r.agent.Note("one of many"))
	}
	if n := len(r.agent.transcript.notes); n != maxNotes {
		t.Errorf("%d notes wait", n)
	}
}

// Behaviour 23: the model is switched between two steps.
func TestSwitchModel(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	u := r.turn()
	if err := r.agent.Use("missing"); err == nil || !strings.Contains(err.Error(), "no profile missing") {
		t.Errorf("it switches to what is not there: %v", err)
	}
	r.must(r.agent.Use("other"))
	u.call(call("write", `{}`))
	u = r.turn()
	if got := r.agent.transcript.frame; got.Profile != "other" || got.Why != "another model" {
		t.Errorf("the frame is %+v", got)
	}
	u.say("done")
	r.ends(1)
	r.restart()
	r.prompt("more")
	r.turn().say("done")
	r.ends(2)
	if got := r.agent.transcript.frame; got.Profile != "other" {
		t.Errorf("after a restart it is %s", got.Profile)
	}
}

// Behaviour 24: each request begins with the one before it, but for what is listed.
func TestStablePrefix(t *testing.T) {
	r := newRig(t)
	r.prompt("hello")
	for i := range 6 {
		if i == 3 {
			r.tool("added", func(context.Context, Call) (Outcome, error) { return Outcome{}, nil })
		}
		u := r.turn()
		if i == 1 {
			if _, err := r.run.Prompt(conversation.Item{Text: "steered"}, conversation.Steer); err != nil {
				t.Fatal(err)
			}
		}
		r.mu.Lock()
		r.news = []string{fmt.Sprint("news ", i)}
		r.mu.Unlock()
		u.call(call("read", fmt.Sprintf(`{"n":%d}`, i)), call("write", fmt.Sprintf(`{"n":%d}`, i)))
	}
	r.turn().say("done")
	r.ends(1)
	breaks := 0
	for _, e := range r.events() {
		if e.Kind == conversation.Note && e.Reason == "cache" {
			breaks++
		}
	}
	if breaks != 1 {
		t.Errorf("%d breaks are told", breaks)
	}
	for i := 1; i < len(r.requests); i++ {
		before, now := r.requests[i-1], r.requests[i]
		if !strings.HasPrefix(read(now), read(before)) || now.System != before.System {
			t.Errorf("request %d does not begin as the one before it", i)
		}
		for k, tool := range before.Tools {
			if now.Tools[k].Name != tool.Name {
				t.Errorf("request %d has %s in the place of %s", i, now.Tools[k].Name, tool.Name)
			}
		}
	}
}

// Images go along with what was said.
func TestAttachments(t *testing.T) {
	r := newRig(t)
	_, err := r.run.Prompt(conversation.Item{Text: "look", Attachments: []conversation.Attachment{
		{Kind: "image", Data: "aGk=", Mime: "image/png"}, {Kind: "range", URI: "file:///p/a.go", Range: []byte(`{"start":{"line":1},"end":{"line":3}}`), Text: "code"},
		{Kind: "file", URI: "file:///p/b.go"}, {Kind: "odd"},
	}}, conversation.Queue)
	r.must(err)
	u := r.turn()
	blocks := u.Messages[0].Blocks
	want := "look\n\n<attached name=\"/p/a.go lines 2 to 4\">\ncode\n</attached>\n\n[The user points to /p/b.go]\n\n[The user attached odd, which can't be read]"
	if blocks[0].Text != want || blocks[1].Kind != model.Image || string(blocks[1].Data) != "hi" {
		t.Errorf("got %q, %+v", blocks[0].Text, blocks[1])
	}
	u.say("done")
	r.ends(1)
}

// Behaviour 1: a prompt that was told, and is not in the journal because the process ended
// between the two, has what came along with it.
func TestRecoveredAttachments(t *testing.T) {
	r := newRig(t)
	_, err := r.run.Prompt(conversation.Item{Text: "look", Attachments: []conversation.Attachment{
		{Kind: "image", Data: "aW1hZ2U=", Mime: "image/png"},
		{Kind: "range", URI: "file:///a.go", Text: "func A() {}"},
	}}, conversation.Queue)
	r.must(err)
	want := read(r.turn().Request)
	_ = r.store.Close()
	path := filepath.Join(r.dir, "talk.jsonl")
	data, err := os.ReadFile(path)
	r.must(err)
	first, _, _ := strings.Cut(string(data), "\n")
	r.must(ownfile.WriteFile(path, []byte(first+"\n"), 0o600))
	r.restart()
	r.prompt("again")
	u := r.turn()
	if got := read(u.Request); got != want+"user text again\n" || !strings.Contains(want, "func A()") || !strings.Contains(want, "user image") {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("done")
	r.ends(2)
}

// TestPictures: those of a result go to the model, also after a restart.
func TestPictures(t *testing.T) {
	r := newRig(t)
	r.tool("read_look", func(context.Context, Call) (Outcome, error) {
		return Outcome{Text: "a.png", Images: []Picture{{MIME: "image/png", Data: []byte("PNG"), Words: "an image, 8×6"}}}, nil
	})
	r.prompt("look")
	r.turn().call(call("read_look", "{}"))
	check := func(u *turn) {
		t.Helper()
		for _, m := range u.Messages {
			for _, b := range m.Blocks {
				if b.Kind == model.Result && len(b.Images) == 1 && string(b.Images[0].Data) == "PNG" && b.Images[0].Media == "image/png" && b.Images[0].Text == "an image, 8×6" {
					return
				}
			}
		}
		t.Errorf("no picture in %+v", u.Messages)
	}
	u := r.turn()
	check(u)
	u.say("seen")
	r.ends(1)
	r.restart()
	r.prompt("and now?")
	u = r.turn()
	check(u)
	u.say("the same")
	r.ends(2)
}

// holds reports whether a prompt is one that the conversation has.
func holds(t *transcript, prompt string) bool {
	_, err := t.before(prompt)
	return err == nil
}
