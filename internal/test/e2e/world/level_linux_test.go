package world_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// Where the sandbox holds only a part, what does more than look is asked about
// in the mode that asks least, unless a rule of the user's allows it; and the
// result says which level it ran at.
func TestLevelsBelowBubblewrap(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	run := func(hide bool, verb, command string) (string, int) {
		t.Helper()
		args := append(strings.Fields(verb), "--root", dir, "--mode", "autonomous", "run_command", e2e.Arguments(t, command))
		cmd := exec.CommandContext(t.Context(), server, args...)
		if hide { // a machine without bubblewrap
			cmd = exec.CommandContext(t.Context(), "unshare", append([]string{"-Urm", "sh", "-c", `for f in /usr/bin/bwrap "$(command -v bwrap)"; do mount --bind /dev/null "$f"; done; exec "$@"`, "sh", server}, args...)...)
		}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, _ := run(false, "call --json", "true"); !strings.Contains(out, "sandbox: bubblewrap") {
		needs.Skip(t, needs.Sandbox, "this machine has no bubblewrap to take away: ", out)
	}
	if out, _ := run(true, "call", "pwd"); !strings.Contains(out, "[exit code 0") {
		needs.Skip(t, needs.Sandbox, "nothing can be taken away here: ", out)
	}
	user := config.UserFile()
	const rule = `"commandRules": [{"prefix": ["touch"], "decision": "allow"}]`
	for _, c := range []struct {
		name, settings string
		hide           bool
		level          string
		asks           bool
	}{
		{"all of it", "", false, " s]", false}, // which is as usual, and not said
		{"without bubblewrap", "", true, "sandbox: Landlock, seccomp; no network", true},
		{"turned off", `"sandbox.mode": "off"`, false, "sandbox: none", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := filepath.Join(dir, "made")
			touch := func(settings ...string) (string, bool) {
				t.Helper()
				e2e.Write(t, user, "{"+strings.Trim(strings.Join(settings, ","), ",")+"}")
				_ = ownfile.Remove(made)
				out, code := run(c.hide, "call", "touch made")
				_, err := os.Stat(made)
				if (code == 0) != (err == nil) {
					t.Errorf("exit %d, %v\n%s", code, err, out)
				}
				return out, err == nil
			}
			out, ran := touch(c.settings)
			if ran == c.asks || c.asks && (!strings.Contains(out, "sandbox.weak") || strings.Contains(out, "[exit code")) || !c.asks && !strings.Contains(out, c.level) {
				t.Errorf("without a rule, ran: %v\n%s", ran, out)
			}
			if out, _ := run(c.hide, "policy explain", "touch made"); strings.Contains(out, "ask by sandbox.weak") != c.asks {
				t.Errorf("explained as %s", out)
			}
			explained := exec.CommandContext(t.Context(), server, "policy", "explain", "--root", dir, "--mode", "autonomous", "code_exec", `{"language": "python", "code": "print(1)"}`)
			if out, _ := explained.CombinedOutput(); !c.hide && strings.Contains(string(out), "ask by sandbox.weak") != c.asks {
				t.Errorf("code is explained as %s", out)
			}
			if out, _ := run(c.hide, "call", "cat a.txt"); !strings.Contains(out, "one\n") || !strings.Contains(out, c.level) {
				t.Errorf("a read:\n%s", out)
			}
			if out, ran := touch(c.settings, rule); !ran || !strings.Contains(out, c.level) {
				t.Errorf("with a rule, ran: %v\n%s", ran, out)
			}
			// What prints files that it does not name is asked about where nothing hides secrets.
			e2e.Write(t, user, "{"+c.settings+"}")
			for _, line := range []string{"cat .e*", "grep -rh K .", "find . -name '.e*' -exec cat {} +", "ls -A | xargs cat"} {
				_ = ownfile.Remove(filepath.Join(dir, ".env"))
				if out, code := run(c.hide, "call", line); strings.HasPrefix(out, "not_approved") || code == 0 && !strings.Contains(out, c.level) {
					t.Errorf("with no secret, %s:\n%s", line, out)
				}
				e2e.Write(t, filepath.Join(dir, ".env"), "KEY=a plain word\n")
				out, _ := run(c.hide, "call", line)
				if strings.Contains(out, "a plain word") || strings.HasPrefix(out, "not_approved") != c.asks {
					t.Errorf("%s:\n%s", line, out)
				}
			}
			_ = ownfile.Remove(filepath.Join(dir, ".env"))
		})
	}
}
