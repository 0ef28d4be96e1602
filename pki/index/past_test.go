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
		o.History = func(context.Context) ([]history.Commit, bool, bool, error) {
			return commits, calls.Add(1) == 1, false, nil
		}
		o.Report.Changed = func() {
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

// TestHistoryOfUnits: of two functions of one file, alike in words, the one comes
// first that commits like the question changed, once it is known what they
// touched, which the source of commits says later.
func TestHistoryOfUnits(t *testing.T) {
	for _, changed := range []string{"PushFront", "PushBack"} {
		p := newProject(t, map[string]string{
			"queue.go": "package queue\n\n// PushFront adds a job.\nfunc PushFront() { lock() }\n\n// PushBack adds a job.\nfunc PushBack() { lock() }\n",
		})
		commit := history.New(1, "Deadlocks at shutdown are gone", []string{"queue.go"}, terms.Stops())
		later := commit
		later.Units = [][]history.Name{{history.NameOf("", changed)}}
		var calls atomic.Int32
		read := make(chan struct{})
		o := p.options()
		o.History = func(context.Context) ([]history.Commit, bool, bool, error) {
			switch calls.Add(1) {
			case 1:
				return []history.Commit{commit}, true, true, nil
			case 2:
				return []history.Commit{later}, true, false, nil
			case 3:
				close(read)
			}
			return nil, false, false, nil
		}
		x := index.New(o)
		t.Cleanup(func() { x.Close() })
		p.Index = x
		q := index.Query{Text: "pushing a job deadlocks after shutdown", MaxHits: 5}
		p.ask(q)
		for calls.Load() < 3 { // each question asks for another look
			p.ask(q)
		}
		<-read
		if a := p.ask(q); len(a.Hits) < 2 || a.Hits[0].Name != changed {
			t.Errorf("%s should come first: %v", changed, names(a.Hits))
		}
	}
}

// TestNoHistory: commits that can't be read are a problem that is told, and
// answers go without.
func TestNoHistory(t *testing.T) {
	p := newProject(t, sample)
	problems := make(chan error, 100)
	o := p.options()
	o.History = func(context.Context) ([]history.Commit, bool, bool, error) {
		return nil, false, false, errors.New("no repository")
	}
	o.Report.Problem = func(err error) { problems <- err }
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
