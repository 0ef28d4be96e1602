package app_test

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// scripted is the agent of internal/test/acpagent, built once for all tests.
var scripted = sync.OnceValues(func() (string, error) {
	bin, err := built()
	if err != nil {
		return "", err
	}
	bin = filepath.Join(filepath.Dir(bin), "acpagent")
	out, err := exec.Command("go", "build", "-trimpath", "-o", bin, "github.com/sidecar-ls/sidecar-ls/internal/test/acpagent").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return bin, nil
})

// agentRig is a project whose user has the scripted agent.
func agentRig(t *testing.T, files map[string]string, more ...object) *rig {
	t.Helper()
	return worldIn(t, agentProject(t, files, more...))
}

func agentProject(t *testing.T, files map[string]string, more ...object) (dir string) {
	t.Helper()
	bin, err := scripted()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	env := []string{"ACPAGENT_SIGN_IN", "ACPAGENT_DEAD", "ACPAGENT_FORGETS", "ACPAGENT_LISTS"}
	return worldProject(t, "overlay", files, append(more, object{"agents": object{
		"shell":    object{"program": "sh"},
		"scripted": object{"program": bin, "acp": []string{}, "env": env},
		"mute":     object{"program": bin},
		"absent":   object{"program": "no-such-agent", "acp": []string{}},
	}})...)
}

// conversation is a run as the tests follow it.
type conversation struct {
	*rig
	run     string
	session string
}

func (r *rig) agent(prompt string, more object) *conversation {
	r.t.Helper()
	args := object{"agent": "scripted", "prompt": prompt, "consent": true}
	for k, v := range more {
		args[k] = v
	}
	c := &conversation{rig: r, run: command[struct{ Run string }](r, "sidecar.agent.run", args).Run}
	for _, i := range c.list() {
		if i.Run == c.run {
			c.session = i.Session
		}
	}
	return c
}

type listed struct {
	told.Info
	Files  int `json:"pending"`
	Queued int `json:"queued"`
}

func (r *rig) list() []listed {
	r.t.Helper()
	return command[struct{ Runs []listed }](r, "sidecar.agent.runs", object{"all": true}).Runs
}

func (c *conversation) tell(text string, more object) {
	c.t.Helper()
	args := object{"run": c.run, "text": text}
	for k, v := range more {
		args[k] = v
	}
	command[struct{}](c.rig, "sidecar.agent.prompt", args)
}

func (c *conversation) history() []told.Event {
	c.t.Helper()
	return command[struct{ Events []told.Event }](c.rig, "sidecar.agent.history", object{"run": c.run}).Events
}

