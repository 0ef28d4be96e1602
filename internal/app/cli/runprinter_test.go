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
