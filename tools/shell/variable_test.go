package shell

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestLineInVariable: a bash that gets its line in a variable runs it as the other one
// does, and keeps as much.
func TestLineInVariable(t *testing.T) {
	both := map[string]*rig{"an argument": newRig(t), "a variable": newRig(t)}
	both["a variable"].host.shell = func() (shells.Shell, error) { return shells.Shell{Path: "bash", Variable: true}, nil }
	for _, c := range []struct{ line, want string }{
		{`echo 'a  b' "c\\d" \\ \" *nothing* '@x'`, "a  b c\\d \\ \" *nothing* @x\n"},
		{"echo one\necho 'two\nthree'", "one\ntwo\nthree\n"},
		{`mkdir -p "a 'b'" && cd "a 'b'" && export KEPT='x "y"' && f() { echo "f $1"; }`, "(no output)\n"},
		{`echo "$KEPT ${PWD##*/} $#"; f z; env | grep -c __sc_boot`, "x \"y\" a 'b' 0\nf z\n0\n"},
	} {
		for how, r := range both {
			if got := r.run(c.line); !strings.Contains(got, c.want) {
				t.Errorf("%s: %s: %q, want %q", how, c.line, got, c.want)
			}
		}
	}
	r := both["a variable"]
	if text, _, _ := r.call("run_command", map[string]any{"command": "echo $A", "env": map[string]string{"A": "it's"}}, nil); !strings.HasPrefix(text, "it's\n") {
		t.Error(text)
	}
	if text := r.run("echo " + strings.Repeat("x", shells.MaxLine)); !strings.Contains(text, "too long for this system") {
		t.Errorf("%.200s", text)
	}
}

// TestPowerShell: all that PowerShell gets stands in variables, and nothing in its
// command line.
func TestPowerShell(t *testing.T) {
	r := newRig(t)
	sh := &shell{d: r.sessions.d, session: "s1", root: r.root}
	line := "Get-ChildItem 'a b' | Select-Object -First 1; \"$x\""
	argv, env := sh.powerShell(shells.Shell{Path: "pwsh", PowerShell: true}, line, r.root, "1", []string{"A=it's"})
	if strings.Contains(strings.Join(argv, " "), "Select-Object") || argv[0] != "pwsh" || !slices.Contains(argv, "-NoProfile") {
		t.Errorf("%q", argv)
	}
	for _, want := range []string{"__sc_line=" + line, "__sc_at=" + r.root, "__sc_keep=1", "__sc_state=.sidecar-shell/s1/powershell", "__sc_env=A=aXQncw=="} {
		if !slices.Contains(env, want) {
			t.Errorf("%q is not in %q", want, env)
		}
	}
}

