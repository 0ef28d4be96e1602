package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestTampering changes things at random while a person looks at a question:
// what is done is what was shown, or nothing.
func TestTampering(t *testing.T) {
	const tries = 10_000
	r := newRig(t, "cautious")
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%08x", rnd.Uint32()) }
	hashes := map[string]string{}
	shown := func(a Ask) string {
		what := a.Tool + string(a.Arguments) + a.Diff
		if old, ok := hashes[a.Hash]; ok && old != what {
			t.Errorf("two questions have one hash: %s and %s", old, what)
		}
		hashes[a.Hash] = what
		return what
	}
	held, controls := 0, 0
	for range tries {
		r.live.mu.Lock()
		r.live.files["a.txt"] = "one\n"
		r.live.mu.Unlock()
		text, other := word(), word()
		line := fmt.Sprintf(`{"line":%q}`, text)
		edit := fmt.Sprintf(`{"path":"a.txt","text":%q}`, text)
		args := []byte(line)
		tool, ran := "sh", r.ran.Load()
		call := func(args []byte, answer func(a Ask) Answer) *Result {
			r.person.answer = func(a Ask) (Answer, error) { shown(a); return answer(a), nil }
			res, err := r.Call(context.Background(), Request{Name: tool, Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		yes := func(Ask) Answer { return Answer{Allow: true, Scope: Once} }
		ok := false
		switch rnd.IntN(8) {
		case 0: // nobody tampers
			res := call(args, yes)
			if res.OK && res.Content == "ran "+text {
				controls++
			}
			continue
		case 1: // the file becomes another one
			tool = "put"
			res := call([]byte(edit), func(Ask) Answer {
				r.live.mu.Lock()
				r.live.files["a.txt"] = other
				r.live.mu.Unlock()
				return Answer{Allow: true}
			})
			ok = !res.OK && r.live.text("a.txt") == other
		case 2: // the caller changes the bytes of its request
			res := call(args, func(Ask) Answer {
				copy(args[len(`{"line":"`):], other)
				return Answer{Allow: true}
			})
			ok = res.Content == "ran "+text
		case 3: // who asks changes the question
			tool = "put"
			res := call([]byte(edit), func(a Ask) Answer {
				copy(a.Arguments, `{"path":"b.txt","text":"evil evil"}`)
				for i := range a.Effects.Writes {
					a.Effects.Writes[i] = "b.txt"
				}
				return Answer{Allow: true}
			})
			ok = res.OK && r.live.text("a.txt") == "one\n"+text && r.live.text("b.txt") == ""
		case 4: // the wrong word for what can't be undone
			res := call([]byte(`{"line":"destroy"}`), func(Ask) Answer {
				return Answer{Allow: true, Typed: []string{"", "confirm", "CONFIRM ", "yes", other}[rnd.IntN(5)]}
			})
			ok = code(res) == tools.NotApproved && r.ran.Load() == ran
		case 5: // an answer for once is used again
			call(args, yes)
			ran = r.ran.Load()
			res := call(args, func(Ask) Answer { return Answer{} })
			ok = code(res) == tools.NotApproved && r.ran.Load() == ran
		case 6: // an answer for the session, and another command
			tool = "shell"
			call(fmt.Appendf(nil, `{"command":"make %s"}`, text), func(Ask) Answer { return Answer{Allow: true, Scope: ForSession} })
			ran = r.ran.Load()
			lines := []string{"make " + other, "make " + text + " " + other, "make " + text + "; evil", "make " + text + " > " + other, "X=" + other + " make " + text, "sudo make " + text, "make \"" + text + "$(evil)\""}
			data, _ := json.Marshal(map[string]string{"command": lines[rnd.IntN(len(lines))]})
			res := call(data, func(Ask) Answer { return Answer{} })
			ok = code(res) == tools.NotApproved && r.ran.Load() == ran
		case 7: // the caller has gone
			ctx, cancel := context.WithCancel(context.Background())
			r.person.answer = func(a Ask) (Answer, error) { shown(a); cancel(); return Answer{Allow: true}, nil }
			_, err := r.Call(ctx, Request{Name: tool, Arguments: args})
			ok = err != nil && r.ran.Load() == ran
			cancel()
		}
		if ok {
			held++
		} else {
			t.Fatalf("%s %s was done as it was not shown", tool, text)
		}
	}
	t.Logf("%d of %d held, %d controls", held, tries-controls, controls)
	if controls < tries/16 {
		t.Errorf("only %d controls", controls)
	}
}
