package app_test

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
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// waits keeps an agent at work until a file is there.
const waits = "\nrun until [ -e go ]; do sleep 0.05; done\n"

func outliving(t *testing.T, files map[string]string, more ...object) (dir string) {
	t.Helper()
	return agentProject(t, files, append(more, object{"runs.outliveEditor": true})...)
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
	until(t, "a server is still there", func() bool {
		_, err := attach.Find(t.Context(), dir)
		return errors.Is(err, attach.ErrNone)
	})
}

// closes closes the window: the process that the editor has started ends well.
func (r *rig) closes(cmd *exec.Cmd) {
	r.t.Helper()
	if err := r.Shutdown(r.t.Context()); err != nil {
		r.t.Errorf("the window was closed: %v", err)
	}
	if s := cmd.ProcessState; s == nil || s.ExitCode() != 0 {
		r.t.Errorf("the server of the window ended with %v", s)
	}
}

// TestRunOutlivesEditor: an agent works on when the window closes, and the next
// window of the folder has its run, its questions to come and its edits.
func TestRunOutlivesEditor(t *testing.T) {
	dir := outliving(t, map[string]string{"a.txt": "a\n", "open.txt": "on disk\n"})
	first, cmd := mortal(t, dir)
	c := first.agent("write a.txt changed"+waits+"tool read_file {\"path\": \"open.txt\"}\nwrite b.txt after\nsay done", nil)
	until(t, "it never wrote", func() bool { return len(first.queued()) == 1 })
	serving := hostIn(t, dir)
	if serving.Kind != attach.Editor || serving.PID == cmd.Process.Pid {
		t.Errorf("it is served by %+v, which the editor has started", serving)
	}
	seen := c.history()
	first.closes(cmd)
	if g := hostIn(t, dir); g.Kind != attach.Left || g.PID != serving.PID {
		t.Errorf("without an editor: %+v, want process %d", g, serving.PID)
	}
	if out, err := exec.CommandContext(t.Context(), buildServer(t), "agent", "--root", dir, "runs").CombinedOutput(); err != nil || !strings.Contains(string(out), "running") {
		t.Errorf("a command line is told %q (%v)", out, err)
	}

	second, cmd := mortal(t, dir)
	if g := hostIn(t, dir); g.Kind != attach.Editor || g.PID != serving.PID {
		t.Errorf("with the next editor: %+v, want process %d", g, serving.PID)
	}
	c.rig = second
	if i := c.info(); i.State != told.Running {
		t.Errorf("the next window has it as %+v", i)
	}
	for i, e := range c.history()[:len(seen)] {
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
	letGo(t, dir)
	if reason, why, said := c.stopped(1); reason != told.Done || !strings.Contains(said, "not saved") || !strings.HasSuffix(said, "done\n") {
		t.Errorf("it ended by %s (%s) and says %q", reason, why, said)
	}
	second.isQueued("a.txt", "b.txt")
	command[struct{}](second, "sidecar.review.accept", nil)
	for name, want := range map[string]string{"a.txt": "changed", "b.txt": "after"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v)", name, got, err)
		}
	}
	c.tell("say more", nil)
	if reason, _, said := c.stopped(2); reason != told.Done || !strings.HasSuffix(said, "more\n") {
		t.Errorf("prompted by the next window, it ended by %s and says %q", reason, said)
	}
	second.closes(cmd)
	hostless(t, dir) // nothing works any more
}

