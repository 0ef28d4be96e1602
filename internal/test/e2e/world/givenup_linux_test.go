package world_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestCancelledCommand: what a command had changed whose call is cancelled waits for review,
// in every mode, and the session's next result says so. A command that fails, or whose time is
// up, is as one that ends.
func TestCancelledCommand(t *testing.T) { e2e.EachWorld(t, testCancelledCommand) }

func testCancelledCommand(t *testing.T, kind string) {
	for _, mode := range []string{"review", "autonomous"} {
		t.Run(mode, func(t *testing.T) {
			r := e2e.WorldBy(t, kind, withEvents(), map[string]string{".gitignore": "build/\n", "a.txt": "a\n", "b.txt": "b\n"})
			r.Mode(mode)
			const line = "echo half > a.txt; echo new > new.txt; rm b.txt; mkdir -p build; echo out > build/o; echo printed-%; while :; do echo more >> a.txt; sleep 0.01; done"
			for _, word := range []string{"one", "two"} {
				p := r.Begun("", strings.ReplaceAll(line, "%", word), "printed-"+word)
				if err := p.Cancel(); err != nil {
					t.Fatal(err)
				}
				if err := p.Wait(t.Context(), nil); err == nil {
					t.Fatal("it was not cancelled")
				}
			}
			res := r.Tool("run_command", e2e.Object{"command": "true"})
			if !res.OK || !strings.Contains(res.Content, "was cancelled. What it had changed until then waits for review: ") || !strings.Contains(res.Content, "a.txt") {
				t.Errorf("the next result: %s", res.Content)
			}
			r.IsQueued("a.txt", "b.txt", "new.txt")
			if got := r.OnDisk("a.txt") + r.OnDisk("b.txt") + r.OnDisk("new.txt") + r.OnDisk("build/o"); got != "a\nb\n" {
				t.Errorf("the disk has %q", got)
			}
			// A copy has it until the session ends.
			if list := r.HeldOutput(); kind == "overlay" && (len(list) != 1 || list[0].Session != "default" || list[0].Files != 1) {
				t.Errorf("held: %+v", list)
			}
			// Its processes have ended, so that the text stays as it is.
			if first := r.Tool("read_file", e2e.Object{"path": "a.txt"}).Content; mode == "review" && (!strings.Contains(first, "half") || r.Tool("read_file", e2e.Object{"path": "a.txt"}).Content != first) {
				t.Errorf("the text changes still: %s", first)
			}
			// Accepted, it is there.
			if acc := r.Accept(e2e.Object{}); len(acc.Failed) > 0 {
				t.Errorf("accepted: %+v", acc)
			}
			if !strings.HasPrefix(r.OnDisk("a.txt"), "half\n") || r.OnDisk("new.txt") != "new\n" || r.OnDisk("b.txt") != "" {
				t.Errorf("accepted, the disk has %q, %q, %q", r.OnDisk("a.txt"), r.OnDisk("new.txt"), r.OnDisk("b.txt"))
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		r := e2e.WorldBy(t, kind, withEvents(), map[string]string{".gitignore": "build/\n", "a.txt": "a\n"})
		r.Mode("autonomous")
		for i, end := range []string{"false", "sleep 600"} {
			name := []string{"failed", "late"}[i]
			res := r.Tool("run_command", e2e.Object{"command": "mkdir -p build; echo out > build/" + name + "; echo made > " + name + ".txt; " + end, "timeout_s": 5})
			if res.OK || !strings.Contains(res.Content, "Changed: "+name+".txt") || r.OnDisk(name+".txt") != "made\n" || r.OnDisk("build/"+name) != "out\n" {
				t.Errorf("%s: %s", name, res.Content)
			}
		}
		r.IsQueued()
	})
}

// killedWorld is a server, a process of its own, of a project with worlds of a kind.
func killedWorld(t *testing.T, dir string) (*e2e.Rig, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(program.ServerAnywhere(t), "serve")
	opts := withEvents()
	opts.Root = dir
	e, err := fakeeditor.StartProcess(cmd, opts)
	if err == nil {
		_, err = e.Initialize(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &e2e.Rig{Editor: e, T: t, Dir: dir}
	r.Mode("review")
	if res := r.Tool("run_command", e2e.Object{"command": "true"}); !res.OK {
		needs.Skip(t, needs.Overlay, "there is no world here: ", res.Content)
	}
	return r, cmd
}

// TestKilledServerLoses: nothing. What a command had changed, and its output, wait for the
// person when the next server has started, and nothing of it is on the disk.
func TestKilledServerLoses(t *testing.T) {
	for _, kind := range []string{"overlay", "copy"} {
		for _, mode := range []string{"review", "autonomous"} {
			t.Run(kind+", "+mode, func(t *testing.T) {
				dir := e2e.WorldProject(t, kind, map[string]string{".gitignore": "build/\n", "a.txt": "a\n", "mine.txt": "m\n"})
				r, cmd := killedWorld(t, dir)
				r.Mode(mode)
				r.Begun("", "echo half > a.txt; echo theirs > mine.txt; echo new > new.txt; mkdir -p build; echo out > build/o; ln -s ../decoy leads; echo printed; sleep 600", "printed")
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = r.Wait(t.Context()) // its error is the kill
				e2e.Write(t, filepath.Join(dir, "mine.txt"), "m, and more\n")
				again := e2e.ServeBy(t, dir, withEvents(), program.ServerAnywhere(t))
				e2e.Until(t, "nothing waits", func() bool { return len(again.Queued()) == 3 })
				again.IsQueued("a.txt", "mine.txt", "new.txt")
				for _, e := range again.Pending().Edits {
					if (e.State == "conflict") != (e.Path == "mine.txt") || e.Session != "default" {
						t.Errorf("%s: %s, of %s", e.Path, e.State, e.Session)
					}
				}
				if list := again.HeldOutput(); len(list) != 1 || list[0].Files != 1 {
					t.Errorf("held: %+v", list)
				}
				if got := again.OnDisk("a.txt") + again.OnDisk("mine.txt") + again.OnDisk("new.txt") + again.OnDisk("build/o") + again.OnDisk("leads"); got != "a\nm, and more\n" {
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
				e2e.Command[json.RawMessage](again, "sidecar.review.reject", e2e.Object{})
				again.IsQueued()
			})
		}
	}
}

// TestSessionClosedMeanwhile: what a command changed whose session is closed before anybody
// takes it waits for review.
func TestSessionClosedMeanwhile(t *testing.T) {
	for _, mode := range []string{"review", "autonomous"} {
		t.Run(mode, func(t *testing.T) {
			r := e2e.WorldBy(t, "overlay", withEvents(), map[string]string{".gitignore": "build/\n", "a.txt": "a\n"})
			e2e.Command[json.RawMessage](r, "sidecar.session.open", e2e.Object{"id": "other", "mode": mode})
			p := r.Begun("other", "echo half > a.txt; echo new > new.txt; mkdir -p build; echo out > build/o; echo printed; sleep 600", "printed")
			e2e.Command[json.RawMessage](r, "sidecar.session.close", e2e.Object{"session": "other"})
			if err := p.Cancel(); err != nil {
				t.Fatal(err)
			}
			e2e.Until(t, "nothing waits", func() bool { return len(r.Queued()) == 2 })
			r.IsQueued("a.txt", "new.txt")
			if got := r.OnDisk("a.txt") + r.OnDisk("new.txt") + r.OnDisk("build/o"); got != "a\n" {
				t.Errorf("the disk has %q", got)
			}
			if list := r.HeldOutput(); len(list) != 1 || list[0].Session != "other" {
				t.Errorf("held: %+v", list)
			}
		})
	}
}
