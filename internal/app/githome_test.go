package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A commit in the sandbox is made by the user, and the rest of the user's
// settings of git stays outside. A repository's own settings come before them.
func TestCommitInTheSandbox(t *testing.T) {
	home(t)
	server := buildServer(t)
	config := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "git")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(config, "config"))
	write(t, filepath.Join(config, "config"), "[include]\n\tpath = who\n[http]\n\textraHeader = \"Authorization: planted-7\"\n[alias]\n\tx = !touch "+filepath.Join(config, "ran")+"\n")
	write(t, filepath.Join(config, "who"), "[user]\n\tname = \"A \\\"B\\\" Ç\"\n\temail = a@example.org\n[core]\n\tpager = less\n")
	dir := project(t, map[string]string{"a.txt": "one\n"})
	run := func(command string) string {
		t.Helper()
		out, _ := exec.CommandContext(t.Context(), server, "call", "--root", dir, "--mode", "autonomous", "run_command", arguments(t, command)).CombinedOutput()
		return string(out)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	const commit = "git add . && git commit -qm x && git log -1 --format='%an <%ae>|%cn'"
	if out := run(commit); !strings.Contains(out, `A "B" Ç <a@example.org>|A "B" Ç`) {
		if strings.Contains(out, "sandbox.weak") {
			t.Skip("this machine has no sandbox")
		}
		t.Error(out)
	}
	if out := run("git config --list --show-origin; cat ~/.config/git/*"); strings.Contains(out, "planted-7") || strings.Contains(out, "alias.x") || strings.Contains(out, "pager") || !strings.Contains(out, "user.email=a@example.org") {
		t.Errorf("more than who commits:\n%s", out)
	}
	if out := run("git config --global user.name Own; git init -q sub && cd sub && git config user.email own@example.org && echo x > f && " + commit); !strings.Contains(out, "Own <own@example.org>") {
		t.Errorf("a command's own settings:\n%s", out)
	}
	// What commands leave in their home leads the server nowhere.
	outside := t.TempDir()
	for _, leave := range []string{"rm -r ~/.config; ln -s " + outside + " ~/.config", "rm -r ~/.config/git; ln -s " + outside + " ~/.config/git", "rm ~/.config/git/config; mkfifo ~/.config/git/config", "rm -r ~/.config/git/config; mkdir -p ~/.config/git/config/x"} {
		run(leave)
		if out := run("git config user.email"); !strings.Contains(out, "a@example.org") {
			t.Errorf("after %q:\n%s", leave, out)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("after %q: %v, %v are outside", leave, left, err)
		}
	}
}
