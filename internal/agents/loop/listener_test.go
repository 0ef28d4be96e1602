package loop

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// TestStopping: who hears of the end of a turn may have the agent go on, three times.
func TestStopping(t *testing.T) {
	r := newRig(t)
	var heard []string
	r.stopping = func(last string, again bool) string {
		heard = append(heard, fmt.Sprint(last, " ", again))
		return "not yet: run the tests"
	}
	r.prompt("work")
	for i := range maxHeld + 1 {
		u := r.turn()
		if told := strings.Count(read(u.Request), "not yet: run the tests"); told != i {
			t.Fatalf("before answer %d the model is told %d times", i, told)
		}
		u.say(fmt.Sprint("done ", i))
	}
	if reason := r.ends(1); reason != conversation.Done {
		t.Errorf("it ends with %s", reason)
	}
	if got := strings.Join(heard, "; "); got != "done 0 false; done 1 true; done 2 true" {
		t.Errorf("heard %s", got)
	}

	// The control.
	r.stopping = func(string, bool) string { return "" }
	r.prompt("again")
	r.turn().say("done")
	r.ends(2)
}

// TestShortening: who hears that a conversation is about to be made shorter may hold that
// back; by itself it goes on as it is.
func TestShortening(t *testing.T) {
	r := newRig(t)
	for i := range 6 {
		r.prompt(strings.Repeat("words ", 2000))
		r.turn().say("heard")
		r.ends(i + 1)
	}
	var heard []bool
	r.shortening = func(itself bool) error {
		heard = append(heard, itself)
		return errors.New("a hook says no")
	}
	if err := r.agent.Compact(t.Context(), "a summary"); err == nil || err.Error() != "a hook says no" || len(heard) != 1 || heard[0] {
		t.Errorf("held back: %v, heard %v", err, heard)
	}
	r.shortening = nil
	if err := r.agent.Compact(t.Context(), "a summary"); err != nil {
		t.Errorf("the control: %v", err)
	}
}
