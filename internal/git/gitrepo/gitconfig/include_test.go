package gitconfig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) > 0 {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := ownfile.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestHolds: conditions on the place of a repository hold where git says so.
func TestHolds(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", top)
	hub := filepath.Join(top, "hub{1}")
	git(t, top, "init", "-q", "--bare", hub)
	tree := git(t, hub, "hash-object", "-t", "tree", "-w", os.DevNull)
	git(t, hub, "branch", "main", strings.TrimSpace(git(t, hub, "commit-tree", "-m", "x", strings.TrimSpace(tree))))
	git(t, hub, "worktree", "add", "-q", filepath.Join(top, "tree"), "main")
	own, config := filepath.Join(hub, "worktrees", "tree"), filepath.Join(hub, "config")
	write(t, filepath.Join(hub, "inc"), "[x]\n\ty = z\n")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, condition := range []string{
		"gitdir:" + own, "gitdir:" + own + "/", "gitdir:" + hub, "gitdir:" + hub + "/", "gitdir:" + hub + "/**", "gitdir:" + hub + "/*", "gitdir:" + hub + "/*/*",
		"gitdir:" + hub + "/worktrees/t?ee", "gitdir:" + hub + "/worktrees/t[rs]ee", "gitdir:tree", "gitdir:worktrees/", "gitdir:worktrees/tree/", "gitdir:trees/",
		"gitdir:~/", "gitdir:~/hub{1}/", "gitdir:~/hub/", "gitdir:./", "gitdir:./worktrees/tree", "gitdir:./w*/tree", "gitdir:./tree",
		"gitdir:" + top + "/HUB{1}/", "gitdir/i:" + top + "/HUB{1}/", "gitdir/i:WORKTREES/Tree", "gitdir:" + top + "/{hub,x}*/", "gitdir:" + top + "/**/tree", "onbranch:other",
	} {
		write(t, config, string(text)+"[includeIf \""+condition+"\"]\n\tpath = inc\n")
		want := git(t, filepath.Join(top, "tree"), "config", "x.y") != ""
		got, known := holds(condition, config, own)
		if got != want || known != strings.HasPrefix(condition, "gitdir") {
			t.Errorf("%s: %v, git says %v", condition, got, want)
		}
		if want {
			met++
		}
	}
	if met < 10 {
		t.Errorf("only %d conditions are met", met)
	}
}

// TestMoved: a copy of a file of settings says what the file says.
func TestMoved(t *testing.T) {
	for name, text := range map[string]string{
		"control":  "; as it is\n[core]\n\tbare = true\n",
		"includes": "[a \"B.c\\\"d\\\\\"]\n\tE = \" x;\\\"y\\\\z\\n\"\n\tflag\n\tmore = a\\tb\n[include]\n\tpath = inc\n\tpath = ./inc2\n\tpath = ~/none\n[includeIf \"onbranch:x\"]\n\tpath = inc\n[a]\n\tlast = 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir, to := t.TempDir(), t.TempDir()
			write(t, filepath.Join(dir, "config"), text)
			write(t, filepath.Join(dir, "inc"), "[x]\n\ty = z\n[include]\n\tpath = inc2\n")
			write(t, filepath.Join(dir, "inc2"), "[x]\n\ty = z2\n")
			moved, err := Moved(filepath.Join(dir, "config"), dir)
			if err != nil {
				t.Fatal(err)
			}
			if same := string(moved) == text; same != (name == "control") {
				t.Errorf("the copy is\n%s", moved)
			}
			write(t, filepath.Join(to, "copy"), string(moved))
			list := func(file string) (all []string) {
				for item := range strings.SplitSeq(git(t, dir, "config", "-f", file, "--includes", "-z", "-l"), "\x00") {
					if !strings.HasPrefix(item, "include") {
						all = append(all, item)
					}
				}
				return all
			}
			if d := cmp.Diff(list(filepath.Join(dir, "config")), list(filepath.Join(to, "copy"))); d != "" {
				t.Errorf("-file +copy:\n%s", d)
			}
		})
	}
}
