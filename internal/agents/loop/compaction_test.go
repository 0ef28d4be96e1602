package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// long is a text of about so many tokens.
func long(tokens int) string { return strings.Repeat("word ", tokens*4/5) }

// reader is a rig whose tool read has results of 10,000 tokens.
func reader(t *testing.T, window int) *rig {
	r := newRig(t, func(r *rig) { r.backend.Window = window })
	r.tool("read_long", func(_ context.Context, c Call) (Outcome, error) {
		return Outcome{Text: string(c.Args) + long(10_000)}, nil
	})
	r.tool("read_fails", func(_ context.Context, c Call) (Outcome, error) {
		return Outcome{Text: "failed " + long(10_000), Failed: true}, nil
	})
	r.tool("skill", func(_ context.Context, c Call) (Outcome, error) { return Outcome{Text: "skill " + long(10_000)}, nil })
	return r
}

// Behaviour 18: old results are taken out before anything is summed up, and can be read
// again. Failures, skills and what is recent stay.
func TestPruneFirst(t *testing.T) {
	r := reader(t, 100_000)
	r.prompt("hello")
	r.turn().call(call("read_long", `{"n":0}`), call("read_fails", `{}`), call("skill", `{}`))
	n := 1
	for ; ; n++ {
		u := r.turn()
		if text := read(u.Request); strings.Contains(text, "was taken out to save room") {
			whole(t, u.Request)
			for want, has := range map[string]bool{`{"n":0}word`: false, "failed word": true, "skill word": true, fmt.Sprintf(`{"n":%d}word`, n-1): true, fmt.Sprintf(`{"n":%d}word`, n-2): true} {
				if strings.Contains(text, want) != has {
					t.Errorf("%q is there: %v", want, !has)
				}
			}
			u.say("done")
			break
		}
		u.call(call("read_long", fmt.Sprintf(`{"n":%d}`, n)))
	}
	r.ends(1)
	if n < 5 || n > 7 {
		t.Errorf("it prunes after %d results", n)
	}
	first := ""
	for _, i := range r.items() {
		if i.Kind == Pruned {
			first = i.Calls[0]
		}
	}
	text, ok := r.agent.Past(pastPrefix + first)
	if !ok || !strings.HasPrefix(text, `{"n":0}word`) {
		t.Errorf("the first result is %.20q, %v", text, ok)
	}
	for _, bad := range []string{first, first + "9", pastPrefix + first + "9", pastPrefix} {
		if _, ok := r.agent.Past(bad); ok {
			t.Errorf("%q opens something", bad)
		}
	}
}

// Behaviour 19: a summary keeps the user's words, is shown, can be edited and undone.
func TestCompaction(t *testing.T) {
	r := reader(t, 36_000)
	r.prompt("make it blue, and keep the tests green")
	for i := range 3 {
		r.turn().call(call("read_fails", fmt.Sprintf(`{"n":%d}`, i)))
	}
	u := r.turn()
	if text := read(u.Request); !strings.Contains(text, "about to be shortened") || u.Tools == nil || !u.NoCalls {
		t.Fatalf("it does not ask for a summary:\n%.2000s", text)
	}
	whole(t, u.Request)
	u.say("## Task\nBlue.")
	u = r.turn()
	whole(t, u.Request)
	text := read(u.Request)
	for want, has := range map[string]bool{"<said>\nmake it blue, and keep the tests green\n</said>": true, "# Summary\n## Task\nBlue.": true, "wait for review\nmain.go": true, "failed word": false} {
		if strings.Contains(text, want) != has {
			t.Errorf("%q is there: %v\n%s", want, !has, text)
		}
	}
	u.say("done")
	r.ends(1)
	event := r.until("the summary", func(e conversation.Event) bool { return e.Kind == conversation.Compaction })
	if !strings.Contains(event.Text, "Blue.") || event.Ref == "" {
		t.Errorf("it is told as %+v", event)
	}
	at := 0
	fmt.Sscan(event.Ref, &at)
	if err := r.agent.EditSummary(at+1, "x"); err == nil {
		t.Error("a summary is edited that there is not")
	}
	r.must(r.agent.EditSummary(at, "It shall be green."))
	event = r.until("the summary as it was changed", func(e conversation.Event) bool { return e.Kind == conversation.Compaction && e.Ref != event.Ref })
	if event.Ref != fmt.Sprint(r.agent.transcript.summary.N) || !strings.HasSuffix(event.Text, "\n\nIt shall be green.") {
		t.Errorf("the change is told as %+v", event)
	}
	r.restart()
	r.prompt("on")
	u = r.turn()
	if got, want := read(u.Request), "user text It shall be green.\nassistant text done\nuser text on\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	u.say("done")
	r.ends(2)
	r.must(r.agent.RestoreBefore(r.agent.transcript.summary.N))
	r.until("that it was taken away", func(e conversation.Event) bool { return e.Kind == conversation.Compaction && e.Reason == "restored" })
	r.agent.mu.Lock()
	got := read(r.agent.transcript.request())
	r.agent.mu.Unlock()
	if !strings.Contains(got, "failed word") || strings.Contains(got, "green.\n") || !strings.HasSuffix(got, "assistant text done\nuser text on\nassistant text done\n") {
		t.Errorf("after undoing it\n%.300s", got)
	}
}

