package shadow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// made is a shadow workspace as clients are told of it.
type made struct {
	ID, Path string
	Setup    *shadow.Setup
}

// furnished is a repository with an editor, where new shadow workspaces are set up.
type furnished struct {
	*e2e.Rig
	repo *gittest.Repo
}

// furnish serves a repository with settings of the user. Its lock file is in the commit.
func furnish(t *testing.T, set e2e.Object, files ...string) furnished {
	t.Helper()
	e2e.Home(t)
	repo := e2e.Repository(t, append([]string{".gitignore", "/marker\n/once\n/.env\n/local\n", "lock.json", "1\n", ".worktreeinclude", ".env\nlocal\n"}, files...)...)
	repo.Write(".env", "SECRET=1\n", "local", "base\n")
	whole := e2e.Object{"mode": "autonomous"}
	for k, v := range set {
		whole[k] = v
	}
	e2e.UserSettings(t, whole)
	return furnished{e2e.ServeBy(t, repo.Dir, fakeeditor.Options{}, program.ServerAnywhere(t)), repo}
}

func (f furnished) create(id string) made {
	f.T.Helper()
	return e2e.Command[made](f.Rig, "sidecar.shadow.create", e2e.Object{"id": id})
}

// setup is how it is with a shadow workspace, by the list.
func (f furnished) setup(id string) shadow.Setup {
	f.T.Helper()
	for _, s := range e2e.Command[struct{ Shadows []made }](f.Rig, "sidecar.shadow.list", nil).Shadows {
		if s.ID == id && s.Setup != nil {
			return *s.Setup
		}
	}
	return shadow.Setup{}
}

// is fails unless the setup is in that state, for a reason that has why.
func (f furnished) is(id string, state shadow.SetupState, why string) {
	f.T.Helper()
	if got := f.setup(id); got.State != state || !strings.Contains(got.Why, why) {
		f.T.Errorf("the setup of %s is %+v, want %s, %q", id, got, state, why)
	}
}

