package border_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestAppears: a command that runs is paused, and its person asked, when a secret or a server
// comes in its sight; without a yes it ends.
func TestAppears(t *testing.T) {
	outside, sight := t.TempDir(), t.TempDir()
	l, err := net.Listen("unix", filepath.Join(outside, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		name string
		do   func(t *testing.T, dir string)
		want string // in the question
	}{
		{"a secret", func(t *testing.T, dir string) {
			e2e.Write(t, filepath.Join(dir, "sub", ".env"), "KEY="+secret+"\n")
		}, "sub/.env may hold some"},
		{"a secret that is moved in", func(t *testing.T, dir string) {
			at := filepath.Join(t.TempDir(), "keys")
			e2e.Write(t, filepath.Join(at, "id_rsa"), "KEY="+secret+"\n")
			if err := ownfile.Rename(at, filepath.Join(dir, "keys")); err != nil {
				t.Fatal(err)
			}
		}, "keys/id_rsa may hold some"},
		{"a bundle", func(t *testing.T, dir string) {
			e2e.GitIn(t, dir, "bundle", "create", "-q", "all.bundle", "HEAD")
		}, "there is a git bundle"},
		{"a socket that is moved", func(t *testing.T, _ string) {
			if err := ownfile.Rename(filepath.Join(outside, "s"), filepath.Join(sight, "s")); err != nil {
				t.Fatal(err)
			}
		}, "listens at " + filepath.Join(sight, "s")},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			dir := project(t, e2e.Object{"sandbox.readOnly": []string{sight}})
			e2e.Write(t, filepath.Join(dir, "sub", "run.sh"), "until [ -e go ]; do sleep 0.05; done; rev sub/.env keys/* 2>&1; echo went on\n")
			r := serve(t, dir)
			complete(r)
			res := r.Tool("run_command", e2e.Object{"background": true, "command": "sh sub/run.sh"})
			if !res.OK || res.Decision.Rule != "world.complete" {
				t.Fatalf("%+v", res)
			}
			e2e.Write(t, filepath.Join(dir, "sub", "other.txt"), "plain\n") // the control
			e2e.Write(t, filepath.Join(dir, "sub", "other.bundle"), "plain\n")
			c.do(t, dir)
			e2e.Until(t, "nobody is asked", func() bool { return len(r.Asked()) > 0 })
			e2e.Write(t, filepath.Join(dir, "go"), "")
			e2e.Until(t, "it does not end", func() bool {
				res = r.Tool("command_output", e2e.Object{"id": "1"})
				return !strings.Contains(res.Content, "running")
			})
			if asked := r.Asked(); len(asked) != 1 || !strings.Contains(asked[0], c.want) {
				t.Errorf("it asked %q", asked)
			}
			if strings.Contains(res.Content, "went on") || strings.Contains(res.Content, backwards) {
				t.Errorf("it went on: %s", res.Content)
			}
		})
	}
}

// TestBundles: what a git bundle has of former files is out of sight, too.
func TestBundles(t *testing.T) {
	dir := project(t, e2e.Object{"sensitive.allow": []string{"harmless.bundle"}})
	e2e.GitIn(t, dir, "bundle", "create", "-q", "sub.bundle", "HEAD")
	e2e.GitIn(t, dir, "bundle", "create", "-q", "harmless.bundle", "HEAD")
	e2e.Write(t, filepath.Join(dir, "text.bundle"), "plain\n")
	e2e.Write(t, filepath.Join(dir, "run.sh"), "head -c 5 sub.bundle | rev; echo .; head -c 5 harmless.bundle; cat text.bundle; git clone -q sub.bundle /tmp/x && echo cloned")
	r := serve(t, dir)
	complete(r)
	res := r.Tool("run_command", e2e.Object{"command": "sh run.sh; true"})
	if text := res.Content; res.Decision.Rule != "world.complete" || !strings.Contains(text, ".\n") || strings.Count(text, "# v") != 1 || strings.Contains(text, "v #") || strings.Contains(text, "cloned") || !strings.Contains(text, "plain") {
		t.Errorf("%+v", res)
	}
	if asked := r.Asked(); len(asked) > 0 {
		t.Errorf("it asked %q", asked)
	}
	if r.Tool("run_command", e2e.Object{"command": "git add -A"}); len(r.Asked()) != 1 || !strings.Contains(r.Asked()[0], "sub.bundle") {
		t.Errorf("it asked %q", r.Asked())
	}
}
