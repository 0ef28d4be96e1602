package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// AgentLine runs `sidecar-ls agent` as a person without a terminal.
func AgentLine(t *testing.T, dir, in string, args ...string) (out, said string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.ServerAnywhere(t), append([]string{"agent", "--root", dir}, args...)...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// HadBefore asks the scripted agent what it had.
func (r *Rig) HadBefore(cursor string) agents.EarlierPage {
	r.T.Helper()
	return Command[agents.EarlierPage](r, "sidecar.agent.sessions", Object{"agent": "scripted", "cursor": cursor, "consent": true})
}

// Refuses checks that a command fails, with these words, and that no run is open
// after it, nor a session of an agent.
func (r *Rig) Refuses(name string, args Object, want string) {
	r.T.Helper()
	if err := r.ExecuteCommand(r.T.Context(), name, args, nil); err == nil || !strings.Contains(err.Error(), want) {
		r.T.Errorf("%s %v: %v, want %q", name, args, err, want)
	}
	for _, i := range r.List() {
		if i.State != told.Ended {
			r.T.Errorf("%s %v left %+v", name, args, i)
		}
	}
	r.NoSessions()
}

// NoSessions checks that no session of the scripted agent is open.
func (r *Rig) NoSessions() {
	r.T.Helper()
	for _, s := range Command[struct{ Sessions []struct{ ID string } }](r, "sidecar.session.list", Object{}).Sessions {
		if strings.HasPrefix(s.ID, "scripted-") {
			r.T.Errorf("the session %s is open", s.ID)
		}
	}
}

// Fork forks a run at its end.
func (c *Conversation) Fork() *Conversation {
	c.T.Helper()
	d := &Conversation{Rig: c.Rig, Run: Command[struct{ Run string }](c.Rig, "sidecar.agent.fork", Object{"run": c.Run}).Run}
	d.Session = d.Info().Session
	return d
}

// Info is the run as it is listed.
func (c *Conversation) Info() told.Info {
	c.T.Helper()
	for _, i := range c.List() {
		if i.Run == c.Run {
			return i.Info
		}
	}
	c.T.Fatalf("%s is not listed", c.Run)
	return told.Info{}
}

// NoFork checks that a fork fails, with these words, and leaves no run that is open.
func (r *Rig) NoFork(args Object, want string) {
	r.T.Helper()
	open := func() (n int) {
		for _, i := range r.List() {
			if i.State != told.Ended {
				n++
			}
		}
		return n
	}
	before := open()
	if err := r.ExecuteCommand(r.T.Context(), "sidecar.agent.fork", args, nil); err == nil || !strings.Contains(err.Error(), want) {
		r.T.Errorf("forked: %v, want %q", err, want)
	}
	if after := open(); after != before {
		r.T.Errorf("%d runs are open, and were %d", after, before)
	}
}

// AgentProject is WorldProject with the agent that does as its prompts say.
func AgentProject(t *testing.T, files map[string]string, more ...Object) (dir string) {
	t.Helper()
	bin := program.Agent(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	env := []string{"ACPAGENT_SIGN_IN", "ACPAGENT_DEAD", "ACPAGENT_FORGETS", "ACPAGENT_LISTS", "ACPAGENT_FOLDERS"}
	return WorldProject(t, "overlay", files, append(more, Object{"agents": Object{
		"shell":    Object{"program": "sh"},
		"scripted": Object{"program": bin, "acp": []string{}, "env": env},
		"mute":     Object{"program": bin},
		"absent":   Object{"program": "no-such-agent", "acp": []string{}},
	}})...)
}

// Conversation is a run as the tests follow it.
type Conversation struct {
	*Rig
	Run     string
	Session string
}

func (r *Rig) Agent(prompt string, more Object) *Conversation {
	r.T.Helper()
	args := Object{"agent": "scripted", "prompt": prompt, "consent": true}
	for k, v := range more {
		args[k] = v
	}
	c := &Conversation{Rig: r, Run: Command[struct{ Run string }](r, "sidecar.agent.run", args).Run}
	for _, i := range c.List() {
		if i.Run == c.Run {
			c.Session = i.Session
		}
	}
	return c
}

type Listed struct {
	told.Info
	Files  int `json:"pending"`
	Queued int `json:"queued"`
}

func (r *Rig) List() []Listed {
	r.T.Helper()
	return Command[struct{ Runs []Listed }](r, "sidecar.agent.runs", Object{"all": true}).Runs
}

func (c *Conversation) Tell(text string, more Object) {
	c.T.Helper()
	args := Object{"run": c.Run, "text": text}
	for k, v := range more {
		args[k] = v
	}
	Command[struct{}](c.Rig, "sidecar.agent.prompt", args)
}

func (c *Conversation) History() []told.Event {
	c.T.Helper()
	return Command[struct{ Events []told.Event }](c.Rig, "sidecar.agent.history", Object{"run": c.Run}).Events
}

// Stopped waits until the agent has stopped so often, and returns the last reason, why
// that is so, and what it has said.
func (c *Conversation) Stopped(times int) (reason, why, said string) {
	c.T.Helper()
	Until(c.T, "the agent never stopped", func() bool {
		n := 0
		said = ""
		for _, e := range c.History() {
			if e.Kind == told.RunEnd {
				n++
				reason, why = e.Reason, e.Text
			}
			if e.Kind == told.Text && e.Role == "assistant" {
				said += e.Text
			}
		}
		return n >= times
	})
	return reason, why, said
}

// Asked waits for a question that is open.
func (c *Conversation) Asked() (q told.Event) {
	c.T.Helper()
	Until(c.T, "nothing was asked", func() bool {
		open := map[string]told.Event{}
		for _, e := range c.History() {
			switch e.Kind {
			case told.Asked:
				open[e.Question] = e
			case told.Answered:
				delete(open, e.Question)
			}
		}
		for _, q = range open {
			return true
		}
		return false
	})
	return q
}

func (c *Conversation) Reply(q told.Event, answer string) {
	c.T.Helper()
	Command[struct{}](c.Rig, "sidecar.agent.answer", Object{"run": c.Run, "question": q.Question, "answer": answer})
}

func URI(r *Rig, name string) string { return workspace.FileURI(filepath.Join(r.Dir, name)) }

// Mortal is a server that the test ends.
func Mortal(t *testing.T, dir string, before ...func(*fakeeditor.Editor)) (*Rig, *exec.Cmd) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.ServerAnywhere(t), "serve", "--log-level", "error")
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range before {
		f(e)
	}
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &Rig{e, t, dir}, cmd
}

