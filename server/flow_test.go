package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/server/review"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// destinations are those of the main tree.
type destinations struct{ w *world }

func (d destinations) Live() workspace.View { return d.w.live }
func (d destinations) Applied(by workspace.Author) workspace.View {
	return d.w.store.Recorded(pendingedits.Proposer{Session: by.Session, Tool: by.Tool}, d.w.live)
}
func (d destinations) Pending(by workspace.Author, batch bool) workspace.View {
	return d.w.store.For(pendingedits.Proposer{Session: by.Session, Tool: by.Tool, Batch: batch})
}

// Testing has nobody to tell.
func (d destinations) Testing(context.Context) func(tools.Report) { return nil }

func (d destinations) QueueCommit(ctx context.Context, session, message string, models []string, _ string) (int, error) {
	return d.w.store.QueueCommit(ctx, pendingedits.Proposer{Session: session, Batch: true}, message, models, false, nil)
}
func (d destinations) HoldCommit(context.Context, string, workspace.Commit, []string) (bool, error) {
	return true, nil
}
func (d destinations) ToDisk(context.Context) error { return nil }
func (d destinations) PendingCount() int            { return len(d.w.store.List("").Edits) }

type replaceIn struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// withDispatcher gives a world a real dispatcher with one tool that edits.
func withDispatcher(t *testing.T, files map[string]string) *world {
	w := newWorld(t, setup{files: files})
	replace := tools.NewEdit(tools.Def{Name: "replace_text", Title: "Replace text", Description: "Replaces text.", Category: "files"},
		func(_ context.Context, c *tools.Call, in replaceIn) (tools.Result, []workspace.Change, error) {
			data, err := c.Files.ReadFile(in.Path)
			if err != nil {
				return tools.Result{}, nil, err
			}
			after := strings.Replace(string(data), in.Old, in.New, 1)
			return tools.Result{Text: "replaced"}, []workspace.Change{{Path: in.Path, Before: data, After: []byte(after)}}, nil
		})
	registry := tools.NewRegistry(tools.RegistryOptions{})
	if err := registry.Register(tools.Builtin, replace); err != nil {
		t.Fatal(err)
	}
	d := dispatch.New(dispatch.Options{
		Registry: registry, Sessions: w.server.current().Sessions, Approver: w.approver,
		Views: func(*session.Session) dispatch.Destinations { return destinations{w} },
	})
	w.tools.call = d.Call
	return w
}

func (w *world) replace(name, old, new string) lsp.ExecuteCommandParams {
	p, err := fakeeditor.Command("sidecar.tools.call", object{"name": "replace_text", "arguments": replaceIn{name, old, new}})
	w.must(err)
	return p
}

// One call through everything: asked with the diff, allowed, applied to the
// open document, in one step of undo.
func TestEditThroughTheDispatcher(t *testing.T) {
	w := withDispatcher(t, map[string]string{"a.txt": "on disk\n"})
	uri := w.open("a.txt", "one\ntwo\n")
	asked := make(chan string, 1)
	w.Answer("window/showMessageRequest", func(_ context.Context, params json.RawMessage) (any, error) {
		asked <- string(params)
		return lsp.MessageActionItem{Title: "Allow"}, nil
	})
	var r dispatch.Result
	w.must(w.Call(w.ctx, "workspace/executeCommand", w.replace("a.txt", "two", "zwei"), &r))
	if !r.OK || len(r.Changes) != 1 || r.Changes[0].State != "applied" || r.Decision.By != "user" {
		t.Fatalf("result %+v %+v", r, r.Error)
	}
	if q := take(w, asked); !strings.Contains(q, `-two\n+zwei\n`) {
		t.Errorf("asked without the diff: %s", q)
	}
	if got := w.text(uri); got != "one\nzwei\n" || w.disk("a.txt") != "on disk\n" {
		t.Errorf("buffer %q, disk %q", got, w.disk("a.txt"))
	}
	if n := len(w.Record().Edits); n != 1 {
		t.Errorf("%d edits", n)
	}

	run[commands.ModeResult](w, "sidecar.mode.set", object{"mode": "review"})
	r = dispatch.Result{}
	w.must(w.Call(w.ctx, "workspace/executeCommand", w.replace("a.txt", "one", "eins"), &r))
	if !r.OK || len(r.Changes) != 1 || r.Changes[0].State != "pending" || w.text(uri) != "one\nzwei\n" {
		t.Fatalf("result %+v %+v, buffer %q", r, r.Error, w.text(uri))
	}
	w.diagnostics("the pending edit", uri, "(replace_text): eins")
	run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if got := w.text(uri); got != "eins\nzwei\n" {
		t.Errorf("buffer %q", got)
	}
}

// More calls wait for a person than requests may run at once: the command that
// answers them still gets through.
func TestManyOpenApprovals(t *testing.T) {
	slow.Test(t)
	const n = 300
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("%d.txt", i)] = "old\n"
	}
	w := withDispatcher(t, files)
	w.Lacks("window/showMessageRequest")
	var calls []*lsp.Pending
	for i := range n {
		p, err := w.Start(w.ctx, "workspace/executeCommand", w.replace(fmt.Sprintf("%d.txt", i), "old", "new"))
		w.must(err)
		calls = append(calls, p)
	}
	w.await("all questions", func(r *fakeeditor.Record) bool { return r.Count("window/showMessage") == n })
	for range n {
		run[object](w, "sidecar.approval.allowOldest", nil)
	}
	for i, p := range calls {
		var r dispatch.Result
		w.must(p.Wait(w.ctx, &r))
		if !r.OK {
			t.Fatalf("call %d: %+v", i, r.Error)
		}
		if got := w.disk(fmt.Sprintf("%d.txt", i)); got != "new\n" {
			t.Fatalf("file %d: %q", i, got)
		}
	}
}
