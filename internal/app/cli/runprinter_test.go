package cli

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// TestSaidOnce: a reason that comes again with each attempt, and once more at the end, is
// printed once. Control: another reason, and an end that was not told before.
func TestSaidOnce(t *testing.T) {
	for _, c := range []struct {
		notes      []string
		why        string
		shown, end string
	}{
		{[]string{"no network", "no network"}, "no network", "· no network\n· the same again\n", "the agent stopped: failed, as above"},
		{[]string{"no network", "busy"}, "no key", "· no network\n· busy\n", "the agent stopped: failed: no key"},
		{nil, "no key", "", "the agent stopped: failed: no key"},
		{nil, "", "", "the agent stopped: failed"},
	} {
		var shown strings.Builder
		p := &runPrinter{c: &cli{Streams: Streams{Err: &shown}}}
		for _, text := range c.notes {
			p.event(&conversation.Event{Kind: conversation.Note, Text: text})
		}
		p.event(&conversation.Event{Kind: conversation.RunEnd, Reason: "failed", Text: c.why})
		if err := p.end(); err.Error() != c.end || shown.String() != c.shown {
			t.Errorf("%q, %q: %v, shown %q", c.notes, c.why, err, shown.String())
		}
	}
}

// TestFailedCall: a call that fails says why, with the last lines of its output. Controls: one
// that works, and one that puts nothing out.
func TestFailedCall(t *testing.T) {
	var shown strings.Builder
	p := &runPrinter{c: &cli{Streams: Streams{Err: &shown}}}
	call := func(id, outcome string, outputs ...conversation.Event) {
		for _, e := range outputs {
			e.Kind, e.Call = conversation.CallOutput, &conversation.Call{ID: id}
			p.event(&e)
		}
		p.event(&conversation.Event{Kind: conversation.CallFinished, Call: &conversation.Call{ID: id, Title: "Edit " + id, Outcome: outcome}})
	}
	call("a", "failed", conversation.Event{Delta: "one\ntwo\nthr"}, conversation.Event{Delta: "ee\n\n"}, conversation.Event{Delta: "the file \x1b[2J was not read"})
	call("b", "completed", conversation.Event{Text: "fine"})
	call("c", "failed")
	call("d", "failed", conversation.Event{Delta: "gone"}, conversation.Event{Text: strings.Repeat("y", 5000)})
	want := "· Edit a (failed)\n    two\n    three\n    the file <U+001B>[2J was not read\n· Edit b (completed)\n· Edit c (failed)\n· Edit d (failed)\n    " + strings.Repeat("y", 200) + "\n"
	if got := shown.String(); got != want || len(p.outputs) > 0 {
		t.Errorf("%q\nwant %q", got, want)
	}
}