// Closes closes the window: the process that the editor has started ends well.
func (r *Rig) Closes(cmd *exec.Cmd) {
	r.T.Helper()
	if err := r.Shutdown(r.T.Context()); err != nil {
		r.T.Errorf("the window was closed: %v", err)
	}
	if s := cmd.ProcessState; s == nil || s.ExitCode() != 0 {
		r.T.Errorf("the server of the window ended with %v", s)
	}
}

// Running waits until the agent's newest call goes on; where its command runs in a
// terminal of ours, until that is known.
func (c *Conversation) Running(title, uri string) (call string) {
	c.T.Helper()
	Until(c.T, "no call goes on", func() bool {
		call = ""
		for _, e := range c.History() {
			switch {
			case e.Call == nil:
			case e.Kind == told.CallFinished && e.Call.ID == call:
				call = ""
			case e.Kind == told.CallStarted && e.Call.Title == title && strings.HasPrefix(e.Call.URI, uri):
				call = e.Call.ID
			}
		}
		return call != ""
	})
	return call
}

func (r *Rig) NoStop(args Object, want string) {
	r.T.Helper()
	if err := r.ExecuteCommand(r.T.Context(), "sidecar.agent.stop", args, nil); err == nil || !strings.Contains(err.Error(), want) {
		r.T.Errorf("stopping %v: %v, want %q", args, err, want)
	}
}

