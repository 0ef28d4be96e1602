package proctree

import (
	"os"
	"os/exec"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wine"
)

// TestServerDies: nothing is left of a tree when who has started it is killed.
func TestServerDies(t *testing.T) {
	cmd := echo("server")
	p := piped(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.started()
	p.lives(t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	p.gone(t)
}

// TestDescends: what belongs to a tree is known, and stays so.
func TestDescends(t *testing.T) {
	is := func(pid int) bool {
		t.Helper()
		yes, err := Descends(pid)
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	tree, _ := startTree(t, echo("parent"), Limits{})
	if !is(tree.PID()) {
		t.Error("a command of a tree is a stranger")
	}
	tree.Kill()
	_ = tree.Wait()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), role+"=echo")
	p := piped(t, other)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	p.started()
	p.lives(t)
	if is(other.Process.Pid) || is(os.Getpid()) {
		t.Error("what is in no tree is taken for a part of one")
	}
	p.in.Close()
	_ = other.Wait()
	if _, err := Descends(0); err == nil {
		t.Error("there is no such process")
	}
}

// TestLimits: a tree has so many processes and no more.
func TestLimits(t *testing.T) {
	if wine.Running() {
		needs.Skip(t, needs.Wine, "Wine takes the limits of a job, but does not keep them")
	}
	for n, want := range map[int64]bool{1: false, 2: true} {
		cmd := echo("leaves")
		p := piped(t, cmd)
		tree, err := Start(cmd, Limits{Processes: n, Memory: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		p.started()
		_, _ = p.in.WriteString("word\n")
		if line, _ := p.out.ReadString('\n'); (line == "word\n") != want {
			t.Errorf("%d: %q", n, line)
		}
		tree.Kill()
		_ = tree.Wait()
	}
}
