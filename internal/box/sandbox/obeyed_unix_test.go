//go:build unix

package sandbox

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// made makes directories and files in a directory; a name that ends in / is a
// directory, and one with -> a link.
func made(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, target, isLink := strings.Cut(name, "->")
		path := filepath.Join(dir, name)
		err := ownfile.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = ownfile.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = ownfile.MkdirAll(path, 0o755)
		default:
			err = ownfile.WriteFile(path, []byte("gitdir: elsewhere\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestObeyed: what programs obey in a directory, there or not.
func TestObeyed(t *testing.T) {
	repo := func(git string) []string {
		return []string{git + "/HEAD", git + "/objects/", git + "/refs/", git + "/config"}
	}
	for _, c := range []struct {
		name         string
		files        []string
		repositories []string
		in           string // the directory, below the one that is made
		want, not    []string
	}{
		{name: "nothing there", want: spec.Missing, not: []string{".npmrc", ".git/hooks"}},
		{name: "files that are there", files: []string{".npmrc", ".zshrc"}, want: append([]string{".npmrc", ".zshrc"}, spec.Missing...), not: []string{".bashrc"}},
		{name: "a repository", files: repo(".git"), want: []string{".git/hooks", ".git/config", ".git/config.worktree", ".git/info", ".git/modules", ".git/worktrees", ".git/commondir"}, not: []string{".git", ".git/HEAD", ".git/index"}},
		{name: "a repository in it", files: append(repo("sub/.git"), ".git/"), repositories: []string{"sub/.git"}, want: []string{"sub/.git/hooks", "sub/.git/commondir", ".git"}, not: []string{"sub/.git"}},
		{name: "one of another name", files: repo("mirror.git"), repositories: []string{"mirror.git"}, want: []string{"mirror.git/hooks"}, not: []string{"mirror.git"}},
		{name: "one that is gone", repositories: []string{"gone/.git"}, not: []string{"gone/.git"}},
		{name: "a bare one", files: repo("bare"), in: "bare", want: []string{"bare/hooks", "bare/config", "bare/.vscode"}, not: []string{"bare", "bare/HEAD"}},
		{name: "the file of a working tree", files: []string{".git"}, want: []string{".git"}},
		{name: "one in it", files: []string{"tree/.git"}, repositories: []string{"tree/.git"}, want: []string{"tree/.git"}},
		{name: "the git directory of a working tree", files: []string{"w/HEAD", "w/commondir"}, in: "w", want: []string{"w/commondir", "w/gitdir", "w/config.worktree", "w/modules"}, not: []string{"w/HEAD", "w/.vscode"}},
		{name: "objects", files: repo("r"), in: "r/objects", not: []string{"r/objects/.vscode", "r/objects/.git"}},
	} {
		dir := made(t, c.files...)
		spec := spec.Spec{Root: dir}
		for _, r := range c.repositories {
			spec.Repositories = append(spec.Repositories, filepath.Join(dir, r))
		}
		list, _, err := obeyed(spec, filepath.Join(dir, c.in))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, name := range c.want {
			if !slices.Contains(list, filepath.Join(dir, name)) {
				t.Errorf("%s: no %s in %q", c.name, name, list)
			}
		}
		for _, name := range c.not {
			if slices.Contains(list, filepath.Join(dir, name)) {
				t.Errorf("%s: %s is in %q", c.name, name, list)
			}
		}
	}
	// A working tree sees its repository, if that knows the tree.
	dir := made(t, append(repo("main/.git"), "main/.git/worktrees/w/", "w/")...)
	own := filepath.Join(dir, "main/.git/worktrees/w")
	for name, text := range map[string]string{filepath.Join(dir, "w/.git"): "gitdir: " + own, own + "/gitdir": filepath.Join(dir, "w/.git"), own + "/commondir": "../.."} {
		if err := ownfile.WriteFile(name, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, see, err := obeyed(spec.Spec{Root: filepath.Join(dir, "w")}, filepath.Join(dir, "w"))
	if err != nil || !slices.Contains(list, filepath.Join(dir, "w/.git")) || !slices.Equal(see, []string{filepath.Join(dir, "main/.git")}) {
		t.Errorf("%q, %q, %v", list, see, err)
	}
	for _, files := range [][]string{{"real/", ".vscode->real"}, {"real/", ".git->real"}, append(repo(".git"), "hooks/", ".git/hooks->../hooks")} {
		dir := made(t, files...)
		var refused *spec.RefusedError
		if _, _, err := obeyed(spec.Spec{Root: dir}, dir); !errors.As(err, &refused) || !strings.Contains(refused.Why, "is a link") {
			t.Errorf("%q: %v", files, err)
		}
	}
}

// TestEscapeLines: each attempt to escape by a shell works where there is no sandbox,
// else it would hold everywhere.
func TestEscapeLines(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	e, err := newEscape(made(t), listener.Addr())
	if err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash") // as macOS has it as sh
	if err != nil {
		needs.Skip(t, needs.Bash, "there is no bash")
	}
	home := t.TempDir()
	run := func(script string) string {
		cmd := exec.CommandContext(t.Context(), bash, "-c", script)
		cmd.Dir, cmd.Env = e.root, append(e.spec().Env, "HOME="+home, "TMPDIR="+home)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if out := run(ordinary); out != "one\ntwo\n" {
		t.Errorf("the ordinary script prints %q", out)
	}
	out := strings.Split(run(e.script()), "\n")
	for _, a := range escapes {
		if !slices.Contains(out, a.name) {
			t.Errorf("%s: %s fails without a sandbox", a.name, a.line)
		}
	}
}