// TestWSL: a bash of another Linux gets nothing but one variable; what it leaves is for
// it alone.
func TestWSL(t *testing.T) {
	linux := filepath.Join(t.TempDir(), "wsl")
	script := "#!/bin/sh\n[ \"$1\" = -e ] && [ \"$WSLENV\" = __sc_boot/u ] || exit 9\nshift\nexec env -i PATH=\"$PATH\" HOME=/ __sc_boot=\"$__sc_boot\" \"$@\"\n"
	if err := ownfile.WriteFile(linux, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	now := shells.Shell{Path: linux, Variable: true, Drives: "/mnt/"}
	r.host.shell = func() (shells.Shell, error) { return now, nil }
	r.run(`mkdir -p "a b" && cd "a b" && export KEPT='x "y"'`)
	if got := r.run(`echo "$KEPT ${PWD##*/} ${HOME-}"`); !strings.HasPrefix(got, "x \"y\" a b /\n") {
		t.Error(got)
	}
	now = shells.Bash // the directory is one of the host, but the variables are the other shell's
	if got := r.run(`echo "${KEPT-none} ${PWD##*/}"`); !strings.HasPrefix(got, "none a b\n") {
		t.Errorf("control: %s", got)
	}
}

// TestPlannedForShell: what is decided on is the line of the shell that runs it.
func TestPlannedForShell(t *testing.T) {
	r := newRig(t)
	if err := ownfile.WriteFile(filepath.Join(r.root, "go.mod"), []byte("module x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell, missing := shells.Bash, error(nil)
	r.host.shell = func() (shells.Shell, error) { return shell, missing }
	plan := func(tool, args string) (string, error) {
		t.Helper()
		b, err := r.byName[tool].Bind([]byte(args))
		if err != nil {
			t.Fatal(err)
		}
		err = b.Plan(t.Context(), r.files)
		return b.Effects.Command, err
	}
	power := shells.Shell{Path: "powershell", PowerShell: true, Old: true}
	for _, c := range []struct {
		shell            shells.Shell
		tool, args, want string
	}{
		{shells.Bash, "run_command", `{"command": "ls", "env": {"A": "it's", "B": "b"}}`, `export A='it'\''s' B=b; ls`},
		{power, "run_command", `{"command": "ls", "env": {"A": "it's"}}`, `$env:A = 'it''s'; ls`},
		{shells.Bash, "run_tests", `{"name": "a$b"}`, `go test -json '-run=a$b' ./...`},
		{power, "run_tests", `{"name": "it's $(x)"}`, `go test -json '-run=it''s $(x)' ./...`},
		{power, "run_tests", `{"command": "a && b"}`, `a && b`},
		{power, "run_tests", `{"name": "say \"hi there\""}`, "!use PowerShell 7.3 or bash"},
		{power, "run_lint", `{}`, "go vet -json ./..."},
	} {
		shell = c.shell
		got, err := plan(c.tool, c.args)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != c.want && (!strings.HasPrefix(c.want, "!") || err == nil || !strings.Contains(got, c.want[1:])) {
			t.Errorf("%s %s: %s, want %s", c.tool, c.args, got, c.want)
		}
	}
	missing = shells.ErrNone
	for _, tool := range []string{"run_tests", "run_lint"} {
		if _, err := plan(tool, `{}`); err == nil || !strings.Contains(err.Error(), "nothing was run: no shell was found") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if got, err := plan("run_command", `{"command": "ls"}`); got != "ls" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// TestFailedInPowerShell: a line that fails there is said not to have been run by bash.
func TestFailedInPowerShell(t *testing.T) {
	const said = "[Command lines are run by PowerShell 7.4 here, not by bash.]"
	for script, want := range map[string]bool{"exit 3": true, "exit 0": false} {
		power := filepath.Join(t.TempDir(), "pwsh")
		if err := ownfile.WriteFile(power, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		r := newRig(t)
		r.host.shell = func() (shells.Shell, error) {
			return shells.Shell{Path: power, Name: "PowerShell 7.4", PowerShell: true}, nil
		}
		if got := r.run("ls"); strings.Contains(got, said) != want {
			t.Errorf("%s: %s", script, got)
		}
	}
}

// TestCodePage: a command's output is UTF-8, also what is not, and also in the background.
func TestCodePage(t *testing.T) {
	for page, want := range map[uint32]string{850: "größe\n", 0: "gr\uFFFDe\n"} {
		r := newRig(t)
		r.sessions.d.CodePage = func() uint32 { return page }
		var mu sync.Mutex
		var streamed strings.Builder
		text, _, _ := r.call("run_command", map[string]any{"command": `printf 'gr\224\341e\n'; printf 'gr\224\341e\n' >&2; echo größe`}, func(s string) {
			mu.Lock()
			defer mu.Unlock()
			streamed.WriteString(s)
		})
		if !strings.HasPrefix(text, want+"größe\n[stderr]\n"+want) {
			t.Errorf("%d: %s", page, text)
		}
		if page != 0 && strings.Count(streamed.String(), want) != 3 {
			t.Errorf("%d: %q", page, streamed.String())
		}
		r.call("run_command", map[string]any{"command": `printf 'gr\224\341e\n\224'`, "background": true}, nil)
		for {
			text, _, _ := r.call("command_output", map[string]any{"id": "bg1"}, nil)
			if strings.Contains(text, "running") {
				continue
			}
			if !strings.Contains(text, want) || strings.Contains(text, "\nö\n") != (page != 0) {
				t.Errorf("%d: %s", page, text)
			}
			break
		}
	}
}
