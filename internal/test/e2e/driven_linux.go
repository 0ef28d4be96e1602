package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
)

// Does is what the model of an agent has it do with its own tools.
type Does struct {
	Read, Edit, Write func(turn *clients.Turn, path string)
	Shell             func(turn *clients.Turn, line string)
	asks              bool // before a command
	ends              bool // its turn, when that is denied
	forgets           bool // what was said, when it is started again in the minute in which that began
}

// Hands are the agents' own tools. The edit makes ONE of one, the new file has the
// line "written".
var Hands = map[string]Does{
	"claude": {
		Read: func(turn *clients.Turn, path string) { turn.CallOwn("Read", Object{"file_path": path}) },
		Edit: func(turn *clients.Turn, path string) {
			turn.CallOwn("Edit", Object{"file_path": path, "old_string": "one", "new_string": "ONE"})
		},
		Write: func(turn *clients.Turn, path string) {
			turn.CallOwn("Write", Object{"file_path": path, "content": "written\n"})
		},
		Shell: func(turn *clients.Turn, line string) {
			turn.CallOwn("Bash", Object{"command": line, "description": "as planned"})
		},
		asks: true,
	},
	"codex": {
		Read: func(turn *clients.Turn, path string) { turn.CallOwn("exec_command", Object{"cmd": "cat " + path}) },
		Edit: func(turn *clients.Turn, path string) {
			turn.CallOwn("exec_command", Object{"cmd": "sed -i s/one/ONE/ " + path})
		},
		Write: func(turn *clients.Turn, path string) {
			turn.CallOwn("exec_command", Object{"cmd": "echo written > " + path})
		},
		Shell: func(turn *clients.Turn, line string) { turn.CallOwn("exec_command", Object{"cmd": line}) },
	},
	"gemini": {
		Read: func(turn *clients.Turn, path string) { turn.CallOwn("read_file", Object{"file_path": path}) },
		Edit: func(turn *clients.Turn, path string) {
			turn.CallOwn("replace", Object{"file_path": path, "instruction": "as planned", "old_string": "one", "new_string": "ONE"})
		},
		Write: func(turn *clients.Turn, path string) {
			turn.CallOwn("write_file", Object{"file_path": path, "content": "written\n"})
		},
		Shell:   func(turn *clients.Turn, line string) { turn.CallOwn("run_shell_command", Object{"command": line}) },
		asks:    true,
		forgets: true,
	},
	"opencode": {
		Read: func(turn *clients.Turn, path string) { turn.CallOwn("read", Object{"filePath": path}) },
		Edit: func(turn *clients.Turn, path string) {
			turn.CallOwn("edit", Object{"filePath": path, "oldString": "one", "newString": "ONE"})
		},
		Write: func(turn *clients.Turn, path string) {
			turn.CallOwn("write", Object{"filePath": path, "content": "written\n"})
		},
		Shell: func(turn *clients.Turn, line string) {
			turn.CallOwn("bash", Object{"command": line, "description": "as planned"})
		},
		asks: true,
		ends: true,
	},
}

// Driven is a run of a real agent whose model the test plays.
type Driven struct {
	*Conversation
	Model *clients.Model
	Does
}

// turn waits until the agent asks its model. What it asks people on the way is
// answered with the option of a kind.
func (d *Driven) turn(kind string) *clients.Turn {
	d.T.Helper()
	turn := d.next(kind, 0)
	if turn == nil {
		d.T.Fatal("the agent fails")
	}
	return turn
}

// next is turn, for an agent that has failed so often. It is nil when it fails again.
func (d *Driven) next(kind string, failed int) (turn *clients.Turn) {
	d.T.Helper()
	Until(d.T, "the agent does not ask its model", func() bool {
		select {
		case turn = <-d.Model.Turns():
			return true
		case <-time.After(50 * time.Millisecond): // the agent needs the processors more than we do
			d.permit(kind)
			return d.failures() > failed
		}
	})
	return turn
}

// failures is how often the agent has failed.
func (d *Driven) failures() (n int) {
	for _, e := range d.History() {
		if e.Kind == told.RunEnd && e.Reason == told.Failed {
			n++
		}
	}
	return n
}

// shellsToItsEnd has the agent run a command that ends it. What it asked before it was
// cancelled may come again, and is another request.
func (d *Driven) shellsToItsEnd(line string) {
	d.T.Helper()
	Until(d.T, "the agent is not ended", func() bool {
		select {
		case turn := <-d.Model.Turns():
			d.Shell(turn, line)
		case <-time.After(50 * time.Millisecond):
			d.permit(allow)
		}
		return d.List()[0].State == told.Idle
	})
}

// permit answers a question with the option of a kind, if one is open.
func (d *Driven) permit(kind string) bool {
	d.T.Helper()
	i := d.List()[0]
	if i.WaitingFor == "" {
		return false
	}
	for _, q := range d.History() {
		if q.Kind == told.Asked && q.Question == i.WaitingFor {
			for _, o := range q.Options {
				if o.Kind == kind {
					d.Reply(q, o.ID)
					return true
				}
			}
			d.T.Fatalf("it asks %+v", q)
		}
	}
	return false
}

