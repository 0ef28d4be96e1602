package agents_test

import (
	"encoding/json"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// agentRig is a project whose user has the scripted agent.
func agentRig(t *testing.T, files map[string]string, more ...e2e.Object) *e2e.Rig {
	t.Helper()
	return e2e.WorldIn(t, e2e.AgentProject(t, files, more...))
}

// TestAgentList: what there is, what can't be driven and why, and what is to be allowed.
func TestAgentList(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	list := e2e.Command[struct {
		Agents []struct {
			Name, Kind, Why, Version string
			Available, Consented     bool
			Can, Sees                []string
		}
	}](r, "sidecar.agent.list", e2e.Object{}).Agents
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
	if err := r.ExecuteCommand(t.Context(), "sidecar.agent.run", e2e.Object{"agent": "scripted"}, nil); err == nil || !strings.Contains(err.Error(), "not allowed yet") {
		t.Errorf("not allowed: %v", err)
	}
	for args, want := range map[string]string{
		`{"agent": "mute", "consent": true}`:                           "sidecar-ls run -- ",
		`{"agent": "nobody", "consent": true}`:                         "no such agent",
		`{"consent": true}`:                                            "No model yet. Choose one: sidecar-ls setup model",
		`{"agent": "scripted", "consent": true, "mode": "nonesuch"}`:   "mode",
		`{"agent": "scripted", "consent": true, "session": "/"}`:       "id",
		`{"agent": "scripted", "consent": true, "shadow": "nonesuch"}`: "shadow",
	} {
		var a e2e.Object
		if err := json.Unmarshal([]byte(args), &a); err != nil {
			t.Fatal(err)
		}
		if err := r.ExecuteCommand(t.Context(), "sidecar.agent.run", a, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if runs := r.List(); len(runs) != 0 {
		t.Errorf("there are runs: %+v", runs)
	}
}

// TestAgentWorks: an agent that writes by itself, by us and by our tools, and asks; all
// that it does is pending, and it sees what its session sees.
func TestAgentWorks(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", "c.txt": "c\n", ".env": "TOKEN=hidden-from-agents\n"})
	c := r.Agent(strings.Join([]string{
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
	reason, why, said := c.Stopped(1)
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
	r.IsQueued("a.txt", "b.txt", "c.txt", "d.txt", "t.txt")
	if got := r.File("a.txt") + r.File("b.txt") + r.File("c.txt"); got != "one\ntwo\nb\nc\n" {
		t.Errorf("the disk has %q", got)
	}
	if i := r.List()[0]; i.State != told.Idle || i.Files != 5 || i.Queued != 0 || i.Agent != "scripted" || i.Title != "say hello" {
		t.Errorf("it is listed as %+v", i)
	}
	kinds := map[string]bool{}
	for _, e := range c.History() {
		kinds[e.Kind] = true
	}
	for _, kind := range []string{told.RunStart, told.StepStart, told.Text, told.Thought, told.Plan, told.CallProposed, told.CallStarted, told.CallOutput, told.CallFinished, told.CallDecided, told.RunEnd} {
		if !kinds[kind] {
			t.Errorf("no %s was told", kind)
		}
	}

	// What is decided reaches it, in its world and in words.
	e2e.Command[struct{}](r, "sidecar.review.reject", e2e.Object{"uris": []string{e2e.URI(r, "a.txt")}, "reason": "keep it small"})
	e2e.Command[struct{}](r, "sidecar.review.accept", e2e.Object{"uris": []string{e2e.URI(r, "c.txt")}})
	c.Tell("run cat a.txt c.txt", nil)
	if _, _, said := c.Stopped(2); !strings.Contains(said, "one\ntwo\nby us\n") || !strings.Contains(said, "keep it small") {
		t.Errorf("after the decisions it says %q", said)
	}
	if st := e2e.Command[struct{ State string }](r, "sidecar.agent.close", e2e.Object{"run": c.Run}).State; st != "ended" {
		t.Errorf("closed, it is %s", st)
	}
	r.IsQueued("b.txt", "d.txt", "t.txt")
	if err := r.ExecuteCommand(t.Context(), "sidecar.agent.prompt", e2e.Object{"run": c.Run, "text": "more"}, nil); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("told more after its end: %v", err)
	}
}

// TestAgentPermissions: what the policy leaves to people is asked of them, and answered once.
func TestAgentPermissions(t *testing.T) {
	dir := e2e.AgentProject(t, map[string]string{"tool.sh": "echo 2\n"}, e2e.Object{"toolPermissions": e2e.Object{"run_command": "ask"}})
	r := e2e.ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
	r.Mode("review")
	c := r.Agent("permit execute make install\npermit execute make again\nterm bash tool.sh\nterm bash tool.sh\ntermenv echo not", nil)
	for _, answer := range []string{"yes", "no", "allow", "deny", "deny"} {
		q := c.Asked()
		if strings.Contains(q.Text, "not") && !strings.Contains(q.Text, "GIT_SSH_COMMAND='touch evil'") {
			t.Errorf("it asks %q", q.Text)
		}
		if i := c.List()[0]; i.State != told.Waiting || i.WaitingFor != q.Question {
			t.Errorf("it is %+v", i)
		}
		if err := r.ExecuteCommand(t.Context(), "sidecar.agent.answer", e2e.Object{"run": c.Run, "question": q.Question, "answer": "perhaps"}, nil); err == nil || !strings.Contains(err.Error(), "is no answer") {
			t.Errorf("a bad answer: %v", err)
		}
		c.Reply(q, answer)
		if err := r.ExecuteCommand(t.Context(), "sidecar.agent.answer", e2e.Object{"run": c.Run, "question": q.Question, "answer": answer}, nil); err == nil || !strings.Contains(err.Error(), "is open") {
			t.Errorf("answered twice: %v", err)
		}
	}
	if _, _, said := c.Stopped(1); said != "permitted: yes\npermitted: no\n2\n(exit code 0)\nerror: {\"code\":-32602,\"message\":\"the command is not run: the user did not allow it\"}\nerror: {\"code\":-32602,\"message\":\"the command is not run: the user did not allow it\"}\n" {
		t.Errorf("it says %q", said)
	}
}

// TestAgentAsksByMessage: an editor that takes no events is asked with a message.
func TestAgentAsksByMessage(t *testing.T) {
	dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"toolPermissions": e2e.Object{"run_command": "ask"}})
	r := e2e.ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
	r.Mode("review")
	r.Choose("Deny")
	c := r.Agent("permit execute make it", nil)
	if _, _, said := c.Stopped(1); said != "permitted: no\n" {
		t.Errorf("it says %q", said)
	}
	for _, e := range c.History() {
		if e.Kind == told.Answered && (e.By != "editor" || e.Answer != "no") {
			t.Errorf("it was answered %+v", e)
		}
	}
}

// TestAgentEvents: an editor that takes events is told of a run as it goes on, in order.
// Only parts of a message may be missing of which the whole has come.
func TestAgentEvents(t *testing.T) {
	dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"})
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Events = true
	r := e2e.ServeBy(t, dir, fakeeditor.Options{Capabilities: can}, program.ServerAnywhere(t))
	r.Mode("review")
	c := r.Agent("say one\nrun echo two\nsay three", nil)
	c.Stopped(1)
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
				if e.Run != c.Run || e.Session != c.Session {
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
	for _, e := range c.History() {
		settled = append(settled, e.Kind)
	}
	if !slices.Equal(kinds, settled) || text != "one\ntwo\n\nthree\n" {
		t.Errorf("it was told %q and %v, and the history has %v", text, kinds, settled)
	}
}

// TestAgentStops: cancelled, deaf to that, dead, and started again with what it knew.
func TestAgentStops(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("run echo half > half.txt\nhang", nil)
	e2e.Until(t, "it never hung", func() bool { return len(r.Queued()) == 1 })
	c.Tell("say later", nil)
	if st := e2e.Command[struct{ State string }](r, "sidecar.agent.cancel", e2e.Object{"run": c.Run}).State; st != "paused" {
		t.Errorf("cancelled with a prompt that waits, it is %s", st)
	}
	if reason, _, _ := c.Stopped(1); reason != told.Interrupted {
		t.Errorf("it ended by %s", reason)
	}
	e2e.Command[struct{}](r, "sidecar.agent.resume", e2e.Object{"run": c.Run})
	if _, _, said := c.Stopped(2); !strings.HasSuffix(said, "later\n") {
		t.Errorf("it says %q", said)
	}
	c.Tell("write last.txt x\ndie 7", nil)
	reason, why, _ := c.Stopped(3)
	if reason != told.Failed || !strings.Contains(why, "exit code 7") || !strings.Contains(why, "its last words") {
		t.Errorf("it ended by %s: %s", reason, why)
	}
	r.IsQueued("half.txt", "last.txt")
	c.Tell("run cat half.txt", nil)
	reason, why, said := c.Stopped(4)
	if reason != told.Done || !strings.HasSuffix(said, "half\n\n") || strings.Contains(said, "said before") {
		t.Errorf("started again, it ended by %s (%s) and says %q", reason, why, said)
	}
	c.Tell("deaf", nil)
	e2e.Until(t, "it never worked", func() bool { return c.List()[0].State == told.Running })
	e2e.Command[struct{}](r, "sidecar.agent.cancel", e2e.Object{"run": c.Run})
	if reason, _, _ := c.Stopped(5); reason != told.Interrupted {
		t.Errorf("deaf, it ended by %s", reason)
	}
	e2e.Command[struct{}](r, "sidecar.agent.close", e2e.Object{"run": c.Run})
}

// TestAgentFails: one that can't be started is told as such, with what it said.
func TestAgentFails(t *testing.T) {
	t.Setenv("ACPAGENT_DEAD", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("say hello", nil)
	reason, why, _ := c.Stopped(1)
	if reason != told.Failed || !strings.Contains(why, "exit code 3") || !strings.Contains(why, "this agent does not work") {
		t.Errorf("it ended by %s: %s", reason, why)
	}
}

// TestAgentSignsIn: an agent that wants that asks how, in its run.
func TestAgentSignsIn(t *testing.T) {
	t.Setenv("ACPAGENT_SIGN_IN", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("say hello", nil)
	q := c.Asked()
	if len(q.Options) != 1 || q.Options[0].ID != "key" {
		t.Errorf("it asks %+v", q)
	}
	c.Reply(q, "key")
	if reason, why, said := c.Stopped(1); said != "hello\n" {
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
	var all []*e2e.Conversation
	for _, n := range "abcdefgh" {
		name := string(n)
		all = append(all, r.Agent("run echo "+name+" > "+name+".txt; echo new > "+name+"-new.txt\nfswrite "+name+`-us.txt us\n`+"\nrun ls *-new.txt", nil))
	}
	for i, c := range all {
		name := string("abcdefgh"[i])
		if reason, why, said := c.Stopped(1); reason != told.Done || !strings.Contains(said, name+"-new.txt\n") {
			t.Errorf("%s ended by %s (%s) and says %q", name, reason, why, said)
		}
	}
	edits := r.Pending().Edits
	if len(edits) != 24 {
		t.Errorf("%d files are pending", len(edits))
	}
	for _, e := range edits {
		for _, h := range e.Hunks {
			if want := all[e.Path[0]-'a'].Session; len(h.Sessions) != 1 || h.Sessions[0] != want {
				t.Errorf("%s is of %v, want %s", e.Path, h.Sessions, want)
			}
		}
	}
}

// TestAgentAfterRestart: a run whose server was killed is told as interrupted, its edits
// are there, and it goes on where it was.
func TestAgentAfterRestart(t *testing.T) {
	dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"})
	r, cmd := e2e.Mortal(t, dir)
	c := r.Agent("write a.txt changed\nhang", nil)
	e2e.Until(t, "it never wrote", func() bool { return len(r.Queued()) == 1 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &e2e.Conversation{Rig: e2e.WorldIn(t, r.Dir), Run: c.Run}
	again.IsQueued("a.txt")
	reason, _, _ := again.Stopped(1)
	if i := again.List()[0]; reason != told.Interrupted || i.Attached {
		t.Errorf("it ended by %s and is %+v", reason, i)
	}
	again.Tell("run cat a.txt", nil)
	if reason, why, said := again.Stopped(2); reason != told.Done || !strings.HasSuffix(said, "changed\n") || strings.Contains(said, "said before") {
		t.Errorf("it ended by %s (%s) and says %q", reason, why, said)
	}
}

// TestAgentChooses: the agent's own modes are listed, told, and chosen among.
func TestAgentChooses(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("say hello", nil)
	c.Stopped(1)
	if i := c.List()[0]; i.AgentMode != "ask" || i.Model != "" {
		t.Errorf("it begins as %+v", i)
	}
	if got := e2e.Command[struct{ AgentMode string }](r, "sidecar.agent.set", e2e.Object{"run": c.Run, "agentMode": "code"}); got.AgentMode != "code" {
		t.Errorf("it chose %+v", got)
	}
	if i := c.List()[0]; i.AgentMode != "code" {
		t.Errorf("then it is %+v", i)
	}
	for args, want := range map[string]e2e.Object{
		`no mode "fast"; it has ask, code`: {"run": c.Run, "agentMode": "fast"},
		`no model "large"`:                 {"run": c.Run, "model": "large"},
		"no such run":                      {"run": "nonesuch", "model": "large"},
	} {
		if err := r.ExecuteCommand(t.Context(), "sidecar.agent.choose", want, nil); err == nil || !strings.Contains(err.Error(), args) {
			t.Errorf("%v: %v, want %q", want, err, args)
		}
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.agent.run", e2e.Object{"agent": "scripted", "model": "large", "prompt": "say hello"}, nil); err != nil {
		t.Fatal(err)
	}
	d := &e2e.Conversation{Rig: r, Run: r.List()[1].Run}
	if reason, why, _ := d.Stopped(1); reason != told.Failed || !strings.Contains(why, `no model "large"`) {
		t.Errorf("with a model that it has not, it ended by %s: %s", reason, why)
	}
}

// TestAgentTitle: a run that began without a prompt is called after the first one.
func TestAgentTitle(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("", nil)
	if i := c.List()[0]; i.Title != "scripted" || i.State != told.Idle {
		t.Errorf("it begins as %+v", i)
	}
	c.Tell("say hello\nsay more", nil)
	c.Stopped(1)
	c.Tell("say another thing", nil)
	c.Stopped(2)
	if i := c.List()[0]; i.Title != "say hello" {
		t.Errorf("it is called %q", i.Title)
	}
}

// TestAgentForgets: one that can't go on says so when its server was another.
func TestAgentForgets(t *testing.T) {
	t.Setenv("ACPAGENT_FORGETS", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("say hello", nil)
	c.Stopped(1)
	c.Tell("die 1", nil)
	c.Stopped(2)
	c.Tell("say more", nil)
	if reason, why, _ := c.Stopped(3); reason != told.Failed || !strings.Contains(why, "start a new run") {
		t.Errorf("it ended by %s: %s", reason, why)
	}
}

// TestAgentMessages: pending changes know after which request they were made, also
// after a restart, and lead to it in a document that follows the conversation.
func TestAgentMessages(t *testing.T) {
	r, _ := e2e.Mortal(t, e2e.AgentProject(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt": "b\n"}))
	r.Mode("review")
	c := r.Agent("run sed -i s/1/one/ a.txt", nil)
	c.Stopped(1)
	c.Tell("run sed -i s/9/nine/ a.txt; echo new > b.txt\nsay the second answer", nil)
	c.Stopped(2)
	if res := r.Tool("write_file", e2e.Object{"path": "mine.txt", "content": "not the agent's"}); !res.OK {
		t.Fatal(res.Content)
	}
	check := func(r *e2e.Rig) {
		t.Helper()
		got := map[string][]int{}
		for _, e := range r.Pending().Edits {
			for _, h := range e.Hunks {
				n := 0
				if m := h.Message; m != nil {
					n = m.Number
					if m.Run != c.Run || m.Seq == 0 || !strings.HasPrefix(m.Text, "run sed") {
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
	if err := r.Call(t.Context(), "textDocument/codeLens", e2e.Object{"textDocument": e2e.Object{"uri": e2e.URI(r, "a.txt")}}, &lenses); err != nil {
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
	c.Tell("say the third answer", nil)
	c.Stopped(3)
	e2e.Until(t, "the document did not follow", func() bool { return strings.Contains(read(), "the third answer") })
	e2e.Command[struct{}](r, "sidecar.agent.close", e2e.Object{"run": c.Run})
	check(r)
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := e2e.WorldIn(t, r.Dir)
	again.List()
	check(again)
}
