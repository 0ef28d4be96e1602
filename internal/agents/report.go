package agents

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
)

// silence is how long nothing must have been heard of a sub-agent for that to be said.
const silence = 30 * time.Second

// maxChecks bounds how many tests and linters a report names.
const maxChecks = 10

// maxTranscript bounds what is kept of what a sub-agent said and did, in bytes; the end
// is what counts.
const maxTranscript = 1 << 20

// done collects changed files and test results for a sub-agent's report.
type done struct {
	mu      sync.Mutex
	changed []string // files
	tested  []string // what came of tests and linters, the latest last
}

// touched notes the files that a call changed.
func (d *done) touched(changes []dispatch.ChangeRef) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range changes {
		if !slices.Contains(d.changed, c.Path) {
			d.changed = append(d.changed, c.Path)
		}
	}
}

// checked notes what came of a test or a linter.
func (d *done) checked(res *dispatch.Result) {
	if res.Tool != "run_tests" && res.Tool != "run_lint" {
		return
	}
	text := res.Tool + " passed"
	if !res.OK {
		first, _, _ := strings.Cut(res.Content, "\n")
		text = res.Tool + " failed: " + first
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tested = append(d.tested, text); len(d.tested) > maxChecks {
		d.tested = d.tested[1:]
	}
}

// soFar returns the files that were changed, and the tests and linters that ran last.
func (d *done) soFar() (files, checks []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.changed...), d.tested
}

// transcript keeps all that a sub-agent said and did for its caller, and returns its
// cursor; "" where that can't be.
func (a *subAgents) transcript(k *child) string {
	var b strings.Builder
	for since := int64(0); ; {
		events, next, err := k.run.History(since, 0, 0)
		if err != nil || len(events) == 0 {
			break
		}
		for _, e := range events {
			switch {
			case e.Kind == conversation.Text && e.Text != "":
				fmt.Fprintf(&b, "%s: %s\n\n", e.Role, e.Text)
			case e.Kind == conversation.CallOutput && e.Text != "":
				fmt.Fprintf(&b, "%s\n", e.Text)
			case e.Kind == conversation.CallFinished && e.Call != nil:
				fmt.Fprintf(&b, "[%s %s] %s\n\n", e.Call.Tool, e.Call.Outcome, e.Call.Title)
			}
		}
		if next <= since {
			break
		}
		since = next
	}
	text := b.String()
	if text == "" {
		return ""
	}
	if len(text) > maxTranscript {
		text = strings.ToValidUTF8(text[len(text)-maxTranscript:], "")
	}
	cursor, err := a.m.o.Gate().Keep(k.parent, text)
	if err != nil {
		return "" // its caller has gone
	}
	return cursor
}
