package border_test

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// TestManyInBackground: of commands that are called for at once no more than eight run in the
// background unasked.
func TestManyInBackground(t *testing.T) {
	r := serve(t, project(t, e2e.Object{}))
	complete(r)
	var calls []*lsp.Pending
	for range 14 {
		p, err := fakeeditor.Command("sidecar.tools.call", e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": "sleep 4021.5", "background": true}})
		if err != nil {
			t.Fatal(err)
		}
		call, err := r.Start(t.Context(), "workspace/executeCommand", p)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	ran := 0
	for _, call := range calls {
		var res e2e.Result
		if err := call.Wait(t.Context(), &res); err != nil {
			t.Fatal(err)
		}
		if res.OK {
			ran++
		}
	}
	if ran != 8 {
		t.Errorf("%d run", ran)
	}
	if res := r.Tool("command_list", e2e.Object{}); strings.Count(res.Content, "sleep 4021.5") < 8 {
		t.Errorf("the control: %s", res.Content)
	}
}
