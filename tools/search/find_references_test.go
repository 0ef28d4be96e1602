package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/references"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

func parser() *references.Finder {
	return &references.Finder{
		Language: treesitter.Language,
		Analyze: func(_ context.Context, lang string, src []byte) (pki.File, error) {
			f, err := treesitter.Analyze(lang, src)
			if err != nil {
				f = treesitter.Names(lang, src, nil)
			}
			return f, err
		},
	}
}

func TestFindReferencesFixtures(t *testing.T) {
	if !treesitter.Parsers {
		needs.Skip(t, needs.Cgo, "built without cgo: scopes of Python and TypeScript take parsers")
	}
	tooltest.Run(t, "testdata/references", Tools(Deps{References: parser()}))
}

// What can't be asked, each beside what can.
func TestFindReferencesRefuses(t *testing.T) {
	d := project(t, map[string]string{"a.go": "package a\n\nfunc Foo() {}\n"})
	for _, c := range []struct {
		args string
		code tools.Code
	}{
		{`{"symbol":"Foo"}`, ""},
		{`{"symbol":" a.Foo "}`, ""},
		{`{"symbol":""}`, tools.InvalidArguments},
		{`{"symbol":"  "}`, tools.InvalidArguments},
		{`{"symbol":"+*("}`, tools.InvalidArguments},
		{`{"symbol":"func Foo"}`, tools.InvalidArguments},
		{`{"symbol":"` + strings.Repeat("x", maxSymbol+1) + `"}`, tools.InvalidArguments},
		{`{"symbol":"` + strings.Repeat("x", maxSymbol) + `"}`, ""},
		{`{"symbol":"Foo","path":"a.go"}`, ""},
		{`{"symbol":"Foo","path":"."}`, ""},
		{`{"symbol":"Foo","path":"b.go"}`, tools.NotFound},
		{`{"symbol":"Foo","kind":"call"}`, ""},
		{`{"symbol":"Foo","kind":"calls"}`, tools.InvalidArguments},
		{`{"symbol":"Foo","file":"a.go"}`, tools.InvalidArguments},
	} {
		_, err := call(t.Context(), d, "find_references", c.args)
		var e *tools.Error
		switch {
		case c.code == "" && err != nil:
			t.Errorf("%.60s: %v", c.args, err)
		case c.code != "" && (!errors.As(err, &e) || e.Code != c.code):
			t.Errorf("%.60s: got %v, want %s", c.args, err, c.code)
		}
	}
	if _, err := call(t.Context(), d, "find_references", `{"symbol":"Foo","path":"../x"}`); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("a path outside: %v", err)
	}
}

func TestFindReferencesWithoutParser(t *testing.T) {
	b, err := findReferences(nil).Bind(json.RawMessage(`{"symbol":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = b.Run(t.Context(), &tools.Call{})
	var e *tools.Error
	if !errors.As(err, &e) || e.Code != tools.Unavailable {
		t.Errorf("got %v", err)
	}
}

// A result is cut at whole places, says so, and counts all.
func TestFindReferencesIsCut(t *testing.T) {
	var b strings.Builder
	b.WriteString("package a\n\nfunc Foo() {}\n\nfunc bar() {\n")
	const calls = maxUsages + 7
	b.WriteString(strings.Repeat("\tFoo()\n", calls))
	b.WriteString("}\n")
	d := project(t, map[string]string{"a.go": b.String()})
	r, err := call(t.Context(), d, "find_references", `{"symbol":"Foo"}`)
	if err != nil {
		t.Fatal(err)
	}
	data := r.Structured.(referencesData)
	if !r.Truncated || len(data.Usages) != maxUsages || data.Total.Usages != calls || !strings.Contains(r.Text, "… 7 more") {
		t.Errorf("%d usages of %d, cut: %v", len(data.Usages), data.Total.Usages, r.Truncated)
	}
}

func TestFindReferencesIsCancelled(t *testing.T) {
	d := project(t, map[string]string{"a.go": "package a\n\nfunc Foo() {}\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call(ctx, d, "find_references", `{"symbol":"Foo"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Text that is not on the disk is seen, for what is looked for and for what
// its meaning depends on.
func TestFindReferencesSeesTheView(t *testing.T) {
	d := project(t, map[string]string{
		"go.mod":     "module example.com/m\n",
		"s/store.go": "package s\n\ntype Store struct{}\n",
		"a.go":       "package m\n\nimport \"example.com/m/s\"\n\nfunc f() { s.New().Put() }\n",
	})
	view := workspace.NewOverlay(d, layer{"s/new.go": "package s\n\nfunc New() *Store { return nil }\n\nfunc (s *Store) Put() {}\n"})
	for _, c := range []struct {
		files workspace.Files
		want  []string
	}{
		{view, []string{"s/new.go:5:17", "a.go:5:20"}},
		{d, nil}, // nothing says that s.New is a Store
	} {
		r, err := call(t.Context(), c.files, "find_references", `{"symbol":"Store.Put"}`)
		if err != nil {
			t.Fatal(err)
		}
		data := r.Structured.(referencesData)
		var got []string
		for _, p := range append(data.Definitions, data.Usages...) {
			got = append(got, fmt.Sprintf("%s:%d:%d", p.Path, p.Line, p.Column))
			if p.Likely {
				t.Errorf("%v is only likely", p)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestBehaviours: each fixture shows one behaviour of a tool.
func TestBehaviours(t *testing.T) {
	tooltest.Run(t, "testdata/behaviour", Tools(Deps{References: parser()}))
}
