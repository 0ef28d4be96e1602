package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// does is what the model of an agent has it do with its own tools.
type does struct {
	read, edit, write func(turn *clients.Turn, path string)
	shell             func(turn *clients.Turn, line string)
	asks              bool // before a command
	ends              bool // its turn, when that is denied
	forgets           bool // what was said, when it is started again in the minute in which that began
}

// hands are the agents' own tools. The edit makes ONE of one, the new file has the
// line "written".
var hands = map[string]does{
	"claude-acp": {
		read: func(turn *clients.Turn, path string) { turn.CallOwn("Read", object{"file_path": path}) },
		edit: func(turn *clients.Turn, path string) {
			turn.CallOwn("Edit", object{"file_path": path, "old_string": "one", "new_string": "ONE"})
		},
		write: func(turn *clients.Turn, path string) {
			turn.CallOwn("Write", object{"file_path": path, "content": "written\n"})
		},
		shell: func(turn *clients.Turn, line string) {
			turn.CallOwn("Bash", object{"command": line, "description": "as planned"})
		},
		asks: true,
	},
	"codex-acp": {
		read: func(turn *clients.Turn, path string) { turn.CallOwn("exec_command", object{"cmd": "cat " + path}) },
		edit: func(turn *clients.Turn, path string) {
			turn.CallOwn("exec_command", object{"cmd": "sed -i s/one/ONE/ " + path})
		},
		write: func(turn *clients.Turn, path string) {
			turn.CallOwn("exec_command", object{"cmd": "echo written > " + path})
		},
		shell: func(turn *clients.Turn, line string) { turn.CallOwn("exec_command", object{"cmd": line}) },
	},
	"gemini": {
		read: func(turn *clients.Turn, path string) { turn.CallOwn("read_file", object{"file_path": path}) },
		edit: func(turn *clients.Turn, path string) {
			turn.CallOwn("replace", object{"file_path": path, "instruction": "as planned", "old_string": "one", "new_string": "ONE"})
		},
		write: func(turn *clients.Turn, path string) {
			turn.CallOwn("write_file", object{"file_path": path, "content": "written\n"})
		},
		shell:   func(turn *clients.Turn, line string) { turn.CallOwn("run_shell_command", object{"command": line}) },
		asks:    true,
		forgets: true,
	},
	"opencode": {
		read: func(turn *clients.Turn, path string) { turn.CallOwn("read", object{"filePath": path}) },
		edit: func(turn *clients.Turn, path string) {
			turn.CallOwn("edit", object{"filePath": path, "oldString": "one", "newString": "ONE"})
		},
		write: func(turn *clients.Turn, path string) {
			turn.CallOwn("write", object{"filePath": path, "content": "written\n"})
		},
		shell: func(turn *clients.Turn, line string) {
			turn.CallOwn("bash", object{"command": line, "description": "as planned"})
		},
		asks: true,
		ends: true,
	},
}

// driven is a run of a real agent whose model the test plays.
type driven struct {
	*conversation
	model *clients.Model
	does
}

// turn waits until the agent asks its model. What it asks people on the way is
// answered with the option of a kind.
func (d *driven) turn(kind string) *clients.Turn {
	d.t.Helper()
	turn := d.next(kind, 0)
	if turn == nil {
		d.t.Fatal("the agent fails")
	}
	return turn
}

// next is turn, for an agent that has failed so often. It is nil when it fails again.
func (d *driven) next(kind string, failed int) (turn *clients.Turn) {
	d.t.Helper()
	until(d.t, "the agent does not ask its model", func() bool {
		select {
		case turn = <-d.model.Turns():
			return true
		case <-time.After(50 * time.Millisecond): // the agent needs the processors more than we do
			d.permit(kind)
			return d.failures() > failed
		}
	})
	return turn
}

// failures is how often the agent has failed.
func (d *driven) failures() (n int) {
	for _, e := range d.history() {
		if e.Kind == told.RunEnd && e.Reason == told.Failed {
			n++
		}
	}
	return n
}

// shellsToItsEnd has the agent run a command that ends it. What it asked before it was
// cancelled may come again, and is another request.
func (d *driven) shellsToItsEnd(line string) {
	d.t.Helper()
	until(d.t, "the agent is not ended", func() bool {
		select {
		case turn := <-d.model.Turns():
			d.shell(turn, line)
		case <-time.After(50 * time.Millisecond):
			d.permit(allow)
		}
		return d.list()[0].State == told.Idle
	})
}

// permit answers a question with the option of a kind, if one is open.
func (d *driven) permit(kind string) bool {
	d.t.Helper()
	i := d.list()[0]
	if i.WaitingFor == "" {
		return false
	}
	for _, q := range d.history() {
		if q.Kind == told.Asked && q.Question == i.WaitingFor {
			for _, o := range q.Options {
				if o.Kind == kind {
					d.answer(q, o.ID)
					return true
				}
			}
			d.t.Fatalf("it asks %+v", q)
		}
	}
	return false
}

// times is how often it has stopped after so many prompts.
func (d *driven) times(prompts int) int {
	if d.ends {
		return prompts + 1
	}
	return prompts
}

