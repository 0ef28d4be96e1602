package e2e

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// WorldRig serves a project in which commands are allowed, and have a world of a
// kind.
func WorldRig(t *testing.T, kind string, files map[string]string, more ...Object) *Rig {
	t.Helper()
	return WorldBy(t, kind, fakeeditor.Options{}, files, more...)
}

// WorldBy is worldRig with another editor.
func WorldBy(t *testing.T, kind string, opts fakeeditor.Options, files map[string]string, more ...Object) *Rig {
	t.Helper()
	if kind == Apart {
		return WorldApart(t, WorldProject(t, "copy", files, more...), opts)
	}
	return worldWith(t, WorldProject(t, kind, files, more...), opts)
}

// Apart is a copy on a machine without bubblewrap, where it is at a path of its own.
const Apart = "apart"

// WithoutBubblewrap are the arguments for unshare(1) with which a program finds none.
func WithoutBubblewrap(t *testing.T) []string {
	t.Helper()
	hides := []string{"-Urm", "sh", "-c", `for f in /usr/bin/bwrap "$(command -v bwrap)"; do mount --bind /dev/null "$f"; done; exec "$@"`, "sh"}
	if out, err := exec.CommandContext(t.Context(), "unshare", slices.Concat(hides, []string{"true"})...).CombinedOutput(); err != nil {
		needs.Skip(t, needs.Sandbox, fmt.Sprintf("bubblewrap can't be taken away here: %v, %s", err, out))
	}
	return hides
}

// WorldApart is worldIn on such a machine.
func WorldApart(t *testing.T, dir string, opts fakeeditor.Options) *Rig {
	t.Helper()
	server := program.ServerAnywhere(t)
	hides := WithoutBubblewrap(t)
	r := Begin(t, dir, opts, func(in io.Reader, out io.Writer) error {
		cmd := exec.Command("unshare", slices.Concat(hides, []string{server})...)
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		w, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(w, in) }()
		return cmd.Run()
	})
	r.Mode("review")
	if res := r.Tool("run_command", Object{"command": "true"}); !res.OK || !strings.Contains(res.Content, "at another path") {
		t.Fatal(res.Content)
	}
	return r
}

// WorldProject is Project with settings in which commands run in a kind of world.
func WorldProject(t *testing.T, kind string, files map[string]string, more ...Object) (dir string) {
	t.Helper()
	Home(t)
	set := Object{"commands.world": kind, "toolPermissions": Object{"run_command": "allow", "run_tests": "allow"}}
	for _, o := range more {
		maps.Copy(set, o)
	}
	UserSettings(t, set)
	return Project(t, files)
}

func WorldIn(t *testing.T, dir string) *Rig {
	t.Helper()
	return worldWith(t, dir, fakeeditor.Options{})
}

// worldWith is worldIn with another editor.
func worldWith(t *testing.T, dir string, opts fakeeditor.Options) *Rig {
	t.Helper()
	// Not this program, which the race detector makes slow to start.
	r := ServeBy(t, dir, opts, program.ServerAnywhere(t))
	r.Mode("review")
	if res := r.Tool("run_command", Object{"command": "true"}); strings.Contains(res.Content, "and there can be none") {
		needs.Skip(t, needs.Overlay, "there is none here: ", res.Content)
	} else if !res.OK {
		t.Fatal(res.Content)
	}
	return r
}

// EachWorld runs a test with each kind of world.
func EachWorld(t *testing.T, test func(t *testing.T, kind string)) {
	t.Helper()
	for _, kind := range []string{"overlay", "copy", Apart} {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

// Ran is run_command, which must go well.
func (r *Rig) Ran(command string, want ...string) string {
	r.T.Helper()
	res := r.Tool("run_command", Object{"command": command})
	if !res.OK {
		r.T.Errorf("%s: %s", command, res.Content)
	}
	for _, w := range want {
		if !strings.Contains(res.Content, w) {
			r.T.Errorf("%s: no %q in\n%s", command, w, res.Content)
		}
	}
	return res.Content
}

// GitIn runs git in a directory, as somebody.
func GitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// WorldInAsking is worldIn for a user who is asked before commands are run.
func WorldInAsking(t *testing.T, dir string) *Rig {
	t.Helper()
	r := ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
	r.Mode("review")
	return r
}

// Asker puts the program asker into a directory: it serves, and asks who listens.
func Asker(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "asker"), "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/testdata/init")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
}