// A conversation in which nothing is said yet, or any more, can't be made shorter.
func TestCompactNothing(t *testing.T) {
	r := reader(t, 36_000)
	if err := r.agent.Compact(t.Context(), ""); !errors.Is(err, errNothing) {
		t.Errorf("before the first prompt it says %v", err)
	}
	r.prompt("go")
	r.turn().say("done")
	r.ends(1)
	if _, err := r.agent.Rewind(PlaceAfter(r.events(), 0)); err != nil {
		t.Fatal(err)
	}
	if err := r.agent.Compact(t.Context(), ""); !errors.Is(err, errNothing) {
		t.Errorf("after it is rewound to its beginning it says %v", err)
	}
}

// Behaviour 19: a summary of what does not hold any more, because it was rewound meanwhile,
// is thrown away; one that is not touched by a prompt meanwhile is kept.
func TestCompactMeanwhile(t *testing.T) {
	for name, rewound := range map[string]bool{"a rewind": true, "a prompt": false} {
		t.Run(name, func(t *testing.T) {
			r := reader(t, 36_000)
			for n, text := range []string{"one", "two"} {
				r.prompt(text)
				r.turn().say("did " + text)
				r.ends(n + 1)
			}
			done := make(chan error)
			go func() { done <- r.agent.Compact(t.Context(), "") }()
			u := r.turn()
			if rewound {
				_, err := r.agent.Rewind(PlaceAfter(r.events(), 0))
				r.must(err)
			} else {
				r.prompt("three")
				r.turn().say("did three")
				r.ends(3)
			}
			u.say("SUMMARY")
			if err := <-done; errors.Is(err, errChanged) != rewound || !rewound && err != nil {
				t.Errorf("shortening says %v", err)
			}
			r.restart()
			r.prompt("on")
			u = r.turn()
			text := read(u.Request)
			if strings.Contains(text, "SUMMARY") == rewound || strings.Contains(text, "did three") == rewound {
				t.Errorf("it goes on with\n%s", text)
			}
			u.say("done")
			r.ends(3)
		})
	}
}

// Behaviours 18 and 19: what the user answers to questions and says of plans is their word:
// it is not taken out, and a summary has it as it was.
func TestAnswersAreKept(t *testing.T) {
	r := reader(t, 36_000)
	big := strings.Repeat("so it is, and not otherwise; ", 300)
	for name, answer := range map[string]string{"ask_user": "use SQLite " + big, "propose_plan": "The user says: no, smaller " + big, "read_other": "nobody's word " + big} {
		r.tool(name, func(context.Context, Call) (Outcome, error) { return Outcome{Text: answer}, nil })
	}
	r.tool("read_refused", func(context.Context, Call) (Outcome, error) { return Outcome{Text: "refused", Failed: true}, nil })
	r.prompt("begin")
	r.turn().call(call("ask_user", `{"question":"Which database?"}`), call("propose_plan", `{"plan":"rewrite all"}`), call("read_other", `{}`), call("ask_user", `{"question":5}`))
	r.turn().say("done")
	r.ends(1)
	r.agent.mu.Lock()
	for _, i := range r.agent.transcript.live {
		if i.Kind != Resulted {
			continue
		}
		if c, _ := r.agent.transcript.call(i.Result.Call); r.agent.stays(i.Result.Call) != (c.Name != "read_other") {
			t.Errorf("the result of %s stays: %v", c.Name, r.agent.stays(i.Result.Call))
		}
	}
	r.agent.mu.Unlock()
	r.must(r.agent.Compact(t.Context(), "SUMMARY"))
	r.restart()
	r.prompt("on")
	u := r.turn()
	text := read(u.Request)
	for want, has := range map[string]bool{"<said>\n(you asked with ask_user: Which database?)\nuse SQLite " + big: true, "(you asked with propose_plan: rewrite all)\nThe user says: no, smaller " + big: true, "nobody's word": false} {
		if strings.Contains(text, want) != has {
			t.Errorf("%.60q is there: %v\n%s", want, !has, text)
		}
	}
	u.say("done")
	r.ends(2)
}

