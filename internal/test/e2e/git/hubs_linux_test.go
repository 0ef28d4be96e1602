package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// hub makes a bare repository with two linked working trees, of which it returns the first.
// In its directory setup is run, $TOP is the one around it.
func hub(t *testing.T, setup string, more ...e2e.Object) (tree, top string) {
	t.Helper()
	e2e.WorldProject(t, "overlay", nil, more...)
	top = t.TempDir()
	inHub(t, top, top, `
git init -q -b main src; cd src; mkdir lib docs; for f in a.txt lib/b.txt docs/c.txt; do echo $f > $f; done; git add .; git commit -qm base
git clone -q --bare . ../hub; cd ../hub; git config user.name A; git config user.email a@example.org
`+setup+`
git worktree add -q -b side ../tree main; git worktree add -q -b other ../tree2 main`)
	return filepath.Join(top, "tree"), top
}

// inHub is a script of the user's.
func inHub(t *testing.T, top, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TOP="+top, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// TestSubmodulesOfAHub: a command in a linked working tree leaves the repositories of its
// submodules alone, in the modes that change the repository itself too.
func TestSubmodulesOfAHub(t *testing.T) {
	tree, top := hub(t, `git init -q $TOP/sub; git -C $TOP/sub commit -q --allow-empty -m sub
		git -C ../src submodule --quiet add $TOP/sub lib/sub; git -C ../src commit -qm sub; git fetch -q ../src main:main`)
	inHub(t, top, tree, "git submodule --quiet update --init")
	r := e2e.WorldIn(t, tree)
	for _, mode := range []string{"review", "audit", "autonomous"} {
		r.Mode(mode)
		if said := r.Ran("git status --porcelain && git -C lib/sub log --format=%s && echo more >> a.txt && git commit -qam more && git log -1 --format=%s", "sub\n", "more\n"); strings.Contains(said, "taken away") {
			t.Errorf("%s: %s", mode, said)
		}
		r.Accept(e2e.Object{})
		if got := inHub(t, top, tree, "git status --porcelain && git -C lib/sub log --format=%s"); got != "sub\n" {
			t.Errorf("%s: then the user's git says %q", mode, got)
		}
	}
	// What a command makes there is set aside all the same.
	r.Ran(`git init -q "$(git rev-parse --git-dir)/x" && git -C "$(git rev-parse --git-dir)/x" config core.fsmonitor evil`, "taken away again")
}

// TestReflogsOfAHub: a bare repository has no logs before the first tree has some. A command
// that commits in a mode that applies changes finds a place for them.
func TestReflogsOfAHub(t *testing.T) {
	for name, c := range map[string]struct{ setup, more, want string }{
		"without logs": {"", "", "commit: two\n"},
		"with logs":    {"git config core.logAllRefUpdates true", "", "commit: two\nbranch: Created from main\n"},
		"of all":       {"git config core.logAllRefUpdates always", "git tag t; git reflog --format=%gs refs/tags/t", "commit: two\nbranch: Created from main\n"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, top := hub(t, c.setup)
			r := e2e.WorldIn(t, tree) // in review, where nothing of it is touched
			if _, err := os.Lstat(filepath.Join(top, "hub", "logs")); (err != nil) != (c.setup == "") {
				t.Errorf("logs before a command that changes the repository: %v", err)
			}
			r.Mode("autonomous")
			r.Ran("echo more >> a.txt && git commit -qam two && git reflog --format=%gs side", c.want)
			if got := inHub(t, top, tree, "git reflog --format=%gs side; git log -1 --format=%s"); got != c.want+"two\n" {
				t.Errorf("the user has %q", got)
			}
			if c.more != "" {
				r.Ran(c.more, "tag: tagging ")
			}
		})
	}
}
