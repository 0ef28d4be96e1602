package editors_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestServerLeaves: a server whose editor leaves while very many hunks are being
// accepted ends, and nothing is lost: what is not accepted is pending.
func TestServerLeaves(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review"})
	const n = 20_000
	var before, after strings.Builder
	for i := range n {
		fmt.Fprintf(&before, "line %d stays\nline %d of the file\n", i, i)
		fmt.Fprintf(&after, "line %d stays\nanother text in line %d\n", i, i)
	}
	dir := e2e.Project(t, map[string]string{"a.txt": before.String()})
	r, cmd := e2e.EditorProcess(t, dir)
	if res := r.Tool("write_file", e2e.Object{"path": "a.txt", "content": after.String()}); !res.OK {
		t.Fatal(res.Content)
	}
	params, err := fakeeditor.Command("sidecar.review.accept", e2e.Object{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start(t.Context(), "workspace/executeCommand", params); err != nil {
		t.Fatal(err)
	}
	r.Hangup()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // it is only reached when the test fails
	defer cancel()
	_ = r.Wait(ctx)
	if ctx.Err() != nil {
		_ = cmd.Process.Kill()
		t.Fatal("the server goes on")
	}
	again := e2e.Connect(t, dir, fakeeditor.Options{})
	data, err := os.ReadFile(filepath.Join(dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pending := len(again.Pending().Edits)
	if done := string(data) == after.String(); !done && string(data) != before.String() || done != (pending == 0) {
		t.Errorf("the file has the edit: %v; %d edits are pending", done, pending)
	}
	if text := again.Tool("read_file", e2e.Object{"path": "a.txt", "limit": 2}).Content; !strings.Contains(text, "another text in line 0") {
		t.Errorf("the agent reads %q", text)
	}
}
