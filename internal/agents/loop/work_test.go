package loop

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// What the agent has set out to do survives a restart, is rewound and forked with what
// was said, and stays in a summary.
func TestWork(t *testing.T) {
	r := reader(t, 36_000)
	todo := func(text string) json.RawMessage {
		return json.RawMessage(`{"todos":[{"text":"` + text + `","state":"pending"}]}`)
	}
	if r.agent.Work() != nil {
		t.Error("there is something before anything is kept")
	}
	r.prompt("one")
	r.turn().say("did one")
	r.ends(1)
	r.must(r.agent.KeepWork(todo("blue")))
	after := r.events()[len(r.events())-1].Seq
	r.prompt("two")
	r.turn().say("did two")
	r.ends(2)
	r.must(r.agent.KeepWork(todo("red")))
	r.restart()
	if got := string(r.agent.Work()); got != string(todo("red")) {
		t.Errorf("after a restart it is %s", got)
	}
	fork := filepath.Join(r.dir, "fork.jsonl")
	prompt := PlaceAfter(r.events(), after)
	r.must(r.agent.Fork(fork, prompt))
	_, items, err := openJournal(fork, r.agent.o.Now)
	r.must(err)
	if got := string(newTranscript(items).work); got != string(todo("blue")) {
		t.Errorf("a fork has %s", got)
	}
	_, err = r.agent.Rewind(prompt)
	r.must(err)
	if got := string(r.agent.Work()); got != string(todo("blue")) {
		t.Errorf("after a rewind it is %s", got)
	}
	r.prompt("three")
	for range 3 {
		r.turn().call(call("read_fails", `{}`))
	}
	u := r.turn()
	if !strings.Contains(read(u.Request), "about to be shortened") {
		t.Fatal("it does not ask for a summary")
	}
	u.say("## Task\nBlue.")
	u = r.turn()
	if text := read(u.Request); !strings.Contains(text, "# What is to do\n1. [ ] blue\n") {
		t.Errorf("the summary says\n%s", text)
	}
	u.say("done")
	r.ends(3)
}

// What is said of planning is said where it holds.
func TestInstructionsOfPlans(t *testing.T) {
	for _, one := range []struct {
		f          Facts
		plans, sub bool
	}{
		{Facts{Mode: "review"}, false, false},
		{Facts{Mode: "plan", Plans: true}, true, false},
		{Facts{Mode: "plan", Plans: true, Task: "look"}, false, true},
	} {
		one.f.Tools = []Tool{{Name: "propose_plan"}, {Name: "write_todos"}}
		text := Instructions(one.f)
		if strings.Contains(text, "propose_plan") != one.plans || strings.Contains(text, "say what you would do.") != one.sub || strings.Contains(text, "\n\n- ") || !strings.Contains(text, "write_todos") {
			t.Errorf("%+v: %s", one.f, text)
		}
	}
}
