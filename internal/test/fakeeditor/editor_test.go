package fakeeditor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// server is a small one whose commands do to the editor what they are told. It
// follows the documents as a real one does.
type server struct {
	conn *lsp.Conn
	enc  lsp.Encoding
	docs map[lsp.URI]*lsp.Document
}

func (s *server) Notification(ctx context.Context, method string, params json.RawMessage) {
	switch method {
	case "textDocument/didOpen":
		var p lsp.DidOpenTextDocumentParams
		if lsp.Params(params, &p) == nil {
			s.docs[p.TextDocument.URI] = lsp.NewDocument(p.TextDocument.Text)
		}
	case "textDocument/didChange":
		var p lsp.DidChangeTextDocumentParams
		if lsp.Params(params, &p) != nil {
			return
		}
		doc := s.docs[p.TextDocument.URI]
		for _, c := range p.ContentChanges {
			doc = doc.Change(c, s.enc)
		}
		s.docs[p.TextDocument.URI] = doc
	case "textDocument/didClose":
		var p lsp.DidCloseTextDocumentParams
		if lsp.Params(params, &p) == nil {
			delete(s.docs, p.TextDocument.URI)
		}
	default:
		return
	}
	texts := map[lsp.URI]string{}
	for uri, doc := range s.docs {
		texts[uri] = doc.Text()
	}
	_ = s.conn.Notify(ctx, "test/texts", texts)
}

func (s *server) Request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "initialize":
		var p lsp.InitializeParams
		if err := lsp.Params(params, &p); err != nil {
			return nil, err
		}
		s.enc = lsp.ChooseEncoding(p.Capabilities.General.PositionEncodings)
		return lsp.InitializeResult{Capabilities: lsp.ServerCapabilities{PositionEncoding: s.enc}}, nil
	case "shutdown":
		return nil, nil
	case "workspace/executeCommand":
		var p lsp.ExecuteCommandParams
		if err := lsp.Params(params, &p); err != nil {
			return nil, err
		}
		var result json.RawMessage
		switch p.Command {
		case "wait":
			<-ctx.Done()
			return nil, ctx.Err()
		case "progress":
			for _, kind := range []string{lsp.ProgressBegin, lsp.ProgressReport, lsp.ProgressEnd} {
				value := lsp.WorkDoneProgress{Kind: kind, Message: kind}
				if err := s.conn.Notify(ctx, "$/progress", lsp.ProgressParams{Token: p.WorkDoneToken, Value: value}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}
		err := s.conn.Call(ctx, p.Command, p.Arguments[0], &result)
		return result, err
	}
	return nil, lsp.Errorf(lsp.MethodNotFound, "unknown method %q", method)
}

