package index_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// TestHistory: commits that are like a question speak for what they changed,
// as soon as they are known. Nothing else tells the two files apart.
func TestHistory(t *testing.T) {
	for _, changed := range []string{"a/queue.go", "b/queue.go"} {
		p := newProject(t, map[string]string{
			"a/queue.go": "package a\n\n// Push adds a job.\nfunc Push() { lock() }\n",
			"b/queue.go": "package b\n\n// Push adds a job.\nfunc Push() { lock() }\n",
		})
		commits := []history.Commit{history.New(1, "Deadlocks at shutdown are gone", []string{changed}, terms.Stops())}
		var calls atomic.Int32
		told := make(chan struct{}, 1)
		o := p.options()
		o.History = func(context.Context) ([]history.Commit, bool, error) { return commits, calls.Add(1) == 1, nil }
		o.Told = func() {
			select {
			case told <- struct{}{}:
			default:
			}
		}
		x := index.New(o)
		t.Cleanup(func() { x.Close() })
		x.Start()
		deadline := time.After(time.Minute)
		for x.Status().Commits == 0 {
			select {
			case <-told:
			case <-deadline:
				t.Fatal("the commits are never known")
			}
		}
		fork := x.Fork(o.Files, nil)
		t.Cleanup(func() { fork.Close() })
		for _, p.Index = range []*index.Index{x, fork} {
			if a := p.ask(index.Query{Text: "pushing a job deadlocks after shutdown", MaxFiles: 5}); len(a.Files) < 2 || a.Files[0].Path != changed {
				t.Errorf("%s should come first: %v", changed, a.Files)
			}
		}
	}
}

// TestNoHistory: commits that can't be read are a problem that is told, and
// answers go without.
func TestNoHistory(t *testing.T) {
	p := newProject(t, sample)
	problems := make(chan error, 100)
	o := p.options()
	o.History = func(context.Context) ([]history.Commit, bool, error) { return nil, false, errors.New("no repository") }
	o.Problem = func(err error) { problems <- err }
	x := index.New(o)
	t.Cleanup(func() { x.Close() })
	p.Index = x
	if got := names(p.ask(index.Query{Text: "retry backoff"}).Hits); !strings.Contains(got, "Backoff") {
		t.Errorf("the answer is %q", got)
	}
	if err := <-problems; !strings.Contains(err.Error(), "no repository") {
		t.Error(err)
	}
}
