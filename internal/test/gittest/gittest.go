// Package gittest makes repositories for tests with the git command, apart
// from the settings of the machine and its user.
package gittest

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// Repo is a working tree in a directory of its own.
type Repo struct {
	t   testing.TB
	Dir string // links resolved
}

// New makes an empty repository whose branch is main. It gives the process a
// home of its own, so the test can't be parallel.
func New(t testing.TB) *Repo {
	t.Helper()
	Isolate(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &Repo{t, filepath.Join(dir, "work")}
	r.run(dir, nil, "init", "-q", "-b", "main", "work")
	return r
}

// Isolate gives the process a home with nothing but a name in git's settings,
// and dates that don't change; git does not wait for the disk. Without a git command the test is skipped.
func Isolate(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		needs.Skip(t, needs.Git, "there is no git command")
	}
	home := t.TempDir()
	for key, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"),
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "TZ": "UTC",
		"GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
	} {
		t.Setenv(key, value)
	}
	settings := "[user]\n\tname = A U Thor\n\temail = author@example.com\n[protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n[core]\n\tfsync = none\n[advice]\n\tdetachedHead = false\n"
	if err := ownfile.WriteFile(filepath.Join(home, ".gitconfig"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
}

// At is the repository seen from another directory: a linked working tree, or
// a submodule.
func (r *Repo) At(dir string) *Repo {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Dir, dir)
	}
	return &Repo{r.t, dir}
}

// Git runs the git command and returns what it prints; it must succeed.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.run(r.Dir, nil, args...)
}

// GitIn is Git with an input.
func (r *Repo) GitIn(input string, args ...string) string {
	r.t.Helper()
	return r.run(r.Dir, []byte(input), args...)
}

// Try runs the git command, which may fail, and reports whether it succeeded.
func (r *Repo) Try(args ...string) bool {
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.Dir
	return cmd.Run() == nil
}

func (r *Repo) run(dir string, input []byte, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, bytes.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// Write writes files given as name, text, name, text…
func (r *Repo) Write(files ...string) {
	r.t.Helper()
	for i := 0; i+1 < len(files); i += 2 {
		path := r.Path(files[i])
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := ownfile.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

// Commit writes files, stages everything and commits.
func (r *Repo) Commit(message string, files ...string) {
	r.t.Helper()
	r.Write(files...)
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", message)
}

// Path is the operating system's path of a name.
func (r *Repo) Path(name string) string { return filepath.Join(r.Dir, filepath.FromSlash(name)) }