func start(t *testing.T, opts fakeeditor.Options) *fakeeditor.Editor {
	t.Helper()
	e := fakeeditor.Serve(func(in io.Reader, out io.Writer) error {
		s := &server{docs: map[lsp.URI]*lsp.Document{}}
		s.conn = lsp.NewConn(in, out, s, lsp.Options{})
		return s.conn.Run(context.Background())
	}, opts)
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func write(t *testing.T, path, text string) lsp.URI {
	t.Helper()
	if err := ownfile.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return fakeeditor.FileURI(path)
}

func rng(l1, c1, l2, c2 uint32) lsp.Range {
	return lsp.Range{Start: lsp.Position{Line: l1, Character: c1}, End: lsp.Position{Line: l2, Character: c2}}
}

// awaitTexts waits until the server has the same texts as the editor.
func awaitTexts(t *testing.T, e *fakeeditor.Editor, want map[lsp.URI]string) {
	t.Helper()
	var got map[lsp.URI]string
	err := e.Await(t.Context(), "the server's texts", func(r *fakeeditor.Record) bool {
		for i := len(r.Notifications) - 1; i >= 0; i-- {
			if m := r.Notifications[i]; m.Method == "test/texts" {
				got = nil
				return lsp.Unmarshal(m.Params, &got) == nil && cmp.Equal(got, want)
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("%v; it has %q", err, got)
	}
}

func TestBuffers(t *testing.T) {
	for _, enc := range []lsp.Encoding{lsp.UTF8, lsp.UTF16, lsp.UTF32} {
		t.Run(string(enc), func(t *testing.T) {
			caps := fakeeditor.Usual()
			caps.General.PositionEncodings = []lsp.Encoding{enc}
			e := start(t, fakeeditor.Options{Capabilities: caps})
			if e.Encoding() != enc {
				t.Fatalf("encoding %s", e.Encoding())
			}
			path := filepath.Join(t.TempDir(), "a b#.txt")
			uri := write(t, path, "one 😀\r\ntwo\n")
			if _, err := e.OpenFile(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			end := lsp.PositionAt("one 😀\r\ntwo\n", len("one 😀"), enc)
			insert := lsp.Range{Start: end, End: end}
			if err := e.Change(t.Context(), uri, lsp.ContentChange{Range: &insert, Text: "!"}, lsp.ContentChange{Range: &lsp.Range{}, Text: "> "}); err != nil {
				t.Fatal(err)
			}
			awaitTexts(t, e, map[lsp.URI]string{uri: "> one 😀!\r\ntwo\n"})
			if err := e.Save(t.Context(), uri); err != nil {
				t.Fatal(err)
			}
			if data, _ := os.ReadFile(path); string(data) != "> one 😀!\r\ntwo\n" {
				t.Errorf("saved %q", data)
			}
			if err := e.Close(t.Context(), uri); err != nil {
				t.Fatal(err)
			}
			awaitTexts(t, e, map[lsp.URI]string{})
		})
	}
}

func TestApplyEdit(t *testing.T) {
	version := func(n int32) *int32 { return &n }
	edit := func(uri lsp.URI, v *int32, edits ...lsp.TextEdit) lsp.DocumentChange {
		return lsp.DocumentChange{TextDocumentEdit: &lsp.TextDocumentEdit{
			TextDocument: lsp.OptionalVersionedTextDocumentIdentifier{URI: uri, Version: v}, Edits: edits,
		}}
	}
	top := lsp.TextEdit{NewText: "top\n"}
	for _, test := range []struct {
		name   string
		steps  func(open, disk, none lsp.URI) []lsp.DocumentChange
		want   string // of the open buffer
		reason string
	}{
		{"an open document", func(open, _, _ lsp.URI) []lsp.DocumentChange {
			return []lsp.DocumentChange{edit(open, version(1), top, lsp.TextEdit{Range: rng(1, 0, 2, 0)}, lsp.TextEdit{NewText: "second\n"})}
		}, "top\nsecond\none\n", ""},
		{"a version that is gone", func(open, _, _ lsp.URI) []lsp.DocumentChange {
			return []lsp.DocumentChange{edit(open, version(7), top)}
		}, "one\ntwo\n", "is not at version 7"},
		{"all or none", func(open, _, none lsp.URI) []lsp.DocumentChange {
			return []lsp.DocumentChange{edit(open, nil, top), edit(none, nil, top)}
		}, "one\ntwo\n", "does not exist"},
		{"create and fill", func(_, _, none lsp.URI) []lsp.DocumentChange {
			return []lsp.DocumentChange{{CreateFile: &lsp.CreateFile{URI: none}}, edit(none, nil, top)}
		}, "one\ntwo\n", ""},
		{"create what is there", func(_, disk, _ lsp.URI) []lsp.DocumentChange {
			return []lsp.DocumentChange{{CreateFile: &lsp.CreateFile{URI: disk}}}
		}, "one\ntwo\n", "exists"},
		{"rename and edit", func(_, disk, none lsp.URI) []lsp.DocumentChange {
			return []lsp.DocumentChange{{RenameFile: &lsp.RenameFile{OldURI: disk, NewURI: none}}, edit(none, nil, top)}
		}, "one\ntwo\n", ""},
		{"delete", func(_, disk, _ lsp.URI) []lsp.DocumentChange {
			return []lsp.DocumentChange{{DeleteFile: &lsp.DeleteFile{URI: disk}}}
		}, "one\ntwo\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			e := start(t, fakeeditor.Options{Root: dir})
			open := write(t, filepath.Join(dir, "open"), "one\ntwo\n")
			disk := write(t, filepath.Join(dir, "disk"), "disk\n")
			none := fakeeditor.FileURI(filepath.Join(dir, "sub", "none"))
			if err := e.Open(t.Context(), open, "text", "one\ntwo\n"); err != nil {
				t.Fatal(err)
			}
			params := lsp.ApplyWorkspaceEditParams{Edit: lsp.WorkspaceEdit{DocumentChanges: test.steps(open, disk, none)}}
			var raw json.RawMessage
			if err := e.ExecuteCommand(t.Context(), "workspace/applyEdit", wireForm(t, params), &raw); err != nil {
				t.Fatal(err)
			}
			var result lsp.ApplyWorkspaceEditResult
			if err := lsp.Unmarshal(raw, &result); err != nil {
				t.Fatal(err)
			}
			if result.Applied != (test.reason == "") || !strings.Contains(result.FailureReason, test.reason) {
				t.Errorf("result %+v, want reason %q", result, test.reason)
			}
			got, _ := e.Text(open)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("buffer (-want +got):\n%s", diff)
			}
			want := map[lsp.URI]string{open: test.want}
			if text, ok := e.Text(none); ok {
				want[none] = text
				if !strings.HasPrefix(text, "top\n") {
					t.Errorf("the new file is %q", text)
				}
			}
			awaitTexts(t, e, want)
		})
	}
}

// wireForm encodes as the protocol has it, unions and all.
func wireForm(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRefuseEdits(t *testing.T) {
	e := start(t, fakeeditor.Options{})
	e.RefuseEdits("not today")
	var got lsp.ApplyWorkspaceEditResult
	if err := e.ExecuteCommand(t.Context(), "workspace/applyEdit", lsp.ApplyWorkspaceEditParams{}, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lsp.ApplyWorkspaceEditResult{FailureReason: "not today"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(e.Record().Edits); n != 1 {
		t.Errorf("%d edits recorded", n)
	}
}

func TestAnswers(t *testing.T) {
	question := lsp.ShowMessageRequestParams{Message: "?", Actions: []lsp.MessageActionItem{{Title: "Allow"}, {Title: "Deny"}}}
	for _, test := range []struct {
		name   string
		script func(*fakeeditor.Editor)
		want   string
		err    string
	}{
		{"without a script", func(*fakeeditor.Editor) {}, "null", ""},
		{"a choice", func(e *fakeeditor.Editor) { e.Choose("Deny") }, `{"title":"Deny"}`, ""},
		{"closed", func(e *fakeeditor.Editor) { e.Choose("") }, "null", ""},
		{"not on offer", func(e *fakeeditor.Editor) { e.Choose("Perhaps") }, "", `"Perhaps" is not on offer`},
		{"lacking", func(e *fakeeditor.Editor) { e.Lacks("window/showMessageRequest") }, "", "(-32601)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := start(t, fakeeditor.Options{})
			test.script(e)
			var got json.RawMessage
			err := e.ExecuteCommand(t.Context(), "window/showMessageRequest", question, &got)
			if string(got) != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %s, %v; want %s, %s", got, err, test.want, test.err)
			}
		})
	}
}

func TestConfiguration(t *testing.T) {
	e := start(t, fakeeditor.Options{Settings: map[string]any{"sidecar": map[string]any{"mode": "review"}}})
	var got []any
	ask := lsp.ConfigurationParams{Items: []lsp.ConfigurationItem{{Section: "sidecar"}, {Section: "other"}}}
	if err := e.ExecuteCommand(t.Context(), "workspace/configuration", ask, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{map[string]any{"mode": "review"}, nil}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgressAndCancel(t *testing.T) {
	e := start(t, fakeeditor.Options{})
	for _, token := range []lsp.ProgressToken{"7", lsp.StringToken("seven")} {
		params := lsp.ExecuteCommandParams{Command: "progress", WorkDoneToken: token}
		if err := e.Call(t.Context(), "workspace/executeCommand", params, nil); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(e.Record().Progress[token])
		if want := "[{begin  false begin <nil>} {report  false report <nil>} {end  false end <nil>}]"; got != want {
			t.Errorf("%s: %s", token, got)
		}
	}
	p, err := e.Start(t.Context(), "workspace/executeCommand", lsp.ExecuteCommandParams{Command: "wait"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Cancel(); err != nil {
		t.Fatal(err)
	}
	var reply *lsp.Error
	if err := p.Wait(t.Context(), nil); !errors.As(err, &reply) || reply.Code != lsp.RequestCancelled {
		t.Errorf("got %v", err)
	}
}

func TestAwaitEndsWithTheServer(t *testing.T) {
	e := fakeeditor.Serve(func(io.Reader, io.Writer) error { return io.ErrNoProgress }, fakeeditor.Options{})
	err := e.Await(t.Context(), "what never comes", func(*fakeeditor.Record) bool { return false })
	if err == nil || !strings.Contains(err.Error(), "waiting for what never comes: the server has ended") {
		t.Errorf("got %v", err)
	}
	if err := e.Wait(t.Context()); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

// asServer makes the test's own program the server of TestProcess.
const asServer = "FAKEEDITOR_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	s := &server{docs: map[lsp.URI]*lsp.Document{}}
	s.conn = lsp.NewConn(os.Stdin, os.Stdout, s, lsp.Options{})
	if err := s.conn.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestProcess(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(*fakeeditor.Editor) error
	}{
		{"shutdown", func(e *fakeeditor.Editor) error { return e.Shutdown(context.Background()) }},
		{"hang up", func(e *fakeeditor.Editor) error {
			e.Hangup()
			return e.Wait(context.Background())
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), asServer+"=1")
			e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Initialize(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := e.Open(t.Context(), "untitled:1", "text", "hello"); err != nil {
				t.Fatal(err)
			}
			awaitTexts(t, e, map[lsp.URI]string{"untitled:1": "hello"})
			if err := test.end(e); err != nil {
				t.Error(err)
			}
		})
	}
}
