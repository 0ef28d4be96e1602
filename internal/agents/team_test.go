package agents

import (
	"context"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// deaf is the driver of an agent that takes its time to stop.
type deaf struct{ end chan struct{} }

func (d deaf) Prompt(context.Context, []conversation.Item) (string, error) { <-d.end; return "", nil }
func (d deaf) Steer(context.Context, conversation.Item) error              { return conversation.ErrNoSteer }
func (d deaf) Cancel(context.Context) error                                { return nil }
func (d deaf) Close() error                                                { return nil }

// TestHalt: many take no longer to be stopped than one.
func TestHalt(t *testing.T) {
	store, err := conversation.Open(conversation.Options{Dir: t.TempDir(), MaxOpen: 64})
	if err != nil {
		t.Fatal(err)
	}
	d := deaf{make(chan struct{})}
	defer store.Close()
	defer close(d.end)
	var all []*child
	for range 50 {
		run, err := store.Start(conversation.Spec{Agent: Builtin})
		if err != nil {
			t.Fatal(err)
		}
		run.Attach(d)
		if _, err := run.Prompt(conversation.Item{Text: "work"}, conversation.Queue); err != nil {
			t.Fatal(err)
		}
		all = append(all, &child{run: run})
	}
	begun := time.Now()
	halt(all)
	if took := time.Since(begun); took > time.Second { // one after the other they take 2.5 s
		t.Errorf("50 are stopped in %v", took)
	}
	for _, k := range all {
		if state := k.run.Info().State; state != conversation.Idle {
			t.Errorf("one is %s", state)
		}
	}
}
