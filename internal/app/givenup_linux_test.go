package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// begun starts a command in a session, and waits until it has printed the word.
func (r *rig) begun(session, line, word string) *lsp.Pending {
	r.t.Helper()
	p, err := fakeeditor.Command("sidecar.tools.call", object{"name": "run_command", "session": session, "arguments": object{"command": line}})
	if err != nil {
		r.t.Fatal(err)
	}
	pending, err := r.Start(r.t.Context(), "workspace/executeCommand", p)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.Await(r.t.Context(), "the command to print "+word, func(rec *fakeeditor.Record) bool {
		return slices.ContainsFunc(rec.Notifications, func(m fakeeditor.Message) bool {
			return m.Method == "sidecar/event" && strings.Contains(string(m.Params), `"toolOutput"`) && strings.Contains(string(m.Params), word)
		})
	}); err != nil {
		r.t.Fatal(err)
	}
	return pending
}

// onDisk reads a file of the workspace; "" is that there is none.
func (r *rig) onDisk(name string) string {
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// heldOutput are the sessions that hold output, with the number of their files.
func (r *rig) heldOutput() (list []workspace.Held) {
	r.t.Helper()
	return command[struct{ Entries []workspace.Held }](r, "sidecar.review.output", object{"action": "list"}).Entries
}

// TestCancelledCommand: what a command had changed whose call is cancelled waits for review,
// in every mode, and the session's next result says so. A command that fails, or whose time is
// up, is as one that ends.
func TestCancelledCommand(t *testing.T) { eachWorld(t, testCancelledCommand) }

func testCancelledCommand(t *testing.T, kind string) {
	for _, mode := range []string{"review", "autonomous"} {
		t.Run(mode, func(t *testing.T) {
			r := worldRig(t, kind, map[string]string{".gitignore": "build/\n", "a.txt": "a\n", "b.txt": "b\n"})
			r.mode(mode)
			const line = "echo half > a.txt; echo new > new.txt; rm b.txt; mkdir -p build; echo out > build/o; echo printed-%; while :; do echo more >> a.txt; sleep 0.01; done"
			for _, word := range []string{"one", "two"} {
				p := r.begun("", strings.ReplaceAll(line, "%", word), "printed-"+word)
				if err := p.Cancel(); err != nil {
					t.Fatal(err)
				}
				if err := p.Wait(t.Context(), nil); err == nil {
					t.Fatal("it was not cancelled")
				}
			}
			res := r.call("run_command", object{"command": "true"})
			if !res.OK || !strings.Contains(res.Content, "was cancelled. What it had changed until then waits for review: ") || !strings.Contains(res.Content, "a.txt") {
				t.Errorf("the next result: %s", res.Content)
			}
			r.isQueued("a.txt", "b.txt", "new.txt")
			if got := r.onDisk("a.txt") + r.onDisk("b.txt") + r.onDisk("new.txt") + r.onDisk("build/o"); got != "a\nb\n" {
				t.Errorf("the disk has %q", got)
			}
			// A copy has it until the session ends.
			if list := r.heldOutput(); kind == "overlay" && (len(list) != 1 || list[0].Session != "default" || list[0].Files != 1) {
				t.Errorf("held: %+v", list)
			}
			// Its processes have ended, so that the text stays as it is.
			if first := r.call("read_file", object{"path": "a.txt"}).Content; mode == "review" && (!strings.Contains(first, "half") || r.call("read_file", object{"path": "a.txt"}).Content != first) {
				t.Errorf("the text changes still: %s", first)
			}
			// Accepted, it is there.
			if acc := r.accept(object{}); len(acc.Failed) > 0 {
				t.Errorf("accepted: %+v", acc)
			}
			if !strings.HasPrefix(r.onDisk("a.txt"), "half\n") || r.onDisk("new.txt") != "new\n" || r.onDisk("b.txt") != "" {
				t.Errorf("accepted, the disk has %q, %q, %q", r.onDisk("a.txt"), r.onDisk("new.txt"), r.onDisk("b.txt"))
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		r := worldRig(t, kind, map[string]string{".gitignore": "build/\n", "a.txt": "a\n"})
		r.mode("autonomous")
		for i, end := range []string{"false", "sleep 600"} {
			name := []string{"failed", "late"}[i]
			res := r.call("run_command", object{"command": "mkdir -p build; echo out > build/" + name + "; echo made > " + name + ".txt; " + end, "timeout_s": 5})
			if res.OK || !strings.Contains(res.Content, "Changed: "+name+".txt") || r.onDisk(name+".txt") != "made\n" || r.onDisk("build/"+name) != "out\n" {
				t.Errorf("%s: %s", name, res.Content)
			}
		}
		r.isQueued()
	})
}