// questions are what people were asked about.
func (d *driven) questions() (about []string) {
	for _, e := range d.history() {
		if e.Kind == told.Asked {
			about = append(about, e.Call.Kind+" "+e.Text)
		}
	}
	return about
}

const (
	allow = "allow_once"
	deny  = "reject_once"
)

// TestAgentsOverACP: the real agents, driven by their own profiles, leave the disk as it
// is; what they do by whatever tool is pending, and goes to the disk as they had it.
// They ask about commands alone, have our tools, and go on when they were killed.
func TestAgentsOverACP(t *testing.T) {
	slow.Test(t)
	for _, agent := range clients.Agents {
		t.Run(agent.Name, func(t *testing.T) {
			d := drive(t, agent)
			d.works()
			d.stops()
			d.isAccepted()
			d.isRemembered()
		})
	}
}

// drive starts a run with an agent, of which the user's settings say something.
func drive(t *testing.T, agent clients.Agent) *driven {
	t.Helper()
	agent.Find(t)
	buildServer(t)
	dir := worldProject(t, "overlay", map[string]string{
		"a.txt": "one\ntwo\n", "b.txt": "b\n", "old/c.txt": "c\nc\nc\n", ".env": "TOKEN=hidden-from-agents\n",
	}, object{"toolPermissions": object{"run_command": "ask"}, "agents": object{agent.Name: object{}}})
	model := agent.Start(t, dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	r := runIn(t, dir)
	if res := r.call("edit_file", object{"path": "a.txt", "search": "two", "replace": "pending"}); !res.OK {
		t.Fatal(res.Content)
	}
	d := &driven{r.agent("Do as planned.", object{"agent": agent.Name}), model, hands[agent.Name]}
	t.Cleanup(func() {
		if t.Failed() {
			for _, e := range d.history() {
				t.Logf("%.600s", fmt.Sprintf("%s %s %s %s %+v %s", e.Time.Format("05.000"), e.Kind, e.Reason, e.Text, e.Call, e.Raw))
			}
		}
	})
	return d
}

// works has the agent work with its tools and with ours.
func (d *driven) works() {
	t := d.t
	d.read(d.turn(allow), filepath.Join(d.dir, "a.txt"))
	turn := d.turn(allow)
	if !strings.Contains(turn.Result, "pending") {
		t.Errorf("it reads %q", turn.Result)
	}
	d.edit(turn, filepath.Join(d.dir, "a.txt"))
	d.write(d.turn(allow), filepath.Join(d.dir, "new.txt"))
	d.shell(d.turn(allow), `cat .env; rm b.txt; mv old/c.txt moved.txt; printf '\000\377\r\n' > raw.bin; chmod +x new.txt`)
	turn = d.turn(allow)
	if strings.Contains(turn.Result, "hidden-from-agents") {
		t.Error("it saw a secret")
	}
	if d.asks {
		d.shell(turn, "echo no > denied.txt")
		if d.ends {
			until(t, "it does not ask", func() bool { return d.permit(deny) })
			d.stopped(1)
			d.tell("And?", nil)
		}
		turn = d.turn(deny)
	}
	if !slices.Contains(turn.Tools, "read_file") {
		t.Fatalf("of ours its model is offered %q", turn.Tools)
	}
	turn.Call("read_file", object{"path": "a.txt"})
	turn = d.turn(allow)
	if !strings.Contains(turn.Result, "ONE") || !strings.Contains(turn.Result, "pending") {
		t.Errorf("our tool shows it %q", turn.Result)
	}
	turn.Call("write_file", object{"path": "ours.txt", "content": "by a tool of ours\n"})
	d.shell(d.turn(allow), "cat ours.txt")
	turn = d.turn(allow)
	if !strings.Contains(turn.Result, "by a tool of ours") {
		t.Errorf("of what our tool wrote it sees %q", turn.Result)
	}
	turn.Call("write_file", object{"path": "refused.txt", "content": "no\n"})
	turn = d.turn(allow)
	command[object](d.rig, "sidecar.review.reject", object{"uris": []string{uri(d.rig, "refused.txt")}, "reason": "keep it short"})
	turn.Call("read_file", object{"path": "a.txt"})
	turn = d.turn(allow)
	if !strings.Contains(turn.Result, "keep it short") {
		t.Errorf("of the reason it reads %q", turn.Result)
	}
	turn.End()
	if reason, why, said := d.stopped(d.times(1)); reason != told.Done || !strings.HasSuffix(said, "Done.") {
		t.Fatalf("it ended by %s (%s) and says %q", reason, why, said)
	}
	for _, about := range d.questions() {
		if !d.asks || !strings.HasPrefix(about, "execute ") {
			t.Errorf("people were asked about %s", about)
		}
	}
	if n := len(d.questions()); d.asks && n < 2 { // some run by themselves what only reads
		t.Errorf("people were asked %d times: %q", n, d.questions())
	}
	d.isQueued("a.txt", "b.txt", "moved.txt", "new.txt", "ours.txt", "raw.bin")
	if got := d.file("a.txt") + d.file("b.txt") + d.file("old/c.txt"); got != "one\ntwo\nb\nc\nc\nc\n" {
		t.Errorf("the disk has %q", got)
	}
}

// stops has it cancelled, and killed, after which it goes on.
func (d *driven) stops() {
	t := d.t
	d.tell("And more.", nil)
	d.turn(allow) // its model never answers
	command[struct{}](d.rig, "sidecar.agent.cancel", object{"run": d.run})
	if reason, why, _ := d.stopped(d.times(2)); reason != told.Interrupted {
		t.Fatalf("cancelled, it ended by %s: %s", reason, why)
	}
	d.tell("End.", nil)
	d.shellsToItsEnd("echo last > last.txt; kill -9 -1")
	if reason, why, _ := d.stopped(d.times(3)); reason != told.Failed {
		t.Fatalf("killed, it ended by %s: %s", reason, why)
	}
	defer func() { command[struct{}](d.rig, "sidecar.agent.close", object{"run": d.run}) }()
	events := d.history()
	began := events[slices.IndexFunc(events, func(e told.Event) bool { return e.Reason == "ready" })].Time
	again := time.Now()
	d.tell("Go on.", nil)
	turn := d.next(allow, 1)
	if turn == nil {
		if _, why, _ := d.stopped(d.times(4)); !d.forgets || why == "" || again.Sub(began) > time.Minute {
			t.Errorf("started again after %s, it fails: %s", again.Sub(began), why)
		}
		return
	}
	if turn.Result == "" {
		t.Error("started again, it does not know what was before")
	}
	d.shell(turn, "cat a.txt last.txt; ls")
	if turn = d.next(allow, 1); turn == nil {
		t.Fatal("it goes on, and fails")
	}
	if !strings.Contains(turn.Result, "ONE\npending\nlast\n") || strings.Contains(turn.Result, "b.txt") {
		t.Errorf("started again, it sees %q", turn.Result)
	}
	turn.End()
	if reason, why, _ := d.stopped(d.times(4)); reason != told.Done {
		t.Fatalf("it ended by %s: %s", reason, why)
	}
}

// isRemembered has another run go on with the conversation, once the agent has listed
// it: that run and its model know what was before.
func (d *driven) isRemembered() {
	t := d.t
	i := d.list()[0]
	for _, a := range command[struct{ Agents []server.AgentInfo }](d.rig, "sidecar.agent.list", object{}).Agents {
		if a.Name == i.Agent && !slices.Contains(a.Can, "list") {
			d.refuses("sidecar.agent.sessions", object{"agent": i.Agent}, "no list of its conversations")
			return
		}
	}
	list := command[server.AgentSessions](d.rig, "sidecar.agent.sessions", object{"agent": i.Agent}).Sessions
	if len(list) != 1 || list[0].ID != i.Ref || list[0].Title == "" || list[0].UpdatedAt == nil {
		t.Errorf("it remembers %+v, want %s", list, i.Ref)
	}
	d.refuses("sidecar.agent.run", object{"agent": i.Agent, "resume": "4c3b9f4e-9e53-4c3c-8a43-33c6b9f8a2f0"}, "sidecar.agent.sessions lists")
	begun := command[struct{ Run string }](d.rig, "sidecar.agent.run", object{"agent": i.Agent, "resume": i.Ref, "prompt": "Do you remember?"})
	later := &driven{&conversation{rig: d.rig, run: begun.Run}, d.model, d.does}
	turn := later.turn(allow)
	if turn.Result == "" {
		t.Error("resumed, its model does not know what was before")
	}
	turn.End()
	if reason, why, _ := later.stopped(1); reason != told.Done {
		t.Errorf("resumed, it ended by %s: %s", reason, why)
	}
	history := later.history()
	behind := slices.IndexFunc(history, func(e told.Event) bool { return e.Reason == told.Resumed })
	if !slices.ContainsFunc(history[:max(behind, 0)], func(e told.Event) bool { return e.Role == "user" && strings.Contains(e.Text, "Do as planned.") }) {
		t.Errorf("the run does not know what was before: %+v", history)
	}
}

// isAccepted accepts all, byte for byte.
func (d *driven) isAccepted() {
	t := d.t
	if got := d.file("a.txt"); got != "one\ntwo\n" {
		t.Errorf("the disk has %q", got)
	}
	if res := d.accept(nil); len(res.Failed) != 0 {
		t.Errorf("accept: %+v", res)
	}
	for name, want := range map[string]string{
		"a.txt": "ONE\npending\n", "new.txt": "written\n", "moved.txt": "c\nc\nc\n", "raw.bin": "\x00\xff\r\n", "ours.txt": "by a tool of ours\n", "last.txt": "last\n",
	} {
		if got := d.file(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"b.txt", "old/c.txt", "denied.txt", "refused.txt"} {
		if _, err := os.Lstat(filepath.Join(d.dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if info, err := os.Stat(filepath.Join(d.dir, "new.txt")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("new.txt: %v, %v", info, err)
	}
}
