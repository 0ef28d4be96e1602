package acp_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestAgentsOverACP: the real agents, driven by their own profiles, leave the disk as it
// is; what they do by whatever tool is pending, and goes to the disk as they had it.
// They ask about commands alone, have our tools, and go on when they were killed.
func TestAgentsOverACP(t *testing.T) {
	slow.Test(t)
	for _, agent := range clients.Agents {
		t.Run(agent.Name, func(t *testing.T) {
			agent.Find(t)
			d := drive(t, agent, agent.Name)
			d.Works()
			d.Stops()
			d.IsAccepted()
			d.IsRemembered()
		})
	}
}

// TestAgentsOneName: an agent that an adapter drives is called as in a terminal, or as in
// earlier releases, and works by the adapter that was installed for it.
func TestAgentsOneName(t *testing.T) {
	slow.Test(t)
	for _, agent := range clients.Agents[:2] {
		t.Run(agent.Name, func(t *testing.T) {
			agent.FindInstalled(t)
			d := drive(t, agent, agent.Name+"-acp")
			if run := d.List()[0]; run.Agent != agent.Name {
				t.Errorf("the run's agent is %s", run.Agent)
			}
			d.Works()
		})
	}
}

// drive starts a run with an agent by a name, of which the user's settings say something. Its
// editor has more folders open.
func drive(t *testing.T, agent clients.Agent, name string, more ...string) *e2e.Driven {
	t.Helper()
	program.ServerAnywhere(t)
	dir := e2e.WorldProject(t, "overlay", map[string]string{
		"a.txt": "one\ntwo\n", "b.txt": "b\n", "old/c.txt": "c\nc\nc\n", ".env": "TOKEN=hidden-from-agents\n",
	}, e2e.Object{"toolPermissions": e2e.Object{"run_command": "ask"}, "agents": e2e.Object{agent.Name: e2e.Object{}}})
	model := agent.Start(t, dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	r := e2e.RunIn(t, dir)
	if len(more) > 0 {
		r.Folders(more, nil)
		e2e.Until(t, "the other folders never were there", func() bool { return r.Tool("list_directory", e2e.Object{"path": filepath.Base(more[0])}).OK })
	}
	if res := r.Tool("edit_file", e2e.Object{"path": filepath.Join(dir, "a.txt"), "search": "two", "replace": "pending"}); !res.OK {
		t.Fatal(res.Content)
	}
	d := &e2e.Driven{Conversation: r.Agent("Do as planned.", e2e.Object{"agent": name}), Model: model, Does: e2e.Hands[agent.Name]}
	t.Cleanup(func() {
		if t.Failed() {
			for _, e := range d.History() {
				t.Logf("%.600s", fmt.Sprintf("%s %s %s %s %+v %s", e.Time.Format("05.000"), e.Kind, e.Reason, e.Text, e.Call, e.Raw))
			}
		}
	})
	return d
}

// TestAgentsOverACPInFolders: the real agents that take further directories edit in the other
// folder of a workspace with their own tools, unasked as in the first, also when they were
// started again.
func TestAgentsOverACPInFolders(t *testing.T) {
	slow.Test(t)
	for _, agent := range clients.Agents[:3] {
		t.Run(agent.Name, func(t *testing.T) {
			agent.Find(t)
			web := filepath.Join(e2e.Project(t, map[string]string{"web/a.txt": "one\nof web\n"}), "web")
			d := drive(t, agent, agent.Name, web)
			want := []string{filepath.Base(d.Dir) + "/a.txt"}
			for _, name := range d.WorksIn(web) {
				want = append(want, "web/"+name)
			}
			d.IsQueued(want...)
			if got := d.File("a.txt"); strings.Contains(got, "pending") {
				t.Errorf("the disk has %q", got)
			}
		})
	}
}