// Played is a project whose user has a language model that the test plays.
func Played(t *testing.T, files map[string]string, more ...Object) (dir string, model *clients.Model) {
	t.Helper()
	model = clients.NewModel()
	t.Cleanup(model.Close)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	profile := Object{"name": "played", "provider": "anthropic", "url": model.URL, "model": "scripted", "key": "sk-played-0123456789", "vision": true}
	return WorldProject(t, "overlay", files, append(more, Object{
		"backend.profiles": []Object{profile, {"name": "keyless", "provider": "anthropic", "url": model.URL, "model": "scripted", "keyEnv": "NO_SUCH_KEY"}},
		"backend.profile":  "played",
		"commands.ask":     "always",
	})...), model
}

// Next is the next request of our agent to its model.
func Next(t *testing.T, m *clients.Model) *clients.Turn {
	t.Helper()
	select {
	case turn := <-m.Turns():
		return turn
	case <-time.After(30 * time.Second):
		t.Fatal("the model was not asked")
		return nil
	}
}

var Ours = Object{"agent": "builtin"}

// Denies checks that a command fails, and says why.
func (r *Rig) Denies(name string, args Object, want string) {
	r.T.Helper()
	if err := r.ExecuteCommand(r.T.Context(), name, args, nil); err == nil || !strings.Contains(err.Error(), want) {
		r.T.Errorf("%s %v: %v, want %q", name, args, err, want)
	}
}

// Rewinds rewinds a run and returns the note of it.
func (c *Conversation) Rewinds(at int64, what string) (note told.Event) {
	c.T.Helper()
	Command[struct{}](c.Rig, "sidecar.agent.rewind", Object{"run": c.Run, "at": at, "what": what})
	for _, e := range c.History() {
		if e.Kind == told.Note && e.Reason == "rewound" {
			note = e
		}
	}
	return note
}

// Seen checks the texts that tools see; "": there is no such file.
func (r *Rig) Seen(want map[string]string) {
	r.T.Helper()
	for name, text := range want {
		got := r.Tool("read_file", Object{"path": name})
		if text == "" && got.Error.Code != "not_found" || text != "" && got.Content != text {
			r.T.Errorf("%s reads %q %+v, want %q", name, got.Content, got.Error, text)
		}
	}
}

// Plans are the lists that a run has told, each in a line.
func (c *Conversation) Plans() (all []string) {
	for _, e := range c.History() {
		if e.Kind != told.Plan {
			continue
		}
		var list []string
		for _, p := range e.Plan {
			list = append(list, p.Text+" "+p.Status)
		}
		all = append(all, strings.Join(list, "; "))
	}
	return all
}

// Committed makes a repository of a project, with all its files committed.
func Committed(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=A U Thor", "-c", "user.email=author@example.com", "commit", "-q", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// Talks are the requests of several agents at once: of whom each is says a word of its
// task.
type Talks struct {
	T     *testing.T
	Model *clients.Model
	held  []*clients.Turn
}

// spoken is a request without its tools, whose descriptions have words of all kinds. So has the
// prompt, by which a test can tell a sub-agent: what is looked for must not be in it by chance.
func spoken(t *testing.T, turn *clients.Turn) string {
	t.Helper()
	var parts map[string]json.RawMessage
	if err := json.Unmarshal([]byte(turn.Body), &parts); err != nil {
		t.Fatal(err)
	}
	delete(parts, "tools")
	text, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (k *Talks) Of(word string) *clients.Turn {
	k.T.Helper()
	for {
		for i, turn := range k.held {
			if strings.Contains(spoken(k.T, turn), word) {
				k.held = slices.Delete(k.held, i, i+1)
				return turn
			}
		}
		k.held = append(k.held, Next(k.T, k.Model))
	}
}

// Both are the requests of two runs that are about the same. Once one is answered, its
// run may ask again before the other run asks at all.
func (k *Talks) Both(word string) [2]*clients.Turn {
	k.T.Helper()
	return [2]*clients.Turn{k.Of(word), k.Of(word)}
}

// Children are the runs below a run.
func (c *Conversation) Children() (all []Listed) {
	c.T.Helper()
	for _, i := range c.List() {
		if i.Parent == c.Run {
			all = append(all, i)
		}
	}
	return all
}