// stopped waits until the agent has stopped so often, and returns the last reason, why
// that is so, and what it has said.
func (c *conversation) stopped(times int) (reason, why, said string) {
	c.t.Helper()
	until(c.t, "the agent never stopped", func() bool {
		n := 0
		said = ""
		for _, e := range c.history() {
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

// asked waits for a question that is open.
func (c *conversation) asked() (q told.Event) {
	c.t.Helper()
	until(c.t, "nothing was asked", func() bool {
		open := map[string]told.Event{}
		for _, e := range c.history() {
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

func (c *conversation) answer(q told.Event, answer string) {
	c.t.Helper()
	command[struct{}](c.rig, "sidecar.agent.answer", object{"run": c.run, "question": q.Question, "answer": answer})
}

func uri(r *rig, name string) string { return workspace.FileURI(filepath.Join(r.dir, name)) }

// TestAgentList: what there is, what can't be driven and why, and what is to be allowed.
func TestAgentList(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	list := command[struct {
		Agents []struct {
			Name, Kind, Why, Version string
			Available, Consented     bool
			Can, Sees                []string
		}
	}](r, "sidecar.agent.list", object{}).Agents
	got := map[string]string{}
	for _, a := range list {
		data, _ := json.Marshal(a)
		got[a.Name] = string(data)
	}
	for name, want := range map[string]string{
		"scripted": `"Kind":"acp","Why":"","Version":"","Available":true,"Consented":false,"Can":[]`,
		"mute":     `"Kind":"program"`,
		"absent":   `no-such-agent is not on PATH`,
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: %s is not in %s", name, want, got[name])
		}
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.agent.run", object{"agent": "scripted"}, nil); err == nil || !strings.Contains(err.Error(), "not allowed yet") {
		t.Errorf("not allowed: %v", err)
	}
	for args, want := range map[string]string{
		`{"agent": "mute", "consent": true}`:                           "sidecar-ls run -- ",
		`{"agent": "nobody", "consent": true}`:                         "no such agent",
		`{"consent": true}`:                                            "no language model is in use",
		`{"agent": "scripted", "consent": true, "mode": "nonesuch"}`:   "mode",
		`{"agent": "scripted", "consent": true, "session": "/"}`:       "id",
		`{"agent": "scripted", "consent": true, "shadow": "nonesuch"}`: "shadow",
	} {
		var a object
		if err := json.Unmarshal([]byte(args), &a); err != nil {
			t.Fatal(err)
		}
		if err := r.ExecuteCommand(t.Context(), "sidecar.agent.run", a, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if runs := r.list(); len(runs) != 0 {
		t.Errorf("there are runs: %+v", runs)
	}
}

// TestAgentWorks: an agent that writes by itself, by us and by our tools, and asks; all
// that it does is pending, and it sees what its session sees.
func TestAgentWorks(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", "c.txt": "c\n", ".env": "TOKEN=hidden-from-agents\n"})
	c := r.agent(strings.Join([]string{
		"say hello",
		"run sed -i s/two/TWO/ a.txt; rm b.txt; cat .env",
		"fsread a.txt",
		`fswrite c.txt by us\n`,
		"run cat c.txt",
		"fsread ../outside",
		`fswrite .git/config x`,
		`tool write_file {"path": "d.txt", "content": "by a tool\n"}`,
		"run cat d.txt",
		"term cat c.txt; echo t > t.txt; exit 3",
		"permit edit a.txt",
		"permit edit /etc/passwd",
		"permit execute echo allowed by the settings",
		"think hm",
		"plan one|two",
	}, "\n"), nil)
	reason, why, said := c.stopped(1)
	if reason != told.Done || why != "" {
		t.Errorf("it ended by %s: %s", reason, why)
	}
	for _, want := range []string{
		"hello\n", "one\nTWO\n", "written\nby us\n", "outside of the workspace", "by a tool\n", "by us\n(exit code 3)", "permitted: yes\npermitted: no\npermitted: yes\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	if strings.Contains(said, "hidden-from-agents") {
		t.Error("it saw a secret")
	}
	r.isQueued("a.txt", "b.txt", "c.txt", "d.txt", "t.txt")
	if got := r.file("a.txt") + r.file("b.txt") + r.file("c.txt"); got != "one\ntwo\nb\nc\n" {
		t.Errorf("the disk has %q", got)
	}
	if i := r.list()[0]; i.State != told.Idle || i.Files != 5 || i.Queued != 0 || i.Agent != "scripted" || i.Title != "say hello" {
		t.Errorf("it is listed as %+v", i)
	}
	kinds := map[string]bool{}
	for _, e := range c.history() {
		kinds[e.Kind] = true
	}
	for _, kind := range []string{told.RunStart, told.StepStart, told.Text, told.Thought, told.Plan, told.CallProposed, told.CallStarted, told.CallOutput, told.CallFinished, told.CallDecided, told.RunEnd} {
		if !kinds[kind] {
			t.Errorf("no %s was told", kind)
		}
	}

	// What is decided reaches it, in its world and in words.
	command[struct{}](r, "sidecar.review.reject", object{"uris": []string{uri(r, "a.txt")}, "reason": "keep it small"})
	command[struct{}](r, "sidecar.review.accept", object{"uris": []string{uri(r, "c.txt")}})
	c.tell("run cat a.txt c.txt", nil)
	if _, _, said := c.stopped(2); !strings.Contains(said, "one\ntwo\nby us\n") || !strings.Contains(said, "keep it small") {
		t.Errorf("after the decisions it says %q", said)
	}
	if st := command[struct{ State string }](r, "sidecar.agent.close", object{"run": c.run}).State; st != "ended" {
		t.Errorf("closed, it is %s", st)
	}
	r.isQueued("b.txt", "d.txt", "t.txt")
	if err := r.ExecuteCommand(t.Context(), "sidecar.agent.prompt", object{"run": c.run, "text": "more"}, nil); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("told more after its end: %v", err)
	}
}

// TestAgentPermissions: what the policy leaves to people is asked of them, and answered once.
func TestAgentPermissions(t *testing.T) {
	dir := agentProject(t, map[string]string{"tool.sh": "echo 2\n"}, object{"toolPermissions": object{"run_command": "ask"}})
	r := serveBy(t, dir, fakeeditor.Options{}, buildServer(t))
	r.mode("review")
	c := r.agent("permit execute make install\npermit execute make again\nterm bash tool.sh\nterm bash tool.sh\ntermenv echo not", nil)
	for _, answer := range []string{"yes", "no", "allow", "deny", "deny"} {
		q := c.asked()
		if strings.Contains(q.Text, "not") && !strings.Contains(q.Text, "GIT_SSH_COMMAND='touch evil'") {
			t.Errorf("it asks %q", q.Text)
		}
		if i := c.list()[0]; i.State != told.Waiting || i.WaitingFor != q.Question {
			t.Errorf("it is %+v", i)
		}
		if err := r.ExecuteCommand(t.Context(), "sidecar.agent.answer", object{"run": c.run, "question": q.Question, "answer": "perhaps"}, nil); err == nil || !strings.Contains(err.Error(), "is no answer") {
			t.Errorf("a bad answer: %v", err)
		}
		c.answer(q, answer)
		if err := r.ExecuteCommand(t.Context(), "sidecar.agent.answer", object{"run": c.run, "question": q.Question, "answer": answer}, nil); err == nil || !strings.Contains(err.Error(), "is open") {
			t.Errorf("answered twice: %v", err)
		}
	}
	if _, _, said := c.stopped(1); said != "permitted: yes\npermitted: no\n2\n(exit code 0)\nerror: {\"code\":-32602,\"message\":\"the command is not run: the user did not allow it\"}\nerror: {\"code\":-32602,\"message\":\"the command is not run: the user did not allow it\"}\n" {
		t.Errorf("it says %q", said)
	}
}

// TestAgentAsksByMessage: an editor that takes no events is asked with a message.
func TestAgentAsksByMessage(t *testing.T) {
	dir := agentProject(t, map[string]string{"a.txt": "a\n"}, object{"toolPermissions": object{"run_command": "ask"}})
	r := serveBy(t, dir, fakeeditor.Options{}, buildServer(t))
	r.mode("review")
	r.Choose("Deny")
	c := r.agent("permit execute make it", nil)
	if _, _, said := c.stopped(1); said != "permitted: no\n" {
		t.Errorf("it says %q", said)
	}
	for _, e := range c.history() {
		if e.Kind == told.Answered && (e.By != "editor" || e.Answer != "no") {
			t.Errorf("it was answered %+v", e)
		}
	}
}

// TestAgentEvents: an editor that takes events is told of a run as it goes on, in order.
// Only parts of a message may be missing of which the whole has come.
func TestAgentEvents(t *testing.T) {
	dir := agentProject(t, map[string]string{"a.txt": "a\n"})
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Events = true
	r := serveBy(t, dir, fakeeditor.Options{Capabilities: can}, buildServer(t))
	r.mode("review")
	c := r.agent("say one\nrun echo two\nsay three", nil)
	c.stopped(1)
	var got []told.Event
	if err := r.Await(t.Context(), "the end of the run", func(rec *fakeeditor.Record) bool {
		got = nil
		for _, m := range rec.Notifications {
			var e struct {
				Type    string `json:"type"`
				Session string `json:"session"`
				told.Event
			}
			if m.Method == "sidecar/event" && json.Unmarshal(m.Params, &e) == nil && e.Type == "agent" {
				if e.Run != c.run || e.Session != c.session {
					t.Errorf("an event is of %s in %s", e.Run, e.Session)
				}
				got = append(got, e.Event)
			}
		}
		return len(got) > 0 && got[len(got)-1].Kind == told.StateNow && got[len(got)-1].State == told.Idle && len(got) > 10
	}); err != nil {
		t.Fatal(err)
	}
	text, kinds := "", []string{}
	for i, e := range got {
		if i > 0 && e.Seq <= got[i-1].Seq {
			t.Errorf("after %d comes %d", got[i-1].Seq, e.Seq)
		}
		if e.Kind == told.Text && e.Role == "assistant" {
			text += e.Text
		}
		if e.Delta == "" {
			kinds = append(kinds, e.Kind)
		}
	}
	var settled []string
	for _, e := range c.history() {
		settled = append(settled, e.Kind)
	}
	if !slices.Equal(kinds, settled) || text != "one\ntwo\n\nthree\n" {
		t.Errorf("it was told %q and %v, and the history has %v", text, kinds, settled)
	}
}

// TestAgentStops: cancelled, deaf to that, dead, and started again with what it knew.
func TestAgentStops(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("run echo half > half.txt\nhang", nil)
	until(t, "it never hung", func() bool { return len(r.queued()) == 1 })
	c.tell("say later", nil)
	if st := command[struct{ State string }](r, "sidecar.agent.cancel", object{"run": c.run}).State; st != "paused" {
		t.Errorf("cancelled with a prompt that waits, it is %s", st)
	}
	if reason, _, _ := c.stopped(1); reason != told.Interrupted {
		t.Errorf("it ended by %s", reason)
	}
	command[struct{}](r, "sidecar.agent.resume", object{"run": c.run})
	if _, _, said := c.stopped(2); !strings.HasSuffix(said, "later\n") {
		t.Errorf("it says %q", said)
	}
	c.tell("write last.txt x\ndie 7", nil)
	reason, why, _ := c.stopped(3)
	if reason != told.Failed || !strings.Contains(why, "exit code 7") || !strings.Contains(why, "its last words") {
		t.Errorf("it ended by %s: %s", reason, why)
	}
	r.isQueued("half.txt", "last.txt")
	c.tell("run cat half.txt", nil)
	reason, why, said := c.stopped(4)
	if reason != told.Done || !strings.HasSuffix(said, "half\n\n") || strings.Contains(said, "said before") {
		t.Errorf("started again, it ended by %s (%s) and says %q", reason, why, said)
	}
	c.tell("deaf", nil)
	until(t, "it never worked", func() bool { return c.list()[0].State == told.Running })
	command[struct{}](r, "sidecar.agent.cancel", object{"run": c.run})
	if reason, _, _ := c.stopped(5); reason != told.Interrupted {
		t.Errorf("deaf, it ended by %s", reason)
	}
	command[struct{}](r, "sidecar.agent.close", object{"run": c.run})
}

// TestAgentFails: one that can't be started is told as such, with what it said.
func TestAgentFails(t *testing.T) {
	t.Setenv("ACPAGENT_DEAD", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("say hello", nil)
	reason, why, _ := c.stopped(1)
	if reason != told.Failed || !strings.Contains(why, "exit code 3") || !strings.Contains(why, "this agent does not work") {
		t.Errorf("it ended by %s: %s", reason, why)
	}
}

// TestAgentSignsIn: an agent that wants that asks how, in its run.
func TestAgentSignsIn(t *testing.T) {
	t.Setenv("ACPAGENT_SIGN_IN", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("say hello", nil)
	q := c.asked()
	if len(q.Options) != 1 || q.Options[0].ID != "key" {
		t.Errorf("it asks %+v", q)
	}
	c.answer(q, "key")
	if reason, why, said := c.stopped(1); said != "hello\n" {
		t.Errorf("it ended by %s: %s, and says %q", reason, why, said)
	}
}

// TestAgentsTogether: eight at once, each in a session of its own: nothing is lost or
// mixed.
func TestAgentsTogether(t *testing.T) {
	files := map[string]string{}
	for _, c := range "abcdefgh" {
		files[string(c)+".txt"] = "old\n"
	}
	r := agentRig(t, files)
	var all []*conversation
	for _, n := range "abcdefgh" {
		name := string(n)
		all = append(all, r.agent("run echo "+name+" > "+name+".txt; echo new > "+name+"-new.txt\nfswrite "+name+`-us.txt us\n`+"\nrun ls *-new.txt", nil))
	}
	for i, c := range all {
		name := string("abcdefgh"[i])
		if reason, why, said := c.stopped(1); reason != told.Done || !strings.Contains(said, name+"-new.txt\n") {
			t.Errorf("%s ended by %s (%s) and says %q", name, reason, why, said)
		}
	}
	edits := r.pending().Edits
	if len(edits) != 24 {
		t.Errorf("%d files are pending", len(edits))
	}
	for _, e := range edits {
		for _, h := range e.Hunks {
			if want := all[e.Path[0]-'a'].session; len(h.Sessions) != 1 || h.Sessions[0] != want {
				t.Errorf("%s is of %v, want %s", e.Path, h.Sessions, want)
			}
		}
	}
}

// mortal is a server that the test ends.
func mortal(t *testing.T, dir string, before ...func(*fakeeditor.Editor)) (*rig, *exec.Cmd) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), buildServer(t), "serve", "--log-level", "error")
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
	return &rig{e, t, dir}, cmd
}

// TestAgentAfterRestart: a run whose server was killed is told as interrupted, its edits
// are there, and it goes on where it was.
func TestAgentAfterRestart(t *testing.T) {
	dir := agentProject(t, map[string]string{"a.txt": "a\n"})
	r, cmd := mortal(t, dir)
	c := r.agent("write a.txt changed\nhang", nil)
	until(t, "it never wrote", func() bool { return len(r.queued()) == 1 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &conversation{rig: worldIn(t, r.dir), run: c.run}
	again.isQueued("a.txt")
	reason, _, _ := again.stopped(1)
	if i := again.list()[0]; reason != told.Interrupted || i.Attached {
		t.Errorf("it ended by %s and is %+v", reason, i)
	}
	again.tell("run cat a.txt", nil)
	if reason, why, said := again.stopped(2); reason != told.Done || !strings.HasSuffix(said, "changed\n") || strings.Contains(said, "said before") {
		t.Errorf("it ended by %s (%s) and says %q", reason, why, said)
	}
}

// TestAgentChooses: the agent's own modes are listed, told, and chosen among.
func TestAgentChooses(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("say hello", nil)
	c.stopped(1)
	if i := c.list()[0]; i.AgentMode != "ask" || i.Model != "" {
		t.Errorf("it begins as %+v", i)
	}
	if got := command[struct{ AgentMode string }](r, "sidecar.agent.choose", object{"run": c.run, "agentMode": "code"}); got.AgentMode != "code" {
		t.Errorf("it chose %+v", got)
	}
	if i := c.list()[0]; i.AgentMode != "code" {
		t.Errorf("then it is %+v", i)
	}
	for args, want := range map[string]object{
		`no mode "fast"; it has ask, code`: {"run": c.run, "agentMode": "fast"},
		`no model "large"`:                 {"run": c.run, "model": "large"},
		"no such run":                      {"run": "nonesuch", "model": "large"},
	} {
		if err := r.ExecuteCommand(t.Context(), "sidecar.agent.choose", want, nil); err == nil || !strings.Contains(err.Error(), args) {
			t.Errorf("%v: %v, want %q", want, err, args)
		}
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.agent.run", object{"agent": "scripted", "model": "large", "prompt": "say hello"}, nil); err != nil {
		t.Fatal(err)
	}
	d := &conversation{rig: r, run: r.list()[1].Run}
	if reason, why, _ := d.stopped(1); reason != told.Failed || !strings.Contains(why, `no model "large"`) {
		t.Errorf("with a model that it has not, it ended by %s: %s", reason, why)
	}
}

// TestAgentTitle: a run that began without a prompt is called after the first one.
func TestAgentTitle(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("", nil)
	if i := c.list()[0]; i.Title != "scripted" || i.State != told.Idle {
		t.Errorf("it begins as %+v", i)
	}
	c.tell("say hello\nsay more", nil)
	c.stopped(1)
	c.tell("say another thing", nil)
	c.stopped(2)
	if i := c.list()[0]; i.Title != "say hello" {
		t.Errorf("it is called %q", i.Title)
	}
}

// TestAgentForgets: one that can't go on says so when its server was another.
func TestAgentForgets(t *testing.T) {
	t.Setenv("ACPAGENT_FORGETS", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("say hello", nil)
	c.stopped(1)
	c.tell("die 1", nil)
	c.stopped(2)
	c.tell("say more", nil)
	if reason, why, _ := c.stopped(3); reason != told.Failed || !strings.Contains(why, "start a new run") {
		t.Errorf("it ended by %s: %s", reason, why)
	}
}

// TestAgentMessages: pending changes know after which request they were made, also
// after a restart, and lead to it in a document that follows the conversation.
func TestAgentMessages(t *testing.T) {
	r, _ := mortal(t, agentProject(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt": "b\n"}))
	r.mode("review")
	c := r.agent("run sed -i s/1/one/ a.txt", nil)
	c.stopped(1)
	c.tell("run sed -i s/9/nine/ a.txt; echo new > b.txt\nsay the second answer", nil)
	c.stopped(2)
	if res := r.call("write_file", object{"path": "mine.txt", "content": "not the agent's"}); !res.OK {
		t.Fatal(res.Content)
	}
	check := func(r *rig) {
		t.Helper()
		got := map[string][]int{}
		for _, e := range r.pending().Edits {
			for _, h := range e.Hunks {
				n := 0
				if m := h.Message; m != nil {
					n = m.Number
					if m.Run != c.run || m.Seq == 0 || !strings.HasPrefix(m.Text, "run sed") {
						t.Errorf("the message of %s is %+v", e.Path, m)
					}
				}
				got[e.Path] = append(got[e.Path], n)
			}
		}
		if want := map[string][]int{"a.txt": {1, 2}, "b.txt": {2}, "mine.txt": {0}}; !reflect.DeepEqual(got, want) {
			t.Errorf("the requests of the changes are %v, want %v", got, want)
		}
	}
	check(r)
	var lenses []lsp.CodeLens
	if err := r.Call(t.Context(), "textDocument/codeLens", object{"textDocument": object{"uri": uri(r, "a.txt")}}, &lenses); err != nil {
		t.Fatal(err)
	}
	var titles []string
	var show *lsp.Command
	for _, l := range lenses {
		titles = append(titles, l.Command.Title)
		if l.Command.Title == "Message 2" {
			show = l.Command
		}
	}
	if show == nil || slices.Contains(titles, "Message 3") || !slices.Contains(titles, "Message 1") {
		t.Fatalf("the lenses are %v", titles)
	}
	var res struct {
		URI   string `json:"uri"`
		Shown bool   `json:"shown"`
	}
	if err := r.ExecuteCommand(t.Context(), show.Command, show.Arguments[0], &res); err != nil || !res.Shown {
		t.Fatalf("shown: %+v, %v", res, err)
	}
	read := func() string {
		u, err := url.Parse(res.URI)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(u.Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if text := read(); !strings.Contains(text, "# run sed -i s/1/one/ a.txt\n\n## You\n\nrun sed -i s/1/one/ a.txt\n\n## scripted\n\n") || !strings.Contains(text, "the second answer") {
		t.Errorf("the document is\n%s", text)
	}
	c.tell("say the third answer", nil)
	c.stopped(3)
	until(t, "the document did not follow", func() bool { return strings.Contains(read(), "the third answer") })
	command[struct{}](r, "sidecar.agent.close", object{"run": c.run})
	check(r)
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := worldIn(t, r.dir)
	again.list()
	check(again)
}