// TestRunOutlivesAlone: the process that outlives its editor ends with the agent's
// work; what it did waits for the next window.
func TestRunOutlivesAlone(t *testing.T) {
	dir := outliving(t, map[string]string{"a.txt": "a\n"})
	r, cmd := mortal(t, dir)
	c := r.agent("say begun"+waits+"write b.txt after", nil)
	c.tell("write c.txt queued", nil)
	until(t, "it never began", func() bool { return c.info().State == told.Running })
	pid := hostIn(t, dir).PID
	if err := cmd.Process.Kill(); err != nil { // as an editor does that waits no longer
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	until(t, "the server never noticed", func() bool { return hostIn(t, dir).Kind == attach.Left })
	letGo(t, dir)
	hostless(t, dir)
	until(t, "its process stays", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	next := worldIn(t, dir)
	c.rig = next
	if reason, why, _ := c.stopped(2); reason != told.Done {
		t.Errorf("it ended by %s (%s)", reason, why)
	}
	next.isQueued("b.txt", "c.txt")
}

// TestRunAsksNextEditor: what is asked while no window is there, the next one answers.
func TestRunAsksNextEditor(t *testing.T) {
	dir := outliving(t, map[string]string{"a.txt": "a\n"}, object{"toolPermissions": object{"run_command": "ask"}})
	r, cmd := mortal(t, dir)
	c := r.agent("permit execute make it\ntool run_command {\"command\": \"echo by the next\"}\nsay done", nil)
	q := c.asked()
	r.closes(cmd)
	next, cmd := mortal(t, dir, func(e *fakeeditor.Editor) { // whose user looks at no question
		e.Answer("window/showMessageRequest", func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	c.rig = next
	if again := c.asked(); again.Question != q.Question || again.Text != q.Text {
		t.Errorf("it asked %+v and asks %+v", q, again)
	}
	c.answer(q, "yes")
	next.closes(cmd) // while the tool's question waits, or is asked
	last, cmd := mortal(t, dir, func(e *fakeeditor.Editor) { e.Choose("Allow") })
	c.rig = last
	if reason, why, said := c.stopped(1); reason != told.Done || !strings.Contains(said, "permitted: yes") || !strings.Contains(said, "by the next") {
		t.Errorf("it ended by %s (%s) and says %q", reason, why, said)
	}
	last.closes(cmd)
	hostless(t, dir)
}

// TestRunEndsWithEditor: without the setting, and where the next window would not
// find it, an agent ends with the window; so does a server whose agents do nothing.
func TestRunEndsWithEditor(t *testing.T) {
	for name, more := range map[string]object{
		"not set":      {"runs.outliveEditor": false},
		"not attached": {"mcp.attach": false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := agentProject(t, map[string]string{"a.txt": "a\n"}, object{"runs.outliveEditor": true}, more)
			r, cmd := mortal(t, dir)
			c := r.agent("write a.txt changed\nhang", nil)
			until(t, "it never wrote", func() bool { return len(r.queued()) == 1 })
			r.closes(cmd)
			hostless(t, dir)
			c.rig = worldIn(t, dir)
			if reason, _, _ := c.stopped(1); reason != told.Interrupted {
				t.Errorf("it ended by %s", reason)
			}
			c.isQueued("a.txt")
		})
	}
	t.Run("idle", func(t *testing.T) {
		dir := outliving(t, map[string]string{"a.txt": "a\n"})
		r, cmd := mortal(t, dir)
		r.agent("say something", nil).stopped(1)
		r.closes(cmd)
		hostless(t, dir)
	})
}

// TestRunsOfWindows: a second window, and one of another folder of the same server,
// have servers of their own.
func TestRunsOfWindows(t *testing.T) {
	dir := outliving(t, map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n"})
	first, cmd := mortal(t, dir)
	c := first.agent("say begun"+waits, nil)
	until(t, "it never began", func() bool { return c.info().State == told.Running })
	second, other := mortal(t, dir)
	if err := second.ExecuteCommand(t.Context(), "sidecar.agent.runs", nil, nil); err == nil || !strings.Contains(err.Error(), "another process drives the agents of this folder") {
		t.Errorf("a second window is told %v", err)
	}
	second.closes(other)
	for _, e := range c.history() {
		if e.Kind == told.RunEnd {
			t.Errorf("a second window ended the run: %+v", e)
		}
	}
	first.closes(cmd)
	within, other := mortal(t, filepath.Join(dir, "sub"))
	if list := within.list(); len(list) != 0 {
		t.Errorf("a window of another folder has %+v", list)
	}
	within.closes(other)
	if g := hostIn(t, dir); g.Kind != attach.Left {
		t.Errorf("the server is %+v", g)
	}
	letGo(t, dir)
	hostless(t, dir)
}