func (f furnished) read(m made, name string) string {
	data, err := os.ReadFile(filepath.Join(m.Path, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// TestSetup: a new shadow workspace is set up once, with the ignored files that it was given,
// and again where a lock file has changed; the gate has decided on each command.
func TestSetup(t *testing.T) {
	f := furnish(t, e2e.Object{"shadow.setup": []any{
		e2e.Object{"run": "cat local lock.json > marker; echo $SIDECAR_PORT_BASE >> marker", "when": []string{"lock.json"}},
		"echo x >> once",
	}})
	m := f.create("work")
	if m.Setup == nil || m.Setup.State != shadow.SetupDone || m.Setup.Next != "" {
		t.Fatalf("%+v", m.Setup)
	}
	marker := f.read(m, "marker")
	if f.read(m, ".env") != "SECRET=1\n" {
		t.Error("it has no .env")
	}
	if !strings.HasPrefix(marker, "base\n1\n2") || f.read(m, "once") != "x\n" {
		t.Errorf("marker %q, once %q", marker, f.read(m, "once"))
	}
	if _, err := os.Stat(f.repo.Path("marker")); err == nil {
		t.Error("the main tree was set up")
	}
	f.is("work", shadow.SetupDone, "")
	e2e.Command[e2e.Object](f.Rig, "sidecar.session.open", e2e.Object{"id": "agent", "shadow": "work"})
	base := strings.Fields(marker)[2]
	if res := f.In("agent", "run_command", e2e.Object{"command": "echo $SIDECAR_PORT_BASE"}); !strings.Contains(res.Content, "\n"+base+"\n") {
		t.Errorf("the setup has the port %s, a session: %s", base, res.Content)
	}
	if f.read(m, "once") != "x\n" {
		t.Error("a session sets it up again, and nothing has changed")
	}

	// The lock file changes.
	if res := f.In("agent", "write_file", e2e.Object{"path": "lock.json", "content": "2\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	f.is("work", shadow.SetupNeeded, "lock.json changed")
	e2e.Command[e2e.Object](f.Rig, "sidecar.session.open", e2e.Object{"id": "next", "shadow": "work"})
	f.is("work", shadow.SetupDone, "")
	if got := f.read(m, "marker"); !strings.HasPrefix(got, "base\n2\n") || f.read(m, "once") != "x\n" {
		t.Errorf("after the lock file changed: marker %q, once %q", got, f.read(m, "once"))
	}

	// A person may run all of it again.
	if got := e2e.Command[shadow.Setup](f.Rig, "sidecar.shadow.setup", e2e.Object{"id": "work"}); got.State != shadow.SetupDone || f.read(m, "once") != "x\nx\n" {
		t.Errorf("%+v, once %q", got, f.read(m, "once"))
	}
	calls := 0
	for _, line := range f.audited() {
		if line.Tool == "run_command" && line.Session == "setup-work" {
			calls++
		}
	}
	if calls != 5 {
		t.Errorf("the audit log has %d calls of the setup", calls)
	}
	e2e.Shell{T: t, Dir: f.Dir}.Says([]string{"setup done"}, "shadow", "list")

}

// TestSetupRemembered: the next server neither repeats what was done nor forgets it.
func TestSetupRemembered(t *testing.T) {
	e2e.Home(t)
	repo := e2e.Repository(t, ".gitignore", "/once\n", "a.txt", "1\n")
	e2e.UserSettings(t, e2e.Object{"mode": "autonomous", "shadow.setup": []any{"echo x >> once"}})
	for range 2 {
		r, _ := e2e.ServeWhole(t, repo.Dir, fakeeditor.Options{})
		f := furnished{r, repo}
		if _, err := os.Stat(repo.Path(".sidecar/shadows/work")); err != nil {
			f.create("work")
		}
		e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "agent", "shadow": "work"})
		f.is("work", shadow.SetupDone, "")
		if err := r.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(repo.Path(".sidecar/shadows"), "work", "once")); err != nil || string(data) != "x\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// audited is the audit log.
func (f furnished) audited() (list []auditlog.Record) {
	f.T.Helper()
	list, err := auditlog.Find(filepath.Join(f.Dir, ".sidecar", "logs"), auditlog.Query{Limit: 1000})
	if err != nil {
		f.T.Fatal(err)
	}
	return list
}

// TestSetupFails: a setup that fails leaves the shadow workspace as it is, says what is wrong,
// and goes on where it failed.
func TestSetupFails(t *testing.T) {
	for name, c := range map[string]struct {
		set    e2e.Object
		answer string // of a person who is asked
		why    string
		check  func(*testing.T, shadow.Setup)
	}{
		"a command that fails": {set: e2e.Object{"shadow.setup": []any{"echo x >> once", "seq 100000; printf '\\033[31mred\\007\\n'; exit 3", "touch marker"}}, why: "exit code 3", check: func(t *testing.T, s shadow.Setup) {
			if s.ExitCode == nil || *s.ExitCode != 3 || !strings.HasPrefix(s.Command, "seq") || !strings.HasSuffix(s.Output, "100000\nred") || strings.Contains(s.Output, "\n5\n") || strings.ContainsAny(s.Output, "\x1b\x07") || len(s.Output) > 8<<10 {
				t.Errorf("%+v", s)
			}
		}},
		"one that hangs":       {set: e2e.Object{"shadow.setup": []any{e2e.Object{"run": "echo begun; sleep 1000", "timeout": 1}}}, why: "ended after 1s"},
		"a rule":               {set: e2e.Object{"shadow.setup": []any{"touch marker"}, "commandRules": []e2e.Object{{"prefix": []string{"touch"}, "decision": "deny"}}}, why: "touch"},
		"a mode without execs": {set: e2e.Object{"shadow.setup": []any{"touch marker"}, "mode": "plan"}, why: "plan"},
		"nobody answers":       {set: e2e.Object{"shadow.setup": []any{"touch marker"}, "mode": "cautious"}},
		"a person says no":     {set: e2e.Object{"shadow.setup": []any{"touch marker"}, "mode": "cautious"}, answer: "Deny"},
		"tools are off":        {set: e2e.Object{"shadow.setup": []any{"touch marker"}, "tools.enabled": false}, why: "tools.enabled"},
	} {
		t.Run(name, func(t *testing.T) {
			f := furnish(t, c.set)
			f.Choose(c.answer)
			m := f.create("work")
			if m.Setup == nil || m.Setup.State != shadow.SetupFailed || !strings.Contains(m.Setup.Why, c.why) || !strings.Contains(m.Setup.Next, "shadow setup work") {
				t.Fatalf("%+v", m.Setup)
			}
			if c.check != nil {
				c.check(t, *m.Setup)
			}
			f.is("work", shadow.SetupFailed, c.why)
			if _, err := os.Stat(filepath.Join(m.Path, "marker")); err == nil {
				t.Error("it went on")
			}
			out := e2e.Shell{T: t, Dir: f.Dir}.Says([]string{"setup failed", m.Setup.Command, "To go on"}, "shadow", "list")
			if strings.ContainsAny(out, "\x1b\x07") {
				t.Errorf("%q", out)
			}

			// Control: with settings that let it, it goes on.
			set := e2e.Object{"mode": "autonomous", "shadow.setup": []any{"echo x >> once", "touch marker; true"}}
			e2e.UserSettings(t, set)
			if err := f.Configure(t.Context(), map[string]any{}); err != nil {
				t.Fatal(err)
			}
			e2e.Until(t, "the settings are not read again", func() bool { return f.setup("work").State == shadow.SetupNeeded })
			if got := e2e.Command[shadow.Setup](f.Rig, "sidecar.shadow.setup", e2e.Object{"id": "work"}); got.State != shadow.SetupDone {
				t.Fatalf("%+v", got)
			}
			if f.read(m, "once") != "x\n" || f.read(m, "marker") != "" {
				t.Errorf("once %q, marker %q", f.read(m, "once"), f.read(m, "marker"))
			}
		})
	}
}

// TestSetupAsked: what a mode asks about, a person allows.
func TestSetupAsked(t *testing.T) {
	f := furnish(t, e2e.Object{"shadow.setup": []any{"touch marker"}, "mode": "cautious"})
	f.Choose("Allow")
	if m := f.create("work"); m.Setup == nil || m.Setup.State != shadow.SetupDone || f.read(m, "marker") != "" {
		t.Errorf("%+v", m.Setup)
	}
	asked := 0
	for _, req := range f.Record().Requests {
		if req.Method == "window/showMessageRequest" && strings.Contains(string(req.Params), "touch marker") {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("a person was asked %d times", asked)
	}
}

// TestSetupOfProject: a project's own setup runs in a trusted workspace alone, and none in the
// place of the user's.
func TestSetupOfProject(t *testing.T) {
	project := []string{".sidecar/settings.json", `{"shadow.setup": ["touch marker"]}`}
	t.Run("unknown", func(t *testing.T) {
		f := furnish(t, nil)
		f.repo.Write(project...)
		if m := f.create("work"); m.Setup != nil {
			t.Errorf("%+v", m.Setup)
		}
	})
	t.Run("trusted", func(t *testing.T) {
		f := furnish(t, e2e.Object{"workspace.trust": "trusted"}, project...)
		if m := f.create("work"); m.Setup == nil || m.Setup.State != shadow.SetupDone || f.read(m, "marker") != "" {
			t.Errorf("%+v", m.Setup)
		}
	})
	t.Run("the user's", func(t *testing.T) {
		f := furnish(t, e2e.Object{"workspace.trust": "trusted", "shadow.setup": []any{"touch once"}}, project...)
		if m := f.create("work"); f.read(m, "once") != "" || f.read(m, "marker") == "" {
			t.Errorf("%+v", m.Setup)
		}
	})
	t.Run("another workspace's", func(t *testing.T) {
		f := furnish(t, e2e.Object{"workspace.trust": "trusted", "shadow.setup": []any{e2e.Object{"run": "touch once", "in": t.TempDir()}}}, project...)
		if m := f.create("work"); f.read(m, "once") == "" || f.read(m, "marker") != "" {
			t.Errorf("%+v", m.Setup)
		}
	})
}

// TestSetupLockFiles: a lock file that goes away, and one that becomes a link, which is not
// followed.
func TestSetupLockFiles(t *testing.T) {
	f := furnish(t, e2e.Object{"shadow.setup": []any{e2e.Object{"run": "echo x >> once", "when": []string{"lock.json", "web/lock.json"}}}}, "web/lock.json", "1\n")
	m := f.create("work")
	outside := filepath.Join(t.TempDir(), "outside")
	write := func(text string) {
		t.Helper()
		if err := ownfile.WriteFile(outside, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := func() {
		t.Helper()
		e2e.Command[shadow.Setup](f.Rig, "sidecar.shadow.setup", e2e.Object{"id": "work"})
	}
	lock := filepath.Join(m.Path, "lock.json")
	if err := ownfile.Remove(lock); err != nil {
		t.Fatal(err)
	}
	f.is("work", shadow.SetupNeeded, "lock.json is gone")
	again()
	f.is("work", shadow.SetupDone, "")
	write("1\n")
	if err := ownfile.Symlink(outside, lock); err != nil {
		t.Fatal(err)
	}
	f.is("work", shadow.SetupNeeded, "lock.json changed")
	again()
	f.is("work", shadow.SetupDone, "lock.json is a link, which is not followed")
	write("2\n")
	f.is("work", shadow.SetupDone, "lock.json is a link")
	if err := ownfile.RemoveAll(filepath.Join(m.Path, "web")); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink(filepath.Dir(outside), filepath.Join(m.Path, "web")); err != nil {
		t.Fatal(err)
	}
	f.is("work", shadow.SetupNeeded, "web/lock.json changed")
	if f.read(m, "once") != "x\nx\nx\n" {
		t.Errorf("once %q", f.read(m, "once"))
	}
}

// begin creates a shadow workspace whose setup does not end, and waits until that runs.
func (f furnished) begin(id string) (over *lsp.Pending) {
	f.T.Helper()
	over, err := f.Start(f.T.Context(), "workspace/executeCommand", e2e.Object{"command": "sidecar.shadow.create", "arguments": []any{e2e.Object{"id": id}}})
	if err != nil {
		f.T.Fatal(err)
	}
	e2e.Until(f.T, "the setup does not run", func() bool {
		_, err := os.Stat(filepath.Join(f.Dir, ".sidecar", "shadows", id, "marker"))
		return err == nil && f.setup(id).State == shadow.SetupRunning
	})
	return over
}

// endless is a setup that runs until it is ended.
var endless = []any{"echo x >> once", "touch marker; sleep 1000"}

// TestSetupDiscarded: who discards a shadow workspace ends its setup.
func TestSetupDiscarded(t *testing.T) {
	f := furnish(t, e2e.Object{"shadow.setup": endless})
	over := f.begin("work")
	if got := f.setup("work"); !strings.HasPrefix(got.Command, "touch marker") {
		t.Errorf("%+v", got)
	}
	e2e.Command[e2e.Object](f.Rig, "sidecar.shadow.discard", e2e.Object{"id": "work"})
	var raw json.RawMessage
	var m made
	if err := over.Wait(t.Context(), &raw); err != nil || json.Unmarshal(raw, &m) != nil {
		t.Fatal(err)
	}
	if m.Setup == nil || !strings.Contains(m.Setup.Why, "discarded") {
		t.Errorf("%+v", m.Setup)
	}
	if _, err := os.Stat(f.repo.Path(".sidecar/shadows/work")); err == nil {
		t.Error("it is still there")
	}
	if out := f.repo.Git("worktree", "list"); strings.Count(out, "\n") != 1 {
		t.Error(out)
	}
}

// TestSetupBusy: a second server knows that the setup runs in the first, and keeps away.
func TestSetupBusy(t *testing.T) {
	f := furnish(t, e2e.Object{"shadow.setup": endless, "mcp.attach": false})
	over := f.begin("work")
	sh := e2e.Shell{T: t, Dir: f.Dir}
	sh.Says([]string{"setup running"}, "shadow", "list")
	for _, verb := range []string{"setup", "discard"} {
		if out := sh.Run(1, "shadow", verb, "work"); !strings.Contains(out, "is being made, set up or discarded") && !strings.Contains(out, "running") {
			t.Errorf("shadow %s: %s", verb, out)
		}
	}
	if err := over.Cancel(); err != nil {
		t.Fatal(err)
	}
	e2e.Until(t, "it is not interrupted", func() bool { return f.setup("work").State == shadow.SetupInterrupted })
	sh.Says([]string{"setup interrupted at", "setup was interrupted", "sidecar-ls shadow setup work"}, "shadow", "list")
	e2e.UserSettings(t, e2e.Object{"mode": "autonomous", "mcp.attach": false, "shadow.setup": []any{"echo x >> once", "touch done"}})
	sh.Says([]string{"setup done"}, "shadow", "setup", "work") // control
	sh.Run(0, "shadow", "discard", "work")
}

// TestSetupKilled: a process that dies in the middle leaves a setup that was interrupted, and
// that runs on from there.
func TestSetupKilled(t *testing.T) {
	e2e.Home(t)
	repo := e2e.Repository(t, ".gitignore", "/marker\n/once\n", "a.txt", "1\n")
	e2e.UserSettings(t, e2e.Object{"mode": "autonomous", "shadow.setup": endless})
	cmd := exec.Command(program.ServerAnywhere(t), "shadow", "create", "work", "--root", repo.Dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	marker := filepath.Join(repo.Path(".sidecar/shadows"), "work", "marker")
	e2e.Until(t, "the setup does not run", func() bool {
		_, err := os.Stat(marker)
		return err == nil
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	sh := e2e.Shell{T: t, Dir: repo.Dir}
	e2e.Until(t, "it is not known to be interrupted", func() bool { return strings.Contains(sh.Run(0, "shadow", "list"), "setup interrupted") })
	e2e.UserSettings(t, e2e.Object{"mode": "autonomous", "shadow.setup": []any{"echo x >> once", "touch done"}})
	sh.Says([]string{"setup done"}, "shadow", "setup", "work")
	data, err := os.ReadFile(filepath.Join(repo.Path(".sidecar/shadows"), "work", "once"))
	if err != nil || string(data) != "x\n" {
		t.Errorf("the step that was done has run again: %q, %v", data, err)
	}
}

// TestSetupOffered: a setup of another program runs when a person has taken it into their
// settings, and not before.
func TestSetupOffered(t *testing.T) {
	f := furnish(t, nil,
		".cursor/worktrees.json", `{"setup-worktree-unix": ["# a comment", "touch marker", "cp $ROOT_WORKTREE_PATH/.env .env"], "setup-worktree": ["false"]}`,
		".codex/environments/environment.toml", "version = 1\nname = 'x'\n[setup]\nscript = '''\ncd \"$CODEX_WORKTREE_PATH\"\ntouch once\n'''\n[setup.win32]\nscript = 'false'\n[[actions]]\nname = 'Run'\ncommand = 'false'\n",
		".claude/settings.json", `{"hooks": {"WorktreeCreate": [{"hooks": [{"type": "command", "command": "make-tree.sh"}]}]}}`,
		"package-lock.json", "{}\n")
	m := f.create("before")
	if m.Setup == nil || m.Setup.State != shadow.SetupOffered || !strings.Contains(m.Setup.Why, ".cursor/worktrees.json, .codex/environments/environment.toml, .claude/settings.json") || !strings.Contains(m.Setup.Next, "shadow setup --take cursor") {
		t.Errorf("%+v", m.Setup)
	}
	if f.read(m, "marker") == "" || f.read(m, "once") == "" {
		t.Error("it has run")
	}
	refused := func(from, why string) {
		t.Helper()
		if err := f.ExecuteCommand(t.Context(), "sidecar.shadow.takeSetup", e2e.Object{"from": from}, nil); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", from, err)
		}
	}
	refused("jetbrains", "there is cursor, codex, claude")
	refused("claude", "makes the working tree itself")
	f.Choose("Deny")
	refused("cursor", "nothing was written")
	if res := f.Tool("sidecar.shadow.takeSetup", e2e.Object{"from": "cursor"}); res.OK {
		t.Error("an agent takes it")
	}
	data, _ := os.ReadFile(config.UserFile())
	if strings.Contains(string(data), "setup") {
		t.Fatalf("%s", data)
	}
	f.Choose("Allow")
	got := e2e.Command[struct {
		File  string
		Steps []string
		Left  []string
	}](f.Rig, "sidecar.shadow.takeSetup", e2e.Object{"from": "cursor"})
	if got.File != config.UserFile() || fmt.Sprint(got.Steps) != "[touch marker]" || len(got.Left) != 1 || !strings.Contains(got.Left[0], ".worktreeinclude") {
		t.Errorf("%+v", got)
	}
	if m := f.create("cursor"); m.Setup == nil || m.Setup.State != shadow.SetupDone || f.read(m, "marker") != "" || f.read(m, "once") == "" {
		t.Errorf("%+v", m.Setup)
	}
	data, _ = os.ReadFile(config.UserFile())
	if !strings.Contains(string(data), `"in": "`+f.Dir+`"`) || !strings.Contains(string(data), `"package-lock.json"`) {
		t.Errorf("%s", data)
	}
	sh := e2e.Shell{T: t, Dir: f.Dir}
	sh.Says([]string{"CODEX_WORKTREE_PATH", config.UserFile()}, "shadow", "setup", "--take", "codex", "--yes")
	if m := f.create("codex"); m.Setup == nil || m.Setup.State != shadow.SetupDone || f.read(m, "once") != "" || f.read(m, "marker") == "" {
		t.Errorf("%+v", m.Setup)
	}
}

// TestSetupNobody: where a command line has nobody to ask, the setup fails, and the shadow
// workspace is there.
func TestSetupNobody(t *testing.T) {
	e2e.Home(t)
	repo := e2e.Repository(t, ".gitignore", "/marker\n", "a.txt", "1\n")
	e2e.UserSettings(t, e2e.Object{"mode": "cautious", "shadow.setup": []any{"touch marker"}})
	sh := e2e.Shell{T: t, Dir: repo.Dir}
	if out := sh.Run(1, "shadow", "create", "work"); !strings.Contains(out, "work\t") || !strings.Contains(out, "setup failed at `touch marker`") {
		t.Error(out)
	}
	sh.Says([]string{"setup failed"}, "shadow", "list")
	e2e.UserSettings(t, e2e.Object{"mode": "cautious", "commandRules": []e2e.Object{{"prefix": []string{"touch"}, "decision": "allow"}}, "shadow.setup": []any{"touch marker"}})
	sh.Says([]string{"setup done"}, "shadow", "setup", "work") // control
	sh.Run(2, "shadow", "setup")
	sh.Run(2, "shadow", "setup", "work", "--take", "cursor")
	sh.Run(1, "shadow", "setup", "--take", "cursor")
}
