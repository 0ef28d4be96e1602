package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// waits keeps an agent at work until a file is there.
const waits = "\nrun until [ -e go ]; do sleep 0.05; done\n"

func outliving(t *testing.T, files map[string]string, more ...e2e.Object) (dir string) {
	t.Helper()
	return e2e.AgentProject(t, files, append(more, e2e.Object{"runs.outliveEditor": true})...)
}

// letGo lets an agent that waits go on.
func letGo(t *testing.T, dir string) {
	t.Helper()
	if err := ownfile.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// hostIn is the process that serves a project.
func hostIn(t *testing.T, dir string) attach.Greeting {
	t.Helper()
	g, err := attach.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// hostless waits until no process serves a project.
func hostless(t *testing.T, dir string) {
	t.Helper()
	e2e.Until(t, "a server is still there", func() bool {
		_, err := attach.Find(t.Context(), dir)
		return errors.Is(err, attach.ErrNone)
	})
}

// TestRunOutlivesEditor: an agent works on when the window closes, and the next
// window of the folder has its run, its questions to come and its edits.
func TestRunOutlivesEditor(t *testing.T) {
	dir := outliving(t, map[string]string{"a.txt": "a\n", "open.txt": "on disk\n"})
	first, cmd := e2e.Mortal(t, dir)
	c := first.Agent("write a.txt changed"+waits+"tool read_file {\"path\": \"open.txt\"}\nwrite b.txt after\nsay done", nil)
	e2e.Until(t, "it never wrote", func() bool { return len(first.Queued()) == 1 })
	serving := hostIn(t, dir)
	if serving.Kind != attach.Editor || serving.PID == cmd.Process.Pid {
		t.Errorf("it is served by %+v, which the editor has started", serving)
	}
	seen := c.History()
	first.Closes(cmd)
	if g := hostIn(t, dir); g.Kind != attach.Left || g.PID != serving.PID {
		t.Errorf("without an editor: %+v, want process %d", g, serving.PID)
	}
	if out, err := exec.CommandContext(t.Context(), program.ServerAnywhere(t), "agent", "--root", dir, "runs").CombinedOutput(); err != nil || !strings.Contains(string(out), "running") {
		t.Errorf("a command line is told %q (%v)", out, err)
	}

	second, cmd := e2e.Mortal(t, dir)
	if g := hostIn(t, dir); g.Kind != attach.Editor || g.PID != serving.PID {
		t.Errorf("with the next editor: %+v, want process %d", g, serving.PID)
	}
	c.Rig = second
	if i := c.Info(); i.State != told.Running {
		t.Errorf("the next window has it as %+v", i)
	}
	for i, e := range c.History()[:len(seen)] {
		if e.Seq != seen[i].Seq || e.Kind != seen[i].Kind {
			t.Errorf("event %d was %+v and is %+v", i, seen[i], e)
		}
	}
	doc, err := second.OpenFile(t.Context(), filepath.Join(dir, "open.txt"))
	if err == nil {
		err = second.Type(t.Context(), doc, "not saved\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	second.Queued() // a request is answered after what was typed before it has come
	letGo(t, dir)
	if reason, why, said := c.Stopped(1); reason != told.Done || !strings.Contains(said, "not saved") || !strings.HasSuffix(said, "done\n") {
		t.Errorf("it ended by %s (%s) and says %q", reason, why, said)
	}
	second.IsQueued("a.txt", "b.txt")
	e2e.Command[struct{}](second, "sidecar.review.accept", nil)
	for name, want := range map[string]string{"a.txt": "changed", "b.txt": "after"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v)", name, got, err)
		}
	}
	c.Tell("say more", nil)
	if reason, _, said := c.Stopped(2); reason != told.Done || !strings.HasSuffix(said, "more\n") {
		t.Errorf("prompted by the next window, it ended by %s and says %q", reason, said)
	}
	second.Closes(cmd)
	hostless(t, dir) // nothing works any more
}

// TestRunOutlivesAlone: the process that outlives its editor ends with the agent's
// work; what it did waits for the next window.
func TestRunOutlivesAlone(t *testing.T) {
	dir := outliving(t, map[string]string{"a.txt": "a\n"})
	r, cmd := e2e.Mortal(t, dir)
	c := r.Agent("say begun"+waits+"write b.txt after", nil)
	c.Tell("write c.txt queued", nil)
	e2e.Until(t, "it never began", func() bool { return c.Info().State == told.Running })
	pid := hostIn(t, dir).PID
	if err := cmd.Process.Kill(); err != nil { // as an editor does that waits no longer
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	e2e.Until(t, "the server never noticed", func() bool { return hostIn(t, dir).Kind == attach.Left })
	letGo(t, dir)
	hostless(t, dir)
	e2e.Until(t, "its process stays", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	next := e2e.WorldIn(t, dir)
	c.Rig = next
	if reason, why, _ := c.Stopped(2); reason != told.Done {
		t.Errorf("it ended by %s (%s)", reason, why)
	}
	next.IsQueued("b.txt", "c.txt")
}

// TestRunAsksNextEditor: what is asked while no window is there, the next one answers.
func TestRunAsksNextEditor(t *testing.T) {
	dir := outliving(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"toolPermissions": e2e.Object{"run_command": "ask"}})
	r, cmd := e2e.Mortal(t, dir)
	c := r.Agent("permit execute make it\ntool run_command {\"command\": \"echo by the next\"}\nsay done", nil)
	q := c.Asked()
	r.Closes(cmd)
	next, cmd := e2e.Mortal(t, dir, func(e *fakeeditor.Editor) { // whose user looks at no question
		e.Answer("window/showMessageRequest", func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	c.Rig = next
	if again := c.Asked(); again.Question != q.Question || again.Text != q.Text {
		t.Errorf("it asked %+v and asks %+v", q, again)
	}
	c.Reply(q, "yes")
	next.Closes(cmd) // while the tool's question waits, or is asked
	last, cmd := e2e.Mortal(t, dir, func(e *fakeeditor.Editor) { e.Choose("Allow") })
	c.Rig = last
	if reason, why, said := c.Stopped(1); reason != told.Done || !strings.Contains(said, "permitted: yes") || !strings.Contains(said, "by the next") {
		t.Errorf("it ended by %s (%s) and says %q", reason, why, said)
	}
	last.Closes(cmd)
	hostless(t, dir)
}

// TestRunEndsWithEditor: without the setting, and where the next window would not
// find it, an agent ends with the window; so does a server whose agents do nothing.
func TestRunEndsWithEditor(t *testing.T) {
	for name, more := range map[string]e2e.Object{
		"not set":      {"runs.outliveEditor": false},
		"not attached": {"mcp.attach": false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"runs.outliveEditor": true}, more)
			r, cmd := e2e.Mortal(t, dir)
			c := r.Agent("write a.txt changed\nhang", nil)
			e2e.Until(t, "it never wrote", func() bool { return len(r.Queued()) == 1 })
			r.Closes(cmd)
			hostless(t, dir)
			c.Rig = e2e.WorldIn(t, dir)
			if reason, _, _ := c.Stopped(1); reason != told.Interrupted {
				t.Errorf("it ended by %s", reason)
			}
			c.IsQueued("a.txt")
		})
	}
	t.Run("idle", func(t *testing.T) {
		dir := outliving(t, map[string]string{"a.txt": "a\n"})
		r, cmd := e2e.Mortal(t, dir)
		r.Agent("say something", nil).Stopped(1)
		r.Closes(cmd)
		hostless(t, dir)
	})
}

// TestRunsOfWindows: a second window, and one of another folder of the same server,
// have servers of their own.
func TestRunsOfWindows(t *testing.T) {
	dir := outliving(t, map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n"})
	first, cmd := e2e.Mortal(t, dir)
	c := first.Agent("say begun"+waits, nil)
	e2e.Until(t, "it never began", func() bool { return c.Info().State == told.Running })
	second, other := e2e.Mortal(t, dir)
	if err := second.ExecuteCommand(t.Context(), "sidecar.agent.runs", nil, nil); err == nil || !strings.Contains(err.Error(), "another process drives the agents of this folder") {
		t.Errorf("a second window is told %v", err)
	}
	second.Closes(other)
	for _, e := range c.History() {
		if e.Kind == told.RunEnd {
			t.Errorf("a second window ended the run: %+v", e)
		}
	}
	first.Closes(cmd)
	within, other := e2e.Mortal(t, filepath.Join(dir, "sub"))
	if list := within.List(); len(list) != 0 {
		t.Errorf("a window of another folder has %+v", list)
	}
	within.Closes(other)
	if g := hostIn(t, dir); g.Kind != attach.Left {
		t.Errorf("the server is %+v", g)
	}
	letGo(t, dir)
	hostless(t, dir)
}
