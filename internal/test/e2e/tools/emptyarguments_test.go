package tools_test

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestEmptyArguments: an editor whose language has one empty table writes [] for an object,
// and null is no arguments either; a list is refused as ever.
func TestEmptyArguments(t *testing.T) {
	e2e.Home(t)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "a\n"}), fakeeditor.Options{})
	for _, args := range []any{[]any{}, nil, e2e.Object{}} {
		if res := r.Tool("list_directory", args); !res.OK {
			t.Errorf("%v: %s", args, res.Content)
		}
		if res := r.Tool("no_such_tool", args); res.OK || res.Error.Code != "unknown_tool" {
			t.Errorf("%v: %+v", args, res)
		}
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.tools.call", e2e.Object{"name": "list_directory", "arguments": []any{1}}, nil); err == nil {
		t.Error("a list with something in it was taken for an object")
	}
}
