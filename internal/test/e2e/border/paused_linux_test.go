package border_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestKilledWhilePaused: of a command that waits for its person nothing goes on when the
// server is killed, and what it wrote waits for review.
func TestKilledWhilePaused(t *testing.T) {
	dir := project(t, e2e.Object{})
	mark := "4021.25" // of the command, by which it is found
	e2e.Write(t, filepath.Join(dir, "run.sh"), "echo kept > kept.txt; (trap '' TERM HUP; setsid sleep "+mark+") & until [ -e go ]; do sleep 0.05; done; touch went-on\n")
	asked := make(chan struct{}, 8)
	r, cmd := e2e.Mortal(t, dir, func(e *fakeeditor.Editor) {
		e.Answer("window/showMessageRequest", func(ctx context.Context, _ json.RawMessage) (any, error) {
			asked <- struct{}{}
			<-ctx.Done() // nobody answers
			return nil, ctx.Err()
		})
	})
	r.Mode("review")
	complete(r)
	if res := r.Tool("run_command", e2e.Object{"command": "sh run.sh", "background": true}); !res.OK || res.Decision.Rule != "world.complete" {
		t.Fatalf("%+v", res)
	}
	e2e.Until(t, "it does not run", func() bool { return running(mark) > 0 })
	e2e.Write(t, filepath.Join(dir, ".env"), "KEY=x\n")
	<-asked
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	e2e.Write(t, filepath.Join(dir, "go"), "")
	e2e.Until(t, "its processes are left", func() bool { return running(mark) == 0 })

	next := serve(t, dir)
	e2e.Until(t, "what it wrote is lost", func() bool { return strings.Contains(strings.Join(next.Queued(), "\n"), "kept.txt") })
	if queued := strings.Join(next.Queued(), "\n"); strings.Contains(queued, "went-on") {
		t.Errorf("it went on: %s", queued)
	}
	for _, name := range []string{"kept.txt", "went-on"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is on the disk", name)
		}
	}
	// The home that the killed session had goes with the first of the next server.
	homes := func() []string {
		list, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "layers", "*", "session.*"))
		return list
	}
	before := homes()
	if res := next.Tool("run_command", e2e.Object{"command": "touch x"}); !res.OK || res.Decision.Rule != "world.complete" {
		t.Errorf("%+v", res)
	}
	if after := homes(); len(before) != 1 || len(after) != 1 || before[0] == after[0] {
		t.Errorf("homes of sessions were %q, and are %q", before, after)
	}
}

// runs counts the processes that have a word.
func running(word string) (n int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if text, err := os.ReadFile(name); err == nil && strings.Contains("\x00"+string(text), "\x00"+word+"\x00") {
			n++
		}
	}
	return n
}
