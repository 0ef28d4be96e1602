package border_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

// attempt tries to let one effect leave a session.
type attempt struct {
	name  string
	kind  effects.Kind
	waits func(policy.Mode) bool // whether it can wait for review; nil: never
	do    func(mark string)
	left  func(mark string) bool
	take  func() // a person accepts what waits
}

func waitsAlways(policy.Mode) bool { return true }

func waitsInBatches(m policy.Mode) bool { return m.Batch }

// against makes an attempt in every mode, with a person who says no and one who says yes, and
// compares what becomes of it with the table. Attempts that may succeed are the controls.
func (a attempt) against(r *e2e.Rig) {
	t := r.T
	t.Helper()
	tried, held, controls := 0, 0, 0
	for _, m := range policy.Modes() {
		want := effects.Rule(m, a.kind, a.waits != nil && a.waits(m))
		for _, answer := range []string{"Deny", "Allow"} {
			r.Mode(m.Name)
			r.Choose(answer, answer)
			mark := strings.ToLower(m.Name + answer + strings.ReplaceAll(a.name, " ", ""))
			before := len(r.Asked())
			a.do(mark)
			asked, left := len(r.Asked()) > before, a.left(mark)
			passes := want == effects.Free || want == effects.Asked && answer == "Allow"
			if asked != (want == effects.Asked) || left != passes {
				t.Errorf("%s in %s, %s: the table says %s; asked: %v, left: %v", a.name, m.Name, answer, want, asked, left)
			} else if !passes {
				held++
			}
			if passes && left {
				controls++
			}
			if !passes {
				tried++
			}
			if want == effects.Reviewed {
				r.Choose("Allow", "Allow")
				a.take()
				if !a.left(mark) {
					t.Errorf("%s in %s: it was accepted, and is not there", a.name, m.Name)
				} else {
					controls++
				}
			}
		}
	}
	t.Logf("%s: %d of %d held, %d controls", a.name, held, tried, controls)
	if controls == 0 {
		t.Errorf("%s: no control", a.name)
	}
	for _, e := range e2e.Command[struct{ Effects []effects.Effect }](r, "sidecar.effects.list", e2e.Object{}).Effects {
		if e.Kind == a.kind {
			return
		}
	}
	t.Errorf("%s: nothing of the kind %s is written down", a.name, a.kind)
}

// there reports whether the workspace on the disk has a file.
func there(r *e2e.Rig, name string) bool {
	_, err := os.Stat(filepath.Join(r.Dir, name))
	return err == nil
}

func runs(r *e2e.Rig, line string) func(string) {
	return func(mark string) {
		r.Tool("run_command", e2e.Object{"command": strings.ReplaceAll(line, "MARK", mark)})
	}
}

// whole is a server whose worlds are complete.
func whole(t *testing.T, set e2e.Object) *e2e.Rig {
	t.Helper()
	slow.Test(t)
	r := serve(t, project(t, set))
	complete(r)
	return r
}

func TestTableFiles(t *testing.T) {
	r := whole(t, e2e.Object{})
	a := attempt{kind: effects.Files, waits: waitsAlways, left: func(mark string) bool { return there(r, mark) }, take: func() { r.Accept(e2e.Object{}) }}
	a.name, a.do = "a tool", func(mark string) { r.Tool("write_file", e2e.Object{"path": mark, "content": "x\n"}) }
	a.against(r)
	a.name, a.do = "a command", runs(r, "sh -c 'echo x > MARK'")
	a.against(r)
}

func TestTableOutput(t *testing.T) {
	r := whole(t, e2e.Object{})
	e2e.Write(t, filepath.Join(r.Dir, ".gitignore"), "dist/\n")
	attempt{
		name: "a build", kind: effects.Output, waits: waitsAlways, do: runs(r, "mkdir -p dist && echo x > dist/MARK"),
		left: func(mark string) bool { return there(r, "dist/"+mark) },
		take: func() { e2e.Command[e2e.Object](r, "sidecar.review.output", e2e.Object{"action": "accept"}) },
	}.against(r)
}

func TestTableGit(t *testing.T) {
	r := whole(t, e2e.Object{})
	a := attempt{
		kind: effects.Git, take: func() { r.Accept(e2e.Object{}) },
		left: func(mark string) bool {
			return strings.Contains(e2e.GitIn(t, r.Dir, "log", "--all", "--format=%s"), mark)
		},
	}
	a.name, a.waits = "a command", waitsAlways
	a.do = runs(r, "echo MARK >> a.txt && git -c user.name=A -c user.email=a@example.org commit -qam MARK")
	a.against(r)
	e2e.GitIn(t, r.Dir, "config", "user.name", "A")
	e2e.GitIn(t, r.Dir, "config", "user.email", "a@example.org")
	a.name, a.waits = "a tool", waitsInBatches
	a.do = func(mark string) {
		e2e.GitIn(t, r.Dir, "reset", "-q", "--hard")
		if strings.HasPrefix(mark, "audit") { // a commit waits for the files that wait
			r.Tool("write_file", e2e.Object{"path": "a.txt", "content": mark + "\n"})
		} else {
			e2e.Write(t, filepath.Join(r.Dir, "a.txt"), mark+"\n")
			e2e.GitIn(t, r.Dir, "add", "a.txt")
		}
		r.Tool("git_commit", e2e.Object{"message": mark})
	}
	a.against(r)
}

