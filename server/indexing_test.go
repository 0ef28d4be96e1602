package server

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

// fakeIndex is a project index that is as far as the test says.
type fakeIndex struct {
	mu  sync.Mutex
	now commands.KnowledgeStatus
}

func (f *fakeIndex) Status() (commands.KnowledgeStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now, nil
}

func (f *fakeIndex) Rebuild() error { return nil }

func (f *fakeIndex) set(w *world, now commands.KnowledgeStatus) {
	f.mu.Lock()
	f.now = now
	f.mu.Unlock()
	w.indexed()
}

// TestIndexing: building the index is progress that can't be cancelled, and
// every change of it a notification for clients that know it.
func TestIndexing(t *testing.T) {
	x := &fakeIndex{}
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Knowledge = true
	w := newWorld(t, setup{capabilities: can, knowledge: x})
	progress := func(r *fakeeditor.Record) (all []lsp.WorkDoneProgress) {
		for _, p := range r.Progress {
			all = append(all, p...)
		}
		return all
	}
	x.set(w, commands.KnowledgeStatus{Files: 7, Symbols: 3, Looked: 9})
	w.await("progress", func(r *fakeeditor.Record) bool {
		p := progress(r)
		return len(p) >= 2 && p[0].Title == "Indexing the project" && !p[0].Cancellable && p[1].Message == "9 files, 3 symbols"
	})
	x.set(w, commands.KnowledgeStatus{Files: 20, Symbols: 8, Ready: true, Parsed: 1, Parseable: 20})
	w.await("the end of the progress", func(r *fakeeditor.Record) bool {
		p := progress(r)
		return p[len(p)-1].Kind == lsp.ProgressEnd
	})
	w.await("the notification", func(r *fakeeditor.Record) bool {
		told := false
		for _, m := range r.Notifications {
			var s commands.KnowledgeStatus
			told = told || m.Method == "sidecar/knowledge" && json.Unmarshal(m.Params, &s) == nil && s.Ready && s.Parsed == 1 && s.Parseable == 20
		}
		return told
	})
}

// TestIndexingUnasked: who does not know the notification gets none, and an
// index that is soon there shows no progress.
func TestIndexingUnasked(t *testing.T) {
	x := &fakeIndex{}
	w := newWorld(t, setup{knowledge: x})
	x.set(w, commands.KnowledgeStatus{Files: 7})
	x.set(w, commands.KnowledgeStatus{Files: 7, Ready: true})
	w.must(w.ExecuteCommand(w.ctx, "sidecar.knowledge.status", nil, nil))
	for _, m := range w.Record().Notifications {
		if m.Method == "sidecar/knowledge" || m.Method == "$/progress" {
			t.Errorf("%s: %s", m.Method, m.Params)
		}
	}
}
