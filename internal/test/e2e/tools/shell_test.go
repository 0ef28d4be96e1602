package tools_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// Commands run in the sandbox of the real server: they change the workspace,
// and neither read its secrets nor change what is outside.
func TestRunCommand(t *testing.T) {
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", ".env": "KEY=value-that-nobody-knows\n"})
	outside := filepath.Join(t.TempDir(), "outside")
	e2e.Write(t, outside, "keep\n")
	run := func(command string) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), server, "call", "--root", dir, "--mode", "autonomous", "run_command", e2e.Arguments(t, command))
		out, _ := cmd.CombinedOutput() // the code says what the error does
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, _ := run("true"); strings.Contains(out, "sandbox.weak") {
		needs.Skip(t, needs.Sandbox, "this machine has no sandbox that holds all of it")
	}
	if out, code := run("echo two > b.txt; cat a.txt b.txt"); code != 0 || !strings.Contains(out, "one\ntwo\n") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(data) != "two\n" {
		t.Errorf("%q, %v", data, err)
	}
	// The shell finds the name itself, so that nothing refuses it before.
	if out, _ := run("cat .e*"); strings.Contains(out, "value-that-nobody-knows") {
		t.Errorf("a secret is read:\n%s", out)
	}
	run("X=" + filepath.Dir(outside) + "; echo gone > $X/outside; ls -A . | sort")
	if data, err := os.ReadFile(outside); err != nil || string(data) != "keep\n" {
		t.Errorf("outside is %q, %v", data, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 4 { // a.txt, b.txt, .env, .sidecar
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What the policy makes of a line, over the real server.
func TestRunCommandIsDecidedOn(t *testing.T) {
	e2e.Home(t)
	weak, hidden := "allow by mode.autonomous.execs", "deny by command.hidden"
	if probe, _, _ := e2e.RunCLI(t, "", "policy", "explain", "--root", t.TempDir(), "--mode", "autonomous", "run_command", e2e.Arguments(t, "make")); strings.Contains(probe, "sandbox.weak") {
		weak, hidden = "ask by sandbox.weak", "ask by command.ask" // where nothing hides it
	}
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", ".env": "K=v\n"})
	for _, c := range []struct{ mode, command, says string }{
		{"cautious", "ls && git status", "allow by mode.cautious.reads"},
		{"cautious", "make", strings.Replace(weak, "allow by mode.autonomous", "ask by mode.cautious", 1)},
		{"cautious", "cat .env", hidden},
		{"autonomous", "nohup cat .env; echo", hidden},
		{"autonomous", "make", weak},
		{"autonomous", "ls; rm -rf src", "ask by irrecoverable"},
		{"autonomous", "echo x > .git/hooks/pre-commit", "deny by command.deny"},
		{"manual", "ls", "ask by mode.manual.reads"},
	} {
		out, stderr, code := e2e.RunCLI(t, "", "policy", "explain", "--root", dir, "--mode", c.mode, "run_command", e2e.Arguments(t, c.command))
		if code != 0 || !strings.Contains(out, c.says) {
			t.Errorf("%s, %q: exit %d\n%s%s", c.mode, c.command, code, out, stderr)
		}
	}
}

// The line that run_tests makes of the files is decided on as any other.
func TestRunTestsIsDecidedOn(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"go.mod": "module x\n", "sub/Makefile": "test:\n", "docs/a.md": "x\n", ".sidecar/settings.json": `{"commandRules":[{"prefix":["make"],"decision":"deny"}]}`})
	for _, c := range []struct{ mode, args, says string }{
		{"cautious", `{}`, "command: go test -json ./..."},
		{"autonomous", `{"name":"$(touch x)"}`, "allow by mode.autonomous.execs"},
		{"autonomous", `{"path":"sub"}`, "deny by command.deny"},
		{"autonomous", `{"command":"rm -rf src"}`, "ask by irrecoverable"},
		{"manual", `{}`, "ask by mode.manual"},
		{"autonomous", `{"path":"../x"}`, "outside_workspace"},
		{"autonomous", `{"path":"docs"}`, "docs has no tests"},
		{"autonomous", `{"command":"make","name":"x"}`, "invalid_arguments"},
		{"autonomous", `{"name":"-x"}`, "invalid_arguments"},
	} {
		out, stderr, code := e2e.RunCLI(t, "", "policy", "explain", "--root", dir, "--mode", c.mode, "run_tests", c.args)
		if code != 0 || !strings.Contains(out, c.says) {
			t.Errorf("%s, %s: exit %d\n%s%s", c.mode, c.args, code, out, stderr)
		}
	}
}

// TestShellState: a session's shell goes on where it was, with a sandbox and
// without, and leaves nothing in the home of its user.
func TestShellState(t *testing.T) {
	for _, mode := range []string{"auto", "off"} {
		t.Run(mode, func(t *testing.T) {
			e2e.Home(t)
			e2e.Write(t, config.UserFile(), `{"sandbox.mode": "`+mode+`", "toolPermissions": {"run_command": "allow"}}`)
			user := t.TempDir()
			t.Setenv("HOME", user)
			before := names(t, user)
			r, _ := e2e.ServeWhole(t, e2e.Project(t, map[string]string{"sub/a.txt": "one\n"}), fakeeditor.Options{})
			run := func(line string) string {
				t.Helper()
				r.Choose("Allow")
				return string(e2e.Command[json.RawMessage](r, "sidecar.tools.call", e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": line}}))
			}
			run("cd sub; export KEPT=1; f() { echo from $1; }; alias g='f alias'; left=1")
			if got := run(`cat a.txt; echo "[$KEPT$left${__sc_home-}]"; f function; g; exit 3`); !strings.Contains(got, `one\n[1]\nfrom function\nfrom alias\n`) || !strings.Contains(got, `"cwd":"sub"`) {
				t.Error(got)
			}
			if got := run("unset KEPT; cd ..; declare -f f > /dev/null && echo has f"); !strings.Contains(got, "has f") {
				t.Error(got)
			}
			if got := run(`echo "[${KEPT-}]"; pwd`); !strings.Contains(got, `[]\n`+r.Dir+`\n`) {
				t.Error(got)
			}
			if err := r.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if after := names(t, user); after != before {
				t.Errorf("the user's home has %s, and had %s", after, before)
			}
		})
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// TestShellSetting: what is for Windows alone runs nothing here, and says so; a project
// that is not trusted has no say.
func TestShellSetting(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Skip(t, needs.Windows, "there are such shells here")
	}
	for _, c := range []struct{ user, project, want string }{
		{`"commands.shell": "pwsh"`, `{}`, "the setting sidecar.commands.shell asks for pwsh, which is for Windows alone: set it to auto or bash"},
		{`"commands.shell": "bash"`, `{"commands.shell": "wsl"}`, `ran\n`},
		{`"commands.shell": "bash", "workspace.trust": "trusted"`, `{"commands.shell": "wsl"}`, "asks for wsl"},
		{`"commands.shell": "auto"`, `{}`, `ran\n`},
	} {
		e2e.Home(t)
		e2e.Write(t, config.UserFile(), `{`+c.user+`, "toolPermissions": {"run_command": "allow"}}`)
		dir := e2e.Project(t, map[string]string{".sidecar/settings.json": c.project})
		r, _ := e2e.ServeWhole(t, dir, fakeeditor.Options{})
		r.Choose("Allow")
		got := string(e2e.Command[json.RawMessage](r, "sidecar.tools.call", e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": "echo ran"}}))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %s", c.user, c.project, got)
		}
		out, _, _ := e2e.RunCLI(t, "", "doctor", "--root", dir)
		if ran := strings.Contains(c.want, "ran"); ran != strings.Contains(out, "bash, because it is the shell of this system") {
			t.Errorf("%s, %s: %s", c.user, c.project, out)
		}
	}
}
