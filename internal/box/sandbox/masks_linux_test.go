package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// masked is a workspace with a repository, a protected file and a secret.
func masked(t *testing.T) spec.Spec {
	root := realTemp(t)
	for _, dir := range []string{".git/objects", ".git/refs", "sub"} {
		if err := ownfile.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".git/HEAD", ".git/config", ".mcp.json", "sub/.env", "key #1\\2.pem", "file"} {
		put(t, filepath.Join(root, name), "kept\n")
	}
	return spec.Spec{Root: root, Hidden: []string{filepath.Join(root, "sub/.env")}, Sealed: []string{filepath.Join(root, "key #1\\2.pem")}, Env: spec.Environ(os.Environ())}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := ownfile.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replaceFile replaces a file as git and many editors do.
func replaceFile(t *testing.T, name string) {
	t.Helper()
	put(t, name+".lock", "new\n")
	if err := ownfile.Rename(name+".lock", name); err != nil {
		t.Fatal(err)
	}
}

// TestMaskLost: what takes a protection away from outside ends the command; all
// else that is done beside it does not.
func TestMaskLost(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name string
		lost bool
		do   func(t *testing.T, root string)
	}{
		{".git/config", true, func(t *testing.T, root string) { replaceFile(t, filepath.Join(root, ".git/config")) }},
		{".mcp.json", true, func(t *testing.T, root string) { replaceFile(t, filepath.Join(root, ".mcp.json")) }},
		{"sub/.env", true, func(t *testing.T, root string) { replaceFile(t, filepath.Join(root, "sub/.env")) }},
		{"key #1\\2.pem", true, func(t *testing.T, root string) { replaceFile(t, filepath.Join(root, "key #1\\2.pem")) }},
		{".vscode", true, func(t *testing.T, root string) {
			if err := ownfile.Remove(filepath.Join(root, ".vscode")); err != nil {
				t.Fatal(err)
			}
		}},
		{".git/hooks", true, func(t *testing.T, root string) {
			if err := ownfile.Remove(filepath.Join(root, ".git/hooks")); err != nil {
				t.Fatal(err)
			}
		}},
		{"file", false, func(t *testing.T, root string) {
			replaceFile(t, filepath.Join(root, "file"))
			replaceFile(t, filepath.Join(root, ".git/HEAD"))
			put(t, filepath.Join(root, ".mcp.json"), "in place\n")
			put(t, filepath.Join(root, ".vscode/settings.json"), "{}\n")
			replaceFile(t, filepath.Join(root, ".vscode/settings.json"))
			if err := ownfile.Rename(filepath.Join(root, "sub"), filepath.Join(root, "moved")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		if t.Failed() {
			return // each that is not ended takes a minute
		}
		t.Run(strings.ReplaceAll(c.name, "/", "_"), func(t *testing.T) {
			eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, func(t *testing.T, s *Sandbox) {
				spec := masked(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a command that is not ended is a failure
				defer cancel()
				cmd, err := s.Command(ctx, spec, spec.Root, "bash", "-c", "echo ready; read line; echo read $line")
				if err != nil {
					t.Fatal(err)
				}
				in, go_, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				out, say := io.Pipe()
				var rest bytes.Buffer
				cmd.Stdin, cmd.Stdout, cmd.Stderr = in, say, say
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				in.Close()
				lines := bufio.NewReader(out)
				if line, err := lines.ReadString('\n'); line != "ready\n" {
					t.Fatal(line, err)
				}
				read := make(chan struct{})
				go func() {
					_, _ = lines.WriteTo(&rest)
					close(read)
				}()
				c.do(t, spec.Root)
				if !c.lost {
					_, _ = go_.WriteString("on\n")
				}
				err = cmd.Wait()
				go_.Close()
				say.Close()
				<-read
				words := cmd.Words()
				switch {
				case c.lost && (err == nil || !strings.Contains(words, "ended, because another program replaced or removed "+filepath.Join(spec.Root, c.name)+",")):
					t.Errorf("%v; %s", err, words)
				case !c.lost && (err != nil || rest.String() != "read on\n" || strings.Contains(words, "ended")):
					t.Errorf("%v; %s; said %q", err, words, rest.String())
				}
			})
		})
	}
}

// TestMovedAtOnce: a command that moves what lies under a protection, as soon as
// it begins, is not taken for one that lost it.
func TestMovedAtOnce(t *testing.T) {
	s := at(t, spec.Full)
	var all sync.WaitGroup
	for range 4 {
		spec := masked(t)
		all.Go(func() {
			for range 10 {
				cmd, err := s.Command(t.Context(), spec, spec.Root, "mv", "sub", "moved")
				if err != nil {
					t.Error(err)
					return
				}
				if err = cmd.Run(); err == nil {
					err = ownfile.Rename(filepath.Join(spec.Root, "moved"), filepath.Join(spec.Root, "sub"))
				}
				if err != nil {
					t.Errorf("%v: %s", err, cmd.Words())
					return
				}
			}
		})
	}
	all.Wait()
}

// TestLookOnly: a root that can only be read needs nothing that stands in.
func TestLookOnly(t *testing.T) {
	eachLevel(t, []spec.Level{spec.Landlock, spec.Bubblewrap, spec.Full}, func(t *testing.T, s *Sandbox) {
		asked := masked(t)
		script := "echo x > file; echo x > new; mkdir .vscode; rm .mcp.json; echo x > $TMPDIR/x && echo x > ~/x && cat file && ls -A"
		writes := sh(t, s, spec.Spec{Root: asked.Root, Env: asked.Env}, "echo kept > file && echo x > new && rm new")
		if writes.code != 0 {
			t.Errorf("the control can't write: %+v", writes)
		}
		asked.LookOnly, asked.Home = true, realTemp(t)
		r := sh(t, s, asked, script)
		want := "kept\n.git\n.mcp.json\nfile\nkey #1\\2.pem\nsub\n"
		if r.code != 0 || r.out != want || strings.Count(r.said, "ermission denied")+strings.Count(r.said, "ead-only file system") != 4 {
			t.Errorf("%+v", r)
		}
	})
}

// TestSweep: what a server left behind goes, unless a command runs or it is not
// ours.
func TestSweep(t *testing.T) {
	s := at(t, spec.Full)
	asked := masked(t)
	for _, name := range []string{".idea", ".vscode", ".cursor", ".git/info"} {
		path := filepath.Join(asked.Root, name)
		if err := ownfile.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if name != ".idea" {
			if err := ownfile.Chmod(path, 0o755|os.ModeSticky); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(t, filepath.Join(asked.Root, ".cursor/rules"), "of the user's\n")
	g, err := mask.Protect(asked.Root, nil, mask.Itself)
	if err != nil {
		t.Fatal(err)
	}
	mask.Sweep(asked.Root)
	if n := len(leftovers(t, asked.Root)); n < len(spec.Missing) {
		t.Errorf("%d are left while a command runs", n)
	}
	g.Locks[0].Close() // as the end of a server does
	mask.Sweep(asked.Root)
	if left := leftovers(t, asked.Root); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	for name, want := range map[string]bool{".idea": true, ".cursor/rules": true, ".vscode": false, ".git/info": false, ".claude": false} {
		if got := spec.Exists(filepath.Join(asked.Root, name)); got != want {
			t.Errorf("%s is there: %v", name, got)
		}
	}
	if r := run(t, s, asked, "true"); r.code != 0 {
		t.Errorf("%+v", r)
	}
}
