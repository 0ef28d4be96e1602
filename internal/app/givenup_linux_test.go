package app_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
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
			r := worldBy(t, kind, withEvents(), map[string]string{".gitignore": "build/\n", "a.txt": "a\n", "b.txt": "b\n"})
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
		r := worldBy(t, kind, withEvents(), map[string]string{".gitignore": "build/\n", "a.txt": "a\n"})
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

// killedWorld is a server, a process of its own, of a project with worlds of a kind.
func killedWorld(t *testing.T, dir string) (*rig, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(buildServer(t), "serve")
	opts := withEvents()
	opts.Root = dir
	e, err := fakeeditor.StartProcess(cmd, opts)
	if err == nil {
		_, err = e.Initialize(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{e, t, dir}
	r.mode("review")
	if res := r.call("run_command", object{"command": "true"}); !res.OK {
		t.Skip("there is no world here: ", res.Content)
	}
	return r, cmd
}

// TestKilledServerLoses: nothing. What a command had changed, and its output, wait for the
// person when the next server has started, and nothing of it is on the disk.
func TestKilledServerLoses(t *testing.T) {
	for _, kind := range []string{"overlay", "shadow"} {
		for _, mode := range []string{"review", "autonomous"} {
			t.Run(kind+", "+mode, func(t *testing.T) {
				dir := worldProject(t, kind, map[string]string{".gitignore": "build/\n", "a.txt": "a\n", "mine.txt": "m\n"})
				r, cmd := killedWorld(t, dir)
				r.mode(mode)
				r.begun("", "echo half > a.txt; echo theirs > mine.txt; echo new > new.txt; mkdir -p build; echo out > build/o; ln -s ../decoy leads; echo printed; sleep 600", "printed")
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = r.Wait(t.Context()) // its error is the kill
				write(t, filepath.Join(dir, "mine.txt"), "m, and more\n")
				again := serveBy(t, dir, withEvents(), buildServer(t))
				until(t, "nothing waits", func() bool { return len(again.queued()) == 3 })
				again.isQueued("a.txt", "mine.txt", "new.txt")
				for _, e := range again.pending().Edits {
					if (e.State == "conflict") != (e.Path == "mine.txt") || e.Session != "default" {
						t.Errorf("%s: %s, of %s", e.Path, e.State, e.Session)
					}
				}
				if list := again.heldOutput(); len(list) != 1 || list[0].Files != 1 {
					t.Errorf("held: %+v", list)
				}
				if got := again.onDisk("a.txt") + again.onDisk("mine.txt") + again.onDisk("new.txt") + again.onDisk("build/o") + again.onDisk("leads"); got != "a\nm, and more\n" {
					t.Errorf("the disk has %q", got)
				}
				if err := again.Await(t.Context(), "the warning", func(rec *fakeeditor.Record) bool {
					return slices.ContainsFunc(rec.Notifications, func(m fakeeditor.Message) bool {
						return m.Method == "window/showMessage" && strings.Contains(string(m.Params), "It waits for review: ") && strings.Contains(string(m.Params), "leads out")
					})
				}); err != nil {
					t.Error(err)
				}
				// It is the person's to decide.
				command[json.RawMessage](again, "sidecar.review.reject", object{})
				again.isQueued()
			})
		}
	}
}

// TestSessionClosedMeanwhile: what a command changed whose session is closed before anybody
// takes it waits for review.
func TestSessionClosedMeanwhile(t *testing.T) {
	for _, mode := range []string{"review", "autonomous"} {
		t.Run(mode, func(t *testing.T) {
			r := worldBy(t, "overlay", withEvents(), map[string]string{".gitignore": "build/\n", "a.txt": "a\n"})
			command[json.RawMessage](r, "sidecar.session.open", object{"id": "other", "mode": mode})
			p := r.begun("other", "echo half > a.txt; echo new > new.txt; mkdir -p build; echo out > build/o; echo printed; sleep 600", "printed")
			command[json.RawMessage](r, "sidecar.session.close", object{"session": "other"})
			if err := p.Cancel(); err != nil {
				t.Fatal(err)
			}
			until(t, "nothing waits", func() bool { return len(r.queued()) == 2 })
			r.isQueued("a.txt", "new.txt")
			if got := r.onDisk("a.txt") + r.onDisk("new.txt") + r.onDisk("build/o"); got != "a\n" {
				t.Errorf("the disk has %q", got)
			}
			if list := r.heldOutput(); len(list) != 1 || list[0].Session != "other" {
				t.Errorf("held: %+v", list)
			}
		})
	}
}
