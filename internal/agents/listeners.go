package agents

import (
	"context"
	"slices"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// listeners receive the events of all runs.
type listeners struct {
	mu        sync.Mutex
	all       []*listener
	following sync.WaitGroup
}

type listener struct{ f func(conversation.Event) }

func (l *listeners) add(f func(conversation.Event)) (cancel func()) {
	one := &listener{f}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(slices.Clone(l.all), one)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(slices.Clone(l.all), func(have *listener) bool { return have == one })
	}
}

// follow hands the events of a run after since to the listeners, until ctx ends.
func (l *listeners) follow(ctx context.Context, run *conversation.Run, since int64) {
	events := run.Subscribe(since)
	l.following.Go(func() {
		for {
			e, err := events.Next(ctx)
			if err != nil {
				return
			}
			l.mu.Lock()
			all := l.all
			l.mu.Unlock()
			for _, one := range all {
				one.f(e)
			}
		}
	})
}
