package world

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// dieAt names the variable that makes this program a server that is killed at
// that point; its first argument is the workspace. dieIn names the kind of world.
const (
	dieAt = "SIDECAR_TEST_DIE_AT"
	dieIn = "SIDECAR_TEST_DIE_IN"

	dieHolding = "SIDECAR_TEST_DIE_HOLDING" // output is held
	dieLine    = "SIDECAR_TEST_DIE_LINE"    // another command than dying
)

// dying is a command that changes reviewed files and makes output, and then says so.
const dying = "echo changed > a.txt; echo new > new.txt; rm b.txt; echo o > out/one.o; mkdir -p out/dir; echo o > out/dir/two.o; echo done; "

// die runs a command in a world and kills itself on the way.
func die(at string) int {
	kill := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	root := os.Args[1]
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: root}}, workspace.DiskOptions{})
	if err != nil {
		return fail(err)
	}
	kind := Kind(os.Getenv(dieIn))
	box := boxFor(kind)
	m := New(Options{Box: box, Fail: func(point string) {
		if point == at {
			kill()
			select {}
		}
	}})
	run, err := m.Begin(Request{Session: "s", Kind: kind, Root: root, Linked: linkedAt(root), View: workspace.NewOverlay(disk, &queue{texts: map[string][]byte{}}), Hold: os.Getenv(dieHolding) != ""})
	if err != nil {
		return fail(err)
	}
	line := cmp.Or(os.Getenv(dieLine), dying)
	if at == "running" {
		line += "sleep 600"
	}
	spec := specOf(run, root)
	if l := linkedAt(root); l != nil {
		spec.ReadOnly = append(spec.ReadOnly, l.Common)
	}
	cmd, err := box.Command(context.Background(), spec, run.In(root), "bash", "-c", line)
	if err != nil {
		return fail(err)
	}
	said := io.Writer(os.Stdout)
	if at == "running" {
		said = onWrite(kill)
	}
	// The command has this program's own output, too: who reads that knows when all
	// of them are gone.
	cmd.Stdout, cmd.Stderr = said, os.Stderr
	if err := cmd.Run(); err != nil {
		return fail(err)
	}
	if _, err := run.End(true); err != nil {
		return fail(err)
	}
	return fail(fmt.Errorf("it was not killed at %s", at))
}

// linkedAt is where the repository of a linked working tree is.
func linkedAt(root string) *Linked {
	text, err := os.ReadFile(filepath.Join(root, ".git"))
	if err != nil {
		return nil
	}
	own := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir: "))
	return &Linked{Own: own, Common: filepath.Dir(filepath.Dir(own))}
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 3
}

type onWrite func()

func (f onWrite) Write(b []byte) (int, error) {
	f()
	select {}
}

// TestKilled: wherever the server is killed, the files are as they were, output
// came whole or not at all, no process is left, and the next server tidies up.
func TestKilled(t *testing.T) { eachKind(t, testKilled) }

func testKilled(t *testing.T, kind Kind) {
	for _, at := range []string{"prepared", "running", "walked", "ended", "moved"} {
		t.Run(at, func(t *testing.T) {
			r := newRig(t, kind, map[string]string{".gitignore": "out/\n", "a.txt": "a\n", "b.txt": "b\n", "out/old.o": "old\n"})
			before := r.tree("out")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), self, r.root)
			cmd.Env = append(os.Environ(), dieAt+"="+at, dieIn+"="+string(kind))
			out, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(out) // until nobody has it open
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Fatalf("it ended with %v: %s", cmd.ProcessState, said)
			}
			if after := r.tree("out"); after != before {
				t.Errorf("the files are\n%s\nwere\n%s", after, before)
			}
			for name, text := range map[string]string{"out/old.o": "old\n", "out/one.o": "o\n", "out/dir/two.o": "o\n"} {
				if data, err := os.ReadFile(filepath.Join(r.root, name)); err == nil && string(data) != text {
					t.Errorf("%s is %q", name, data)
				}
			}
			if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), "sidecar-ls/worlds") {
				t.Errorf("a mount is left: %v", err)
			}
			if err := New(Options{}).Sweep(r.root); err != nil {
				t.Error(err)
			}
			// What nobody took waits to be taken, once; before the command began there is nothing.
			want := "create new.txt, delete b.txt, modify a.txt"
			switch {
			case at == "prepared":
				want = ""
			case kind != Overlay: // of a copy nobody knows what was deleted
				want = "create new.txt, modify a.txt"
			}
			if got := r.left(); got != want {
				t.Errorf("left for review: %q, want %q", got, want)
			}
			if again := r.left(); again != "" {
				t.Errorf("taken twice: %q", again)
			}
			if left, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "worlds", prefix(r.root)+"*")); err != nil || len(left) != 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
			if out, h := r.run(dying); out != "done\n" || kinds(h.Changes) != "create new.txt, delete b.txt, modify a.txt" {
				t.Errorf("the next server's command said %q and changed %s", out, kinds(h.Changes))
			}
		})
	}
}
