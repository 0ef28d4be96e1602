package gitrepo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// world is a directory with a repository and the user's own settings, apart
// from those of whoever runs the test.
type world struct {
	t                 *testing.T
	dir, home, marker string
	*Repo
}

// newWorld makes dir/work with one commit of a.txt and b.txt. A program evil,
// on PATH, leaves a mark.
func newWorld(t *testing.T, o Options) *world {
	t.Helper()
	w := emptyWorld(t)
	w.write("a.txt", "one\n")
	w.write("b.txt", "two\n")
	w.sh("git init -q && mkdir -p .git/info .git/hooks && git add . && git commit -qm first")
	w.open(o)
	return w
}

// emptyWorld is newWorld before there is a repository. As nobody cuts the power, git
// need not wait for the disk.
func emptyWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		needs.Skip(t, needs.Git, "there is no git command to compare with")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home"), marker: filepath.Join(dir, "marker")}
	w.write("../home/.gitconfig", "[user]\n\tname = A User\n\temail = user@example.test\n[init]\n\tdefaultBranch = master\n\ttemplateDir =\n[core]\n\tfsync = none\n")
	w.write("../bin/evil", "#!/bin/sh\necho evil >> "+w.marker+"\n")
	if err := ownfile.Chmod(filepath.Join(dir, "bin/evil"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", w.home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(w.home, ".config"))
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return w
}

// open opens the repository.
func (w *world) open(o Options) {
	w.t.Helper()
	var err error
	if o.Programs == nil {
		o.Programs = anywhere.Programs()
	}
	if w.Repo, err = Open(w.path(""), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, "work", name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(w.path(name)), 0o755), ownfile.WriteFile(w.path(name), []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// try runs a line of shell in the working tree, as a user would.
func (w *world) try(line string) (string, error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = w.path("")
	if err := ownfile.MkdirAll(cmd.Dir, 0o755); err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

func (w *world) sh(line string) string {
	w.t.Helper()
	out, err := w.try(line)
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

// fired reports whether evil ran, and forgets it.
func (w *world) fired() bool {
	_, err := os.Stat(w.marker)
	ownfile.Remove(w.marker)
	return err == nil
}

func failureKind(err error) gitcmd.Kind {
	var f *gitcmd.Failure
	if errors.As(err, &f) {
		return f.Kind
	}
	return -1
}

func TestOnlyTheTable(t *testing.T) {
	w := newWorld(t, Options{})
	for _, c := range []struct {
		name string
		c    gitcmd.Invocation
		ok   bool
	}{
		{"a row", gitcmd.Invocation{Op: "resolve", Args: []string{"HEAD"}}, true},
		{"flag of the row", gitcmd.Invocation{Op: "list-commits", Args: []string{"--max-count=1", "HEAD"}}, true},
		{"variable of ours", gitcmd.Invocation{Op: "write-tree", Env: []string{"GIT_INDEX_FILE=" + filepath.Join(w.GitDir, "index")}}, true},
		{"no row", gitcmd.Invocation{Op: "daemon"}, false},
		{"unknown flag", gitcmd.Invocation{Op: "list-commits", Args: []string{"--output=x", "HEAD"}}, false},
		{"flag for a value", gitcmd.Invocation{Op: "resolve", Args: []string{"--git-dir"}}, false},
		{"NUL", gitcmd.Invocation{Op: "resolve", Args: []string{"HEAD\x00x"}}, false},
		{"empty value", gitcmd.Invocation{Op: "resolve", Args: []string{""}}, false},
		{"paths where there are none", gitcmd.Invocation{Op: "resolve", Args: []string{"HEAD"}, Paths: []string{"a.txt"}}, false},
		{"network where there is none", gitcmd.Invocation{Op: "resolve", Args: []string{"HEAD"}, Network: true}, false},
		{"foreign variable", gitcmd.Invocation{Op: "resolve", Args: []string{"HEAD"}, Env: []string{"GIT_SSH_COMMAND=evil"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := w.Git.Run(t.Context(), c.c); (err == nil) != c.ok {
				t.Errorf("got error %v, want success %v", err, c.ok)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	w := newWorld(t, Options{})
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.editor'='evil'")
	t.Setenv("GIT_EXTERNAL_DIFF", "evil")
	t.Setenv("SOME_TOKEN", "x")
	t.Setenv("SSH_AUTH_SOCK", "/nowhere")
	w.sh("echo '*.txt filter=x' > .git/info/attributes; git config --global filter.x.clean 'env > " + w.dir + "/env; cat'; echo x >> a.txt")
	if _, err := w.Git.Run(t.Context(), gitcmd.Invocation{Op: "stage", Stdin: []byte("a.txt\x00")}); err != nil {
		t.Fatal(err)
	}
	env := w.read("../env")
	for _, want := range []string{"PATH=", "HOME=" + w.home, "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=:", "GIT_ALLOW_PROTOCOL=none", "GIT_LITERAL_PATHSPECS=1"} {
		if !strings.Contains(env, want) {
			t.Errorf("%s is missing in\n%s", want, env)
		}
	}
	for _, not := range []string{"GIT_CONFIG_PARAMETERS", "GIT_EXTERNAL_DIFF", "SOME_TOKEN", "GIT_SSH"} {
		if strings.Contains(env, not) {
			t.Errorf("%s is in\n%s", not, env)
		}
	}
}

func TestStop(t *testing.T) {
	w := newWorld(t, Options{})
	started := filepath.Join(w.dir, "started")
	w.sh("mkfifo " + started)
	w.write("../bin/filter", "#!/bin/sh\ntrap '' TERM\nsleep 1000 & echo $! > "+started+"\nwait\nsleep 1000\n")
	w.sh("chmod +x ../bin/filter; echo '*.txt filter=x' > .git/info/attributes; git config --global filter.x.clean filter; echo x >> a.txt")
	ctx, cancel := context.WithCancel(t.Context())
	var pid string
	go func() {
		data, _ := os.ReadFile(started) // the pipe's other end opens when the filter runs
		pid = strings.TrimSpace(string(data))
		cancel()
	}()
	_, err := w.Git.Run(ctx, gitcmd.Invocation{Op: "stage", Stdin: []byte("a.txt\x00")})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the cancellation", err)
	}
	if pid == "" || alive(pid) {
		t.Errorf("the filter's process %q lives on", pid)
	}
	if _, err := os.Stat(filepath.Join(w.GitDir, "index.lock")); err == nil {
		t.Error("a lock stays behind")
	}
	if got := w.sh("git log --format=%s"); got != "first" {
		t.Errorf("commits: %s", got)
	}
}

// alive reports whether a process that was killed is still there after a
// minute, in which the kernel could end it. A dead one that nobody has asked
// about is not.
func alive(pid string) bool {
	for late := time.Now().Add(time.Minute); time.Now().Before(late); {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return false
		}
		runtime.Gosched()
	}
	return true
}

func TestOutputIsBounded(t *testing.T) {
	w := newWorld(t, Options{})
	if out, err := w.Git.Run(t.Context(), gitcmd.Invocation{Op: "blob", Args: []string{"HEAD:a.txt"}, Limit: 4}); err != nil || string(out) != "one\n" {
		t.Errorf("at the limit: %q, %v", out, err)
	}
	if _, err := w.Git.Run(t.Context(), gitcmd.Invocation{Op: "blob", Args: []string{"HEAD:a.txt"}, Limit: 3}); failureKind(err) != gitcmd.TooMuch {
		t.Errorf("above the limit: %v", err)
	}
}

func TestWithoutGit(t *testing.T) {
	w := newWorld(t, Options{Git: gitcmd.NoGit})
	ctx := t.Context()
	before := w.sh("git branch topic; echo x >> a.txt; git rev-parse HEAD; git status --porcelain")
	for what, err := range map[string]error{
		"stage":      func() error { _, err := w.Stage(ctx, StageRequest{}); return err }(),
		"commit":     func() error { _, err := w.Commit(ctx, "m", nil, "", nil); return err }(),
		"branch":     w.CreateBranch(ctx, "new"),
		"push":       func() error { _, err := w.Push(ctx, "", false, nil); return err }(),
		"pull":       func() error { _, err := w.Pull(ctx, nil, nil, nil); return err }(),
		"stash":      func() error { _, err := w.StashPush(ctx, "", ""); return err }(),
		"list stash": func() error { _, err := w.Stashes(ctx); return err }(),
		"switch":     func() error { _, err := w.SwitchBranch(ctx, "topic"); return err }(),
		"delete":     w.DeleteBranch(ctx, "topic"),
		"some paths": func() error {
			_, err := w.CommitPaths(ctx, CommitRequest{Message: "m", Paths: []PathState{{Path: "a.txt"}}})
			return err
		}(),
	} {
		if !errors.Is(err, gitcmd.ErrNoGit) {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.same("git rev-parse HEAD; git status --porcelain", before)
	list, _, err := w.Branches(ctx)
	if err != nil || len(list) != 2 || !list[0].Current || list[1].Name != "topic" {
		t.Errorf("branches: %+v, %v", list, err)
	}
	if head, err := w.Head(ctx); err != nil || !strings.HasPrefix(before, head) {
		t.Errorf("HEAD: %q, %v", head, err)
	}
}

func TestCleanMessage(t *testing.T) {
	for in, want := range map[string]string{
		"fatal: x\n":                    "fatal: x",
		"a\r10%\rdone\nb\n":             "done\nb",
		"\x1b[31mred\x1b[0m":            "red",
		"\x1b]8;;https://x\x07link":     "link",
		"https://u:p@h.test/x failed":   "https://***@h.test/x failed",
		"ssh://git@h.test/x":            "ssh://***@h.test/x",
		"hint: do this\nreal":           "real",
		"tab\tstays, bell\a goes\u202e": "tab\tstays, bell goes",
		"bad \xff byte":                 "bad \uFFFD byte",
	} {
		if got := gitcmd.CleanMessage(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
