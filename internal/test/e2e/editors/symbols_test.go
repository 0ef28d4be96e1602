package editors_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// symbolServer is a server that offers symbols, or does not.
func symbolServer(t *testing.T, dir string, on, tree bool) (*fakeeditor.Editor, lsp.ServerCapabilities) {
	t.Helper()
	caps := fakeeditor.Usual()
	caps.TextDocument.DocumentSymbol.Hierarchical = tree
	e := fakeeditor.Serve(func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)}, Person: cli.AnswerPerson})
	}, fakeeditor.Options{
		Root: dir, Capabilities: caps,
		InitializationOptions: map[string]any{"sidecar": map[string]any{"knowledge.documentSymbols": on, "knowledge.workspaceSymbols": on}},
	})
	r, err := e.Initialize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return e, r.Capabilities
}

const tsFile = "// ä\nexport class Größe {\n  /* 𝒳 */ laden(): void {}\n}\nenum Farbe { Rot }\nexport const x = 1;\n"

func TestDocumentSymbols(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.ts": tsFile, "b.txt": "no language\n", "c.go": "package c\n"})
	uri := func(name string) string { return fakeeditor.FileURI(filepath.Join(dir, name)) }
	ask := func(e *fakeeditor.Editor, name string, into any) error {
		return e.Call(t.Context(), "textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": uri(name)}}, into)
	}

	e, caps := symbolServer(t, dir, true, true)
	if !caps.DocumentSymbolProvider || !caps.WorkspaceSymbolProvider {
		t.Errorf("capabilities: %+v", caps)
	}
	var tree []lsp.DocumentSymbol
	if err := ask(e, "a.ts", &tree); err != nil {
		t.Fatal(err)
	}
	want := []string{"Größe 5 1:0-3:1 at 1:13-1:18", "  laden 6 2:11-2:27 at 2:11-2:16", "Farbe 10 4:0-4:18 at 4:5-4:10", "  Rot 22 4:13-4:16 at 4:13-4:16", "x 13 5:0-5:18 at 5:13-5:14"}
	if d := cmp.Diff(want, treeText(tree, "")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if err := e.Open(t.Context(), uri("c.go"), "go", "package c\n\nfunc Unsaved() {}\n"); err != nil {
		t.Fatal(err)
	}
	if err := ask(e, "c.go", &tree); err != nil || len(tree) != 1 || tree[0].Name != "Unsaved" {
		t.Errorf("unsaved text: %v, %v", tree, err)
	}
	if err := ask(e, "b.txt", &tree); err != nil || len(tree) != 0 {
		t.Errorf("a text without a language: %v, %v", tree, err)
	}
	for _, name := range []string{"none.ts", "../x.ts"} {
		if err := ask(e, name, &tree); err == nil {
			t.Errorf("%s: no error", name)
		}
	}

	e, _ = symbolServer(t, dir, true, false)
	var flat []lsp.SymbolInformation
	if err := ask(e, "a.ts", &flat); err != nil || len(flat) != 5 || flat[1].ContainerName != "Größe" || flat[1].Location.URI != uri("a.ts") {
		t.Errorf("as a list: %+v, %v", flat, err)
	}

	e, caps = symbolServer(t, dir, false, true)
	var unknown *lsp.Error
	if err := ask(e, "a.ts", &tree); !errors.As(err, &unknown) || unknown.Code != lsp.MethodNotFound || caps.DocumentSymbolProvider || caps.WorkspaceSymbolProvider {
		t.Errorf("switched off: %v, %+v", err, caps)
	}
	if err := e.Call(t.Context(), "workspace/symbol", map[string]any{"query": "x"}, nil); !errors.As(err, &unknown) || unknown.Code != lsp.MethodNotFound {
		t.Errorf("switched off: %v", err)
	}
}

func treeText(list []lsp.DocumentSymbol, indent string) (out []string) {
	at := func(r lsp.Range) string {
		return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
	}
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s%s %d %s at %s", indent, s.Name, s.Kind, at(s.Range), at(s.SelectionRange)))
		out = append(out, treeText(s.Children, indent+"  ")...)
	}
	return out
}

func TestWorkspaceSymbols(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"shop/cart.go": "package shop\n\n// Cart holds.\ntype Cart struct{}\n\nfunc (c *Cart) AddItem() {}\n", "other.go": "package other\n\nfunc Unrelated() {}\n"})
	e, _ := symbolServer(t, dir, true, true)
	var found []lsp.SymbolInformation
	if err := e.Call(t.Context(), "workspace/symbol", map[string]any{"query": "AddItem"}, &found); err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 || found[0].Name != "AddItem" || found[0].Location.Range.Start.Line != 5 || !strings.HasSuffix(found[0].Location.URI, "/shop/cart.go") {
		t.Errorf("found %+v", found)
	}
	if err := e.Call(t.Context(), "workspace/symbol", map[string]any{"query": ""}, &found); err != nil || len(found) != 0 {
		t.Errorf("an empty query: %+v, %v", found, err)
	}
}