// TestTableNetwork: web tools are decided on by the table, and no command reaches a server of
// this machine in any mode.
func TestTableNetwork(t *testing.T) {
	r := whole(t, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow"}})
	s, seen := site(t)
	dial := dials(s)
	tried, held, controls := 0, 0, 0
	for _, m := range policy.Modes() {
		r.Mode(m.Name)
		want := effects.Rule(m, effects.Network, false)
		got := e2e.Command[dispatch.Explanation](r, "sidecar.policy.explain", e2e.Object{"name": "web_fetch", "arguments": e2e.Object{"url": "https://example.com/" + m.Name}})
		if len(got.Crosses) != 1 || got.Crosses[0].Kind != effects.Network || got.Crosses[0].Decision != want {
			t.Errorf("%s: the table says %s: %+v", m.Name, want, got.Crosses)
		} else if held++; want == effects.Free {
			controls++
		}
		tried += 2
		if res := r.Tool("run_command", e2e.Object{"command": dial}); strings.Contains(res.Content, "here is") || seen.Load() > 0 {
			t.Errorf("%s: a command reached a server: %s", m.Name, res.Content)
		} else {
			held++
		}
	}
	open := serve(t, project(t, e2e.Object{"sandbox.network": true, "toolPermissions": e2e.Object{"run_command": "allow"}}))
	if res := open.Tool("run_command", e2e.Object{"command": dial}); !strings.Contains(res.Content, "here is") {
		t.Errorf("the control: %s", res.Content)
	} else {
		controls++
	}
	t.Logf("the network: %d of %d held, %d controls", held, tried, controls)
}

func TestTablePort(t *testing.T) {
	r := whole(t, e2e.Object{})
	e2e.Asker(t, r.Dir)
	const port = 3000
	if res := r.Tool("run_command", e2e.Object{"command": fmt.Sprintf("./asker http 127.0.0.1:%d page", port), "background": true}); !res.OK {
		t.Fatal(res.Content)
	}
	ports := func() []string {
		var open []string
		for _, p := range e2e.Command[commands.PortList](r, "sidecar.session.ports", e2e.Object{}).Ports {
			open = append(open, p.Opened)
		}
		return open
	}
	e2e.Until(t, "nobody listens", func() bool { return len(ports()) == 1 })
	at := e2e.Object{"port": port}
	attempt{
		name: "a port", kind: effects.Port,
		do: func(string) { _ = r.ExecuteCommand(t.Context(), "sidecar.session.openPort", at, nil) },
		left: func(string) bool {
			opened := ports()[0] != ""
			if opened {
				e2e.Command[commands.PortURL](r, "sidecar.session.closePort", at)
			}
			return opened
		},
	}.against(r)
}

// TestTableProcess: a command where its world is not complete.
func TestTableProcess(t *testing.T) {
	r := whole(t, e2e.Object{})
	e2e.UserSettings(t, e2e.Object{"commands.world": "disk"})
	r = serve(t, r.Dir)
	attempt{
		name: "a command", kind: effects.Process, do: runs(r, "sh -c 'touch MARK'"),
		left: func(mark string) bool { return there(r, mark) },
	}.against(r)
}

// TestTableProgram: tools from outside.
func TestTableProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	set := e2e.Object{
		"mcp.servers":  e2e.Object{"theirs": e2e.Object{"command": self, "args": []string{e2e.MCPServerCommand}}},
		"tools.custom": []e2e.Object{{"name": "ours", "description": "A tool of ours.", "command": []string{"/bin/echo", "dropped"}, "input": e2e.Object{"type": "object", "properties": e2e.Object{}}}},
	}
	r := whole(t, set)
	if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "theirs"}); s.State != "connected" {
		t.Fatalf("%+v", s)
	}
	for name, want := range map[string]string{"mcp_theirs_env": "PATH=", "custom_ours": "dropped"} {
		said := ""
		attempt{
			name: name, kind: effects.Program, do: func(string) { said = r.Tool(name, e2e.Object{}).Content },
			left: func(string) bool { return strings.Contains(said, want) },
		}.against(r)
	}
}

func TestTableSetting(t *testing.T) {
	r := whole(t, e2e.Object{})
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json")
	n := 2000
	attempt{
		name: "a setting", kind: effects.Setting,
		do: func(string) { n++; r.Tool("update_setting", e2e.Object{"key": "result.maxBytes", "value": n}) },
		left: func(string) bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(text), fmt.Sprint(n))
		},
	}.against(r)
}
