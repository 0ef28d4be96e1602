package world_test

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// value is in the secrets of these tests, and backwards what a command prints
// that could read one: no filter of results knows that.
const value = "value-that-nobody-knows"

var backwards = func() string {
	b := []byte(value)
	slices.Reverse(b)
	return string(b)
}()

// TestSecretsOfCommands: wherever a secret lies, and whatever lies beside it, a
// command can't read it, or does not run.
func TestSecretsOfCommands(t *testing.T) {
	slow.Test(t)
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		tried, held, controls := 0, 0, 0
		for _, c := range []struct {
			name, setup, before, read string // before is a command that runs first
			says                      string // by the last one
		}{
			{"in the root", "echo $V > .env", "", ".env", ""},
			{"deep", "mkdir -p 1/2/3/4/5/6/7/8/9; echo $V > 1/2/3/4/5/6/7/8/9/.env", "", "1/2/3/4/5/6/7/8/9/.env", ""},
			{"in a package", "mkdir -p node_modules/x; echo $V > node_modules/x/.env", "", "node_modules/x/.env", ""},
			{"in a shadow", "mkdir -p .sidecar/shadows/a; echo $V > .sidecar/shadows/a/.env", "", ".sidecar/shadows/a/.env", ""},
			{"after many, in a directory of their own", "mkdir a; for i in {1..6000}; do : > a/.env.$i; done; echo $V > .env; echo $V > a/.env.x", "", ".env a/.env.x", ""},
			{"after many, beside it", "for i in {1..6000}; do : > .env.$i; done; echo $V > .env", "", ".env", "sensitive.allow"},
			{"made many by a command", "echo $V > .env", "for i in {1..1500}; do : > z.$i.pem; done", ".env", "sensitive.allow"},
			{"moved into a git directory", "mkdir s; echo $V > s/.env", "mkdir -p x/.git/refs; mv s x/.git/refs/", "x/.git/refs/s/.env", ""},
			{"moved deeper", "mkdir s; echo $V > s/.env", "mkdir -p 1/2/3/4/5/6/node_modules; mv s 1/2/3/4/5/6/node_modules", "1/2/3/4/5/6/node_modules/s/.env", ""},
			{"in a directory that is closed", "mkdir s; echo $V > s/.env; chmod 0 s", "", "s/.env", ""},
			{"in a directory that lets nobody in", "mkdir s; echo $V > s/.env; chmod 400 s", "", "s/.env", ""},
			{"in a nested repository", e2e.Sub + "; echo $V > sub/.env", "", "sub/.env", ""},
		} {
			t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
				h := *h
				h.T = t
				setup := "V=" + value + "\n" + c.setup
				read := "chmod 700 s 2>/dev/null; for f in " + c.read + "; do rev $f; done"
				tried++
				root := h.Workspace("control", setup)
				if out := h.Sh(root, c.before+"\n"+read); strings.Contains(out, backwards) {
					controls++
				} else {
					t.Errorf("without the sandbox it can't be read either: %s", out)
				}
				root = h.Workspace("confined", setup)
				if c.says != "" { // of what a command makes, that is about the disk
					h.OnDisk()
					defer h.InWorld()
				}
				if c.before != "" {
					h.Call(root, c.before)
				}
				out, code := h.Call(root, read)
				if strings.Contains(out, backwards) {
					t.Errorf("it is read: exit %d\n%s", code, out)
					return
				}
				held++
				if !strings.Contains(out, c.says) || c.says == "" && !strings.Contains(out, "[exit code ") {
					t.Errorf("exit %d: %s", code, out)
				}
			})
		}
		t.Logf("%d of %d held, %d controls", held, tried, controls)
	})
}

// TestTrackedSecrets: what git tracks is hidden as a file and can be read out of
// the repository, which a session is told once.
func TestTrackedSecrets(t *testing.T) {
	slow.Test(t)
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		root := h.Workspace("tracked", "echo "+value+" > .env; git add .env; git commit -qm secret")
		out, _ := h.Call(root, "rev .env; git show HEAD:.env | rev")
		if strings.Count(out, backwards) != 1 || !strings.Contains(out, "git tracks .env:") {
			t.Error(out)
		}
		doctor := h.Command(root, h.Server, "doctor", "--root", root)
		said, _ := doctor.CombinedOutput()
		if !strings.Contains(string(said), "git tracks .env:") {
			t.Errorf("%s", said)
		}
	})
}

// TestSocketsOfCommands: who listens in the workspace is not reached by
// commands; a socket that was left behind is in nobody's way.
func TestSocketsOfCommands(t *testing.T) {
	slow.Test(t)
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		root := h.Workspace("sockets", "mkdir -p a/b/c/d/e/f/g")
		connect := func(name string) string {
			return fmt.Sprintf(`perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un("%s")) or die "refused\n"; print "reached\n"'`+"\n", name)
		}
		held, controls, tried := 0, 0, 0
		for _, name := range []string{"sock", "a/b/c/d/e/f/g/.nvim.sock"} {
			l, err := net.Listen("unix", filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := ownfile.Chmod(filepath.Join(root, name), 0o777); err != nil {
				t.Fatal(err)
			}
			tried++
			if out := h.Sh(root, connect(name)); strings.Contains(out, "reached") {
				controls++
			}
			if out, _ := h.Call(root, connect(name)); !strings.Contains(out, "refused") {
				t.Errorf("%s: %s", name, out)
			} else {
				held++
			}
		}
		t.Logf("%d of %d held, %d controls", held, tried, controls)
		if controls < tried {
			t.Error("without the sandbox they can't be reached either")
		}
		h.Sh(root, `perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un("left"))'`)
		if out, code := h.Call(root, "test -S left && rm left"); code != 0 {
			t.Errorf("a socket that was left behind: %s", out)
		}
		if out, code := h.Call(root, strings.Replace(connect("own"), "connect(S", "bind(S,sockaddr_un(\"own\")); listen(S,1); socket(T,PF_UNIX,SOCK_STREAM,0); connect(T", 1)); code != 0 || !strings.Contains(out, "reached") {
			t.Errorf("a socket of its own: %s", out)
		}
	})
}