// times is how often it has stopped after so many prompts.
func (d *Driven) times(prompts int) int {
	if d.ends {
		return prompts + 1
	}
	return prompts
}

// questions are what people were asked about.
func (d *Driven) questions() (about []string) {
	for _, e := range d.History() {
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

// Works has the agent work with its tools and with ours.
func (d *Driven) Works() {
	t := d.T
	d.Read(d.turn(allow), filepath.Join(d.Dir, "a.txt"))
	turn := d.turn(allow)
	if !strings.Contains(turn.Result, "pending") {
		t.Errorf("it reads %q", turn.Result)
	}
	d.Edit(turn, filepath.Join(d.Dir, "a.txt"))
	d.Write(d.turn(allow), filepath.Join(d.Dir, "new.txt"))
	d.Shell(d.turn(allow), `cat .env; rm b.txt; mv old/c.txt moved.txt; printf '\000\377\r\n' > raw.bin; chmod +x new.txt`)
	turn = d.turn(allow)
	if strings.Contains(turn.Result, "hidden-from-agents") {
		t.Error("it saw a secret")
	}
	if d.asks {
		d.Shell(turn, "echo no > denied.txt")
		if d.ends {
			Until(t, "it does not ask", func() bool { return d.permit(deny) })
			d.Stopped(1)
			d.Tell("And?", nil)
		}
		turn = d.turn(deny)
	}
	if !slices.Contains(turn.Tools, "read_file") {
		t.Fatalf("of ours its model is offered %q", turn.Tools)
	}
	turn.Call("read_file", Object{"path": "a.txt"})
	turn = d.turn(allow)
	if !strings.Contains(turn.Result, "ONE") || !strings.Contains(turn.Result, "pending") {
		t.Errorf("our tool shows it %q", turn.Result)
	}
	turn.Call("write_file", Object{"path": "ours.txt", "content": "by a tool of ours\n"})
	d.Shell(d.turn(allow), "cat ours.txt")
	turn = d.turn(allow)
	if !strings.Contains(turn.Result, "by a tool of ours") {
		t.Errorf("of what our tool wrote it sees %q", turn.Result)
	}
	turn.Call("write_file", Object{"path": "refused.txt", "content": "no\n"})
	turn = d.turn(allow)
	Command[Object](d.Rig, "sidecar.review.reject", Object{"uris": []string{URI(d.Rig, "refused.txt")}, "reason": "keep it short"})
	turn.Call("read_file", Object{"path": "a.txt"})
	turn = d.turn(allow)
	if !strings.Contains(turn.Result, "keep it short") {
		t.Errorf("of the reason it reads %q", turn.Result)
	}
	turn.End()
	if reason, why, said := d.Stopped(d.times(1)); reason != told.Done || !strings.HasSuffix(said, "Done.") {
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
	d.IsQueued("a.txt", "b.txt", "moved.txt", "new.txt", "ours.txt", "raw.bin")
	if got := d.File("a.txt") + d.File("b.txt") + d.File("old/c.txt"); got != "one\ntwo\nb\nc\nc\nc\n" {
		t.Errorf("the disk has %q", got)
	}
}

// Stops has it cancelled, and killed, after which it goes on.
func (d *Driven) Stops() {
	t := d.T
	d.Tell("And more.", nil)
	d.turn(allow) // its model never answers
	Command[struct{}](d.Rig, "sidecar.agent.cancel", Object{"run": d.Run})
	if reason, why, _ := d.Stopped(d.times(2)); reason != told.Interrupted {
		t.Fatalf("cancelled, it ended by %s: %s", reason, why)
	}
	d.Tell("End.", nil)
	d.shellsToItsEnd("echo last > last.txt; kill -9 -1")
	if reason, why, _ := d.Stopped(d.times(3)); reason != told.Failed {
		t.Fatalf("killed, it ended by %s: %s", reason, why)
	}
	defer func() { Command[struct{}](d.Rig, "sidecar.agent.close", Object{"run": d.Run}) }()
	events := d.History()
	began := events[slices.IndexFunc(events, func(e told.Event) bool { return e.Reason == "ready" })].Time
	again := time.Now()
	d.Tell("Go on.", nil)
	turn := d.next(allow, 1)
	if turn == nil {
		if _, why, _ := d.Stopped(d.times(4)); !d.forgets || why == "" || again.Sub(began) > time.Minute {
			t.Errorf("started again after %s, it fails: %s", again.Sub(began), why)
		}
		return
	}
	if turn.Result == "" {
		t.Error("started again, it does not know what was before")
	}
	d.Shell(turn, "cat a.txt last.txt; ls")
	if turn = d.next(allow, 1); turn == nil {
		t.Fatal("it goes on, and fails")
	}
	if !strings.Contains(turn.Result, "ONE\npending\nlast\n") || strings.Contains(turn.Result, "b.txt") {
		t.Errorf("started again, it sees %q", turn.Result)
	}
	turn.End()
	if reason, why, _ := d.Stopped(d.times(4)); reason != told.Done {
		t.Fatalf("it ended by %s: %s", reason, why)
	}
}

// IsRemembered has another run go on with the conversation, once the agent has listed
// it: that run and its model know what was before.
func (d *Driven) IsRemembered() {
	t := d.T
	i := d.List()[0]
	for _, a := range Command[struct{ Agents []agents.Info }](d.Rig, "sidecar.agent.list", Object{}).Agents {
		if a.Name == i.Agent && !slices.Contains(a.Can, "list") {
			d.Refuses("sidecar.agent.sessions", Object{"agent": i.Agent}, "no list of its conversations")
			return
		}
	}
	list := Command[agents.EarlierPage](d.Rig, "sidecar.agent.sessions", Object{"agent": i.Agent}).Sessions
	if len(list) != 1 || list[0].ID != i.Ref || list[0].Title == "" || list[0].UpdatedAt == nil {
		t.Errorf("it remembers %+v, want %s", list, i.Ref)
	}
	d.Refuses("sidecar.agent.run", Object{"agent": i.Agent, "resume": "4c3b9f4e-9e53-4c3c-8a43-33c6b9f8a2f0"}, "sidecar.agent.sessions lists")
	begun := Command[struct{ Run string }](d.Rig, "sidecar.agent.run", Object{"agent": i.Agent, "resume": i.Ref, "prompt": "Do you remember?"})
	later := &Driven{&Conversation{Rig: d.Rig, Run: begun.Run}, d.Model, d.Does}
	turn := later.turn(allow)
	if turn.Result == "" {
		t.Error("resumed, its model does not know what was before")
	}
	turn.End()
	if reason, why, _ := later.Stopped(1); reason != told.Done {
		t.Errorf("resumed, it ended by %s: %s", reason, why)
	}
	history := later.History()
	behind := slices.IndexFunc(history, func(e told.Event) bool { return e.Reason == told.Resumed })
	if !slices.ContainsFunc(history[:max(behind, 0)], func(e told.Event) bool { return e.Role == "user" && strings.Contains(e.Text, "Do as planned.") }) {
		t.Errorf("the run does not know what was before: %+v", history)
	}
}

// IsAccepted accepts all, byte for byte.
func (d *Driven) IsAccepted() {
	t := d.T
	if got := d.File("a.txt"); got != "one\ntwo\n" {
		t.Errorf("the disk has %q", got)
	}
	if res := d.Accept(nil); len(res.Failed) != 0 {
		t.Errorf("accept: %+v", res)
	}
	for name, want := range map[string]string{
		"a.txt": "ONE\npending\n", "new.txt": "written\n", "moved.txt": "c\nc\nc\n", "raw.bin": "\x00\xff\r\n", "ours.txt": "by a tool of ours\n", "last.txt": "last\n",
	} {
		if got := d.File(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"b.txt", "old/c.txt", "denied.txt", "refused.txt"} {
		if _, err := os.Lstat(filepath.Join(d.Dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if info, err := os.Stat(filepath.Join(d.Dir, "new.txt")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("new.txt: %v, %v", info, err)
	}
}

// WorksIn has the agent read, edit and make files of a folder beside its own, and go on
// there when it was killed. Nobody is asked about that. It returns what then is pending there.
func (d *Driven) WorksIn(dir string) (pending []string) {
	t := d.T
	t.Helper()
	d.Read(d.turn(deny), filepath.Join(dir, "a.txt"))
	turn := d.turn(deny)
	if !strings.Contains(turn.Result, "of web") {
		t.Errorf("it reads %q", turn.Result)
	}
	d.Edit(turn, filepath.Join(dir, "a.txt"))
	d.Write(d.turn(deny), filepath.Join(dir, "new.txt"))
	d.turn(deny).End()
	if reason, why, _ := d.Stopped(1); reason != told.Done {
		t.Fatalf("it ended by %s: %s", reason, why)
	}
	if n := d.questions(); len(n) > 0 {
		t.Errorf("people were asked about %q", n)
	}
	pending = []string{"a.txt", "new.txt"}
	if d.forgets {
		return pending
	}
	d.Tell("End.", nil)
	d.shellsToItsEnd("kill -9 -1")
	if reason, why, _ := d.Stopped(2); reason != told.Failed {
		t.Fatalf("killed, it ended by %s: %s", reason, why)
	}
	d.Tell("Go on.", nil)
	d.Write(d.next(deny, 1), filepath.Join(dir, "again.txt"))
	d.next(deny, 1).End()
	if reason, why, _ := d.Stopped(3); reason != told.Done {
		t.Fatalf("started again, it ended by %s: %s", reason, why)
	}
	return []string{"a.txt", "again.txt", "new.txt"}
}