// Behaviour 19: the second summary has the words of the first one's time too.
func TestCompactionTwice(t *testing.T) {
	r := reader(t, 40_000)
	r.prompt("first words")
	for round := range 2 {
		for {
			u := r.turn()
			if strings.Contains(read(u.Request), "about to be shortened") {
				u.say(fmt.Sprint("summary ", round))
				break
			}
			u.call(call("read_fails", `{}`))
			r.agent.mu.Lock()
			r.agent.repeats.forget()
			r.agent.mu.Unlock()
			if _, err := r.run.Prompt(conversation.Item{Text: fmt.Sprint("words of ", round)}, conversation.Steer); err != nil {
				t.Fatal(err)
			}
		}
	}
	u := r.turn()
	text := read(u.Request)
	for want, has := range map[string]bool{"first words": true, "words of 0": true, "words of 1": true, "summary 1": true, "summary 0": false} {
		if strings.Contains(text, want) != has {
			t.Errorf("%q is there: %v\n%.3000s", want, !has, text)
		}
	}
	u.say("done")
	r.ends(1)
}

// Behaviour 6: a conversation that is too long is made shorter, and asked once more.
func TestTooLong(t *testing.T) {
	long := &model.Failure{Cause: model.TooLong, Message: "too long"}
	t.Run("pruned", func(t *testing.T) {
		r := reader(t, 0)
		r.prompt("hello")
		for i := range 7 {
			r.turn().call(call("read_long", fmt.Sprintf(`{"n":%d}`, i)))
		}
		r.turn().fail(long)
		u := r.turn()
		if !strings.Contains(read(u.Request), "was taken out") {
			t.Error("nothing was pruned")
		}
		u.say("done")
		if reason := r.ends(1); reason != conversation.Done {
			t.Errorf("it ended with %s", reason)
		}
	})
	t.Run("pruned, which is not enough", func(t *testing.T) {
		r := reader(t, 0)
		r.prompt("hello")
		for i := range 7 {
			r.turn().call(call("read_long", fmt.Sprintf(`{"n":%d}`, i)))
		}
		r.turn().fail(long)
		r.turn().fail(long)
		r.turn().say("short")
		u := r.turn()
		if text := read(u.Request); !strings.Contains(text, "# Summary\nshort") {
			t.Errorf("it goes on with\n%.300s", text)
		}
		u.fail(long)
		if reason := r.ends(1); reason != conversation.Failed {
			t.Errorf("it ended with %s", reason)
		}
	})
	t.Run("summed up, for a window that nobody knows", func(t *testing.T) {
		r := newRig(t)
		r.tool("read_some", func(context.Context, Call) (Outcome, error) { return Outcome{Text: strings.Repeat("word ", 400)}, nil })
		r.prompt("hello")
		for i := range 12 {
			r.turn().call(call("read_some", fmt.Sprintf(`{"n":%d}`, i)))
		}
		u := r.turn()
		before := len(read(u.Request))
		u.fail(long)
		r.turn().say("short")
		u = r.turn()
		if after := len(read(u.Request)); after > before/3 {
			t.Errorf("of %d bytes %d are left", before, after)
		}
		u.say("done")
		r.ends(1)
	})
	t.Run("summed up, in halves", func(t *testing.T) {
		r := reader(t, 0)
		r.prompt("hello")
		for i := range 4 {
			r.turn().call(call("read_fails", fmt.Sprintf(`{"n":%d}`, i)))
		}
		r.turn().fail(long)
		u := r.turn()
		all := len(u.Messages)
		u.fail(long)
		u = r.turn()
		if len(u.Messages) >= all {
			t.Errorf("%d messages are asked about after %d", len(u.Messages), all)
		}
		whole(t, u.Request)
		u.say("short")
		u = r.turn()
		if text := read(u.Request); !strings.Contains(text, "# Summary\nshort") {
			t.Errorf("it goes on with\n%.300s", text)
		}
		u.say("done")
		if reason := r.ends(1); reason != conversation.Done {
			t.Errorf("it ended with %s", reason)
		}
	})
	t.Run("nothing helps", func(t *testing.T) {
		r := reader(t, 0)
		r.prompt("hello")
		r.turn().fail(long)
		if reason := r.ends(1); reason != conversation.Failed {
			t.Errorf("it ended with %s", reason)
		}
		e := r.until("the end", func(e conversation.Event) bool { return e.Kind == conversation.RunEnd })
		if !strings.Contains(e.Text, "nothing left to take out") {
			t.Errorf("it says %q", e.Text)
		}
	})
}

