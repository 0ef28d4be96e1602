package lsp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// roundTrip decodes and encodes again, as a reply would be.
func roundTrip[T any](t *testing.T, in string) (T, string) {
	t.Helper()
	var v T
	if err := lsp.Unmarshal([]byte(in), &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return v, string(out)
}

func TestDocumentChanges(t *testing.T) {
	for _, in := range []string{
		`{"documentChanges":[{"textDocument":{"uri":"a","version":null},"edits":[]}]}`,
		`{"documentChanges":[{"textDocument":{"uri":"a","version":0},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":2}},"newText":"x"}]}]}`,
		`{"documentChanges":[{"kind":"create","uri":"a","options":{"overwrite":true}},{"kind":"rename","oldUri":"a","newUri":"b"},{"kind":"delete","uri":"c"}]}`,
		`{"changes":{"untitled:1":[],"file:///%23a":[]}}`,
	} {
		if _, out := roundTrip[lsp.WorkspaceEdit](t, in); out != in {
			// Maps are sorted on the way out.
			var a, b any
			if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal([]byte(out), &b) != nil || !cmp.Equal(a, b) {
				t.Errorf("%s\nbecame %s", in, out)
			}
		}
	}
	var v lsp.WorkspaceEdit
	if err := lsp.Unmarshal([]byte(`{"documentChanges":[{"kind":"explode"}]}`), &v); err == nil {
		t.Error("an unknown kind is taken")
	}
}

func TestProgressToken(t *testing.T) {
	for in, want := range map[string]lsp.ProgressToken{`7`: "7", `"a\u0062"`: lsp.StringToken("ab"), `"7"`: lsp.StringToken("7"), `null`: "", `-1`: "-1"} {
		if got, _ := roundTrip[lsp.ProgressToken](t, in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{`1.5`, `{}`, `true`} {
		var token lsp.ProgressToken
		if err := lsp.Unmarshal([]byte(in), &token); err == nil {
			t.Errorf("%s is taken", in)
		}
	}
}

// TestInitializeParams has what clients really send: nulls, members that nobody
// knows, and no capabilities at all.
func TestInitializeParams(t *testing.T) {
	for _, in := range []string{
		`{"capabilities":{}}`,
		`{"processId":null,"rootUri":null,"rootPath":null,"workspaceFolders":null,"initializationOptions":null,"capabilities":{"window":null,"workspace":{"applyEdit":null,"workspaceEdit":{"resourceOperations":null}}}}`,
		`{"processId":1,"clientInfo":{"name":"x"},"trace":"compact","unknown":[1],"capabilities":{"window":{"showMessage":null,"workDoneProgress":true},"experimental":{"other":1},"textDocument":{"hover":{}}}}`,
	} {
		var p lsp.InitializeParams
		if err := lsp.Unmarshal([]byte(in), &p); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
	p, _ := roundTrip[lsp.InitializeParams](t, `{"capabilities":{"general":{"positionEncodings":["utf-32","utf-8"]},"experimental":{"sidecar":{"approve":true,"pendingEdits":true}}}}`)
	want := lsp.ExperimentalCapabilities{Sidecar: lsp.SidecarCapabilities{Approve: true, PendingEdits: true}}
	if diff := cmp.Diff(want, p.Capabilities.Experimental); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := lsp.ChooseEncoding(p.Capabilities.General.PositionEncodings); got != lsp.UTF8 {
		t.Errorf("encoding %s", got)
	}
}

func TestPositionsAreStrict(t *testing.T) {
	for in, good := range map[string]bool{
		`{"line":1,"character":2,"more":true}`: true,
		`{"line":4294967295,"character":0}`:    true,
		`{"line":-1,"character":0}`:            false,
		`{"line":4294967296,"character":0}`:    false,
		`{"line":"1","character":0}`:           false,
		`{"line":1.5,"character":0}`:           false,
		`{"line":1,"line":2,"character":0}`:    false,
		`[1,2]`:                                false,
	} {
		var p lsp.Position
		if err := lsp.Unmarshal([]byte(in), &p); (err == nil) != good {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestEmptyDiagnosticsAreAList(t *testing.T) {
	w := dial(t, funcs{}, lsp.Options{})
	go func() { _ = w.conn.Notify(t.Context(), "x", lsp.PublishDiagnosticsParams{URI: "a"}) }()
	want := `{"jsonrpc":"2.0","method":"x","params":{"uri":"a","diagnostics":[]}}`
	if diff := cmp.Diff(want, w.read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
