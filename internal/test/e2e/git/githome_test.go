package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// A commit in the sandbox is made by the user, and the rest of the user's
// settings of git stays outside. A repository's own settings come before them.
func TestCommitInTheSandbox(t *testing.T) {
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	config := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "git")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(config, "config"))
	e2e.Write(t, filepath.Join(config, "config"), "[include]\n\tpath = who\n[http]\n\textraHeader = \"Authorization: planted-7\"\n[alias]\n\tx = !touch "+filepath.Join(config, "ran")+"\n")
	e2e.Write(t, filepath.Join(config, "who"), "[user]\n\tname = \"A \\\"B\\\" Ç\"\n\temail = a@example.org\n[core]\n\tpager = less\n")
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	run := func(command string) string {
		t.Helper()
		out, _ := exec.CommandContext(t.Context(), server, "call", "--root", dir, "--mode", "autonomous", "run_command", e2e.Arguments(t, command)).CombinedOutput()
		return string(out)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	const commit = "git add . && git commit -qm x && git log -1 --format='%an <%ae>|%cn'"
	if out := run(commit); !strings.Contains(out, `A "B" Ç <a@example.org>|A "B" Ç`) {
		if strings.Contains(out, "sandbox.weak") {
			needs.Skip(t, needs.Sandbox, "this machine has no sandbox")
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

// Files that may hold secrets and are tracked can't be read in the sandbox, and
// git takes them for what they are all the same: nothing of them is changed by a
// commit, not even where git would have to read them.
func TestTrackedSecretsInTheSandbox(t *testing.T) {
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "gitconfig"))
	e2e.Write(t, os.Getenv("GIT_CONFIG_GLOBAL"), "[user]\n\tname = A\n\temail = a@example.org\n")
	for name, age := range map[string]time.Duration{"older than the index": time.Hour, "as old as the index": 0} {
		t.Run(name, func(t *testing.T) {
			secrets := map[string]string{".env": "KEY=value-that-nobody-knows\n", "testdata/key.pem": "another-that-nobody-knows\n"}
			dir := e2e.Project(t, map[string]string{"a.txt": "one\n", ".env": secrets[".env"], "testdata/key.pem": secrets["testdata/key.pem"]})
			git := func(args ...string) string {
				t.Helper()
				out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
				if err != nil {
					t.Fatal(err, string(out))
				}
				return string(out)
			}
			run := func(command string) string {
				t.Helper()
				out, _ := exec.CommandContext(t.Context(), server, "call", "--root", dir, "--mode", "autonomous", "run_command", e2e.Arguments(t, command)).CombinedOutput()
				return string(out)
			}
			then := time.Now().Add(-age)
			for file := range secrets {
				if err := ownfile.Chtimes(filepath.Join(dir, file), then, then); err != nil {
					t.Fatal(err)
				}
			}
			git("init", "-q")
			git("add", "-A")
			git("commit", "-qm", "first")
			if age == 0 {
				index := filepath.Join(dir, ".git/index")
				if err := ownfile.Chtimes(index, then, then); err != nil { // however slow the machine is
					t.Fatal(err)
				}
			}
			out := run("cat $(git ls-files | grep -v a.txt); echo two >> a.txt; git add -A && git commit -qm second; echo left: $(git status --porcelain)")
			if strings.Contains(out, "sandbox.weak") {
				needs.Skip(t, needs.Sandbox, "this machine has no sandbox")
			}
			if strings.Contains(out, "nobody-knows") || strings.Count(out, "Permission denied") < 2 {
				t.Errorf("they can be read:\n%s", out)
			}
			if age > 0 && !strings.Contains(out, "left:\n") {
				t.Errorf("git takes them for changed:\n%s", out)
			}
			for file, text := range secrets {
				if got := git("show", "HEAD:"+file); got != text {
					t.Errorf("%s was committed as %q", file, got)
				}
			}
			want := "a.txt\n"
			if age == 0 {
				want = "" // git could not look, and did nothing
			}
			if got := git("diff", "--name-only", "HEAD@{0}", git("rev-list", "--max-parents=0", "HEAD")[:40]); got != want {
				t.Errorf("%q differs in the second commit, want %q\n%s", got, want, out)
			}
			if out := run("git stash -q; git stash pop -q; git ls-files | xargs touch; true"); strings.Contains(out, "nobody-knows") {
				t.Error(out)
			}
			for file, text := range secrets {
				if data, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(data) != text {
					t.Errorf("%s: %q %v", file, data, err)
				}
			}
		})
	}
}