// An answer that is cut off, empty or refused.
func TestOddAnswers(t *testing.T) {
	said := func(text string, stop model.Stop) model.Answer {
		a := model.Answer{Stop: stop}
		if text != "" {
			a.Blocks = []model.Block{{Kind: model.Text, Text: text}}
		}
		return a
	}
	for name, one := range map[string]struct {
		answers []model.Answer
		reason  string
		asked   int
	}{
		"refused":        {[]model.Answer{said("no", model.Refused)}, conversation.Refused, 1},
		"cut once":       {[]model.Answer{said("half", model.Length), said("whole", model.Done)}, conversation.Done, 2},
		"cut for ever":   {[]model.Answer{said("a", model.Length), said("b", model.Length), said("c", model.Length), said("d", model.Length)}, conversation.Failed, 4},
		"empty once":     {[]model.Answer{said("", model.Done), said("whole", model.Done)}, conversation.Done, 2},
		"thoughts once":  {[]model.Answer{{Stop: model.Done, Blocks: []model.Block{{Kind: model.Reasoning, Text: "hm"}}}, said("whole", model.Done)}, conversation.Done, 2},
		"spaces once":    {[]model.Answer{said(" \n", model.Done), said("whole", model.Done)}, conversation.Done, 2},
		"empty for ever": {[]model.Answer{said("", model.Done), said("", model.Done), said("", model.Done), said("", model.Done)}, conversation.Failed, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.prompt("hello")
			for _, a := range one.answers {
				u := r.turn()
				whole(t, u.Request)
				u.answer(a)
			}
			if reason := r.ends(1); reason != one.reason || len(r.requests) != one.asked {
				t.Errorf("it ended with %s after %d requests", reason, len(r.requests))
			}
		})
	}
}

// Pruning scales with the window: a small one, too, loses old results before it is
// summarized.
func TestPruneSmall(t *testing.T) {
	r := newRig(t, func(r *rig) { r.backend.Window = 32_000 })
	r.tool("read_some", func(_ context.Context, c Call) (Outcome, error) {
		return Outcome{Text: string(c.Args) + long(3_000)}, nil
	})
	r.prompt("hello")
	for n := 0; ; n++ {
		u := r.turn()
		text := read(u.Request)
		if strings.Contains(text, "about to be shortened") || n > 12 {
			t.Fatalf("a summary comes first, after %d results", n)
		}
		if strings.Contains(text, "was taken out to save room") {
			u.say("done")
			break
		}
		u.call(call("read_some", fmt.Sprintf(`{"n":%d}`, n)))
	}
	r.ends(1)
}

// A summary without words is no summary: the model is asked once more, and then the
// conversation stays as it is.
func TestCompactWithoutWords(t *testing.T) {
	for name, words := range map[string]string{"the second time": "## Task\nBlue.", "never": ""} {
		t.Run(name, func(t *testing.T) {
			r := reader(t, 36_000)
			r.prompt("make it blue")
			for i := range 3 {
				r.turn().call(call("read_fails", fmt.Sprintf(`{"n":%d}`, i)))
			}
			for _, say := range []string{"", words} {
				u := r.turn()
				if !strings.Contains(read(u.Request), "about to be shortened") || !u.NoCalls {
					t.Fatalf("it does not ask for a summary:\n%.2000s", read(u.Request))
				}
				if say == "" {
					u.call(call("read_long", `{}`))
				} else {
					u.say(say)
				}
			}
			u := r.turn()
			text := read(u.Request)
			if strings.Contains(text, "failed word") != (words == "") || strings.Contains(text, "# Summary\n## Task\nBlue.") != (words != "") {
				t.Errorf("it goes on from\n%.300s", text)
			}
			u.say("done")
			r.ends(1)
		})
	}
}
