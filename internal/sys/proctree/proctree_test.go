package proctree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// role is the variable that makes this test program one of the processes below.
const role = "PROCTREE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "echo": // says each line again
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "parent": // starts that, and stays
		_ = echo("echo").Run()
	case "leaves": // starts that, and goes
		if err := echo("echo").Start(); err != nil {
			fmt.Println(err)
		}
	case "server": // starts a tree, and stays
		_ = Run(echo("parent"))
	}
	os.Exit(0)
}

// echo is a process with this role and the streams of this one.
func echo(as string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+as)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// pipes are the streams of a command, as its descendants have them too.
type pipes struct {
	in     *os.File
	out    *bufio.Reader
	theirs []*os.File
}

func piped(t *testing.T, cmd *exec.Cmd) *pipes {
	t.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() })
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, nil
	return &pipes{in, bufio.NewReader(out), []*os.File{theirIn, theirOut}}
}

// started leaves the ends of the processes to them.
func (p *pipes) started() {
	for _, f := range p.theirs {
		f.Close()
	}
}

// lives waits for an answer of the last process.
func (p *pipes) lives(t *testing.T) {
	t.Helper()
	if _, err := p.in.WriteString("word\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := p.out.ReadString('\n'); err != nil || line != "word\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

// gone waits until nobody has the streams any more.
func (p *pipes) gone(t *testing.T) {
	t.Helper()
	if rest, err := io.ReadAll(p.out); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

func startTree(t *testing.T, cmd *exec.Cmd, l Limits) (*Tree, *pipes) {
	t.Helper()
	p := piped(t, cmd)
	tree, err := Start(cmd, l)
	if err != nil {
		t.Fatal(err)
	}
	p.started()
	p.lives(t)
	return tree, p
}

// TestKill: what a command has started ends with the tree, and would not with the
// command.
func TestKill(t *testing.T) {
	t.Run("a tree", func(t *testing.T) {
		tree, p := startTree(t, echo("parent"), Limits{})
		tree.Kill()
		p.gone(t)
		if err := tree.Wait(); err == nil {
			t.Error("it ended well")
		}
		tree.Kill() // finds nothing
		if tree.Terminate() {
			t.Error("there is somebody to be asked")
		}
	})
	t.Run("the control", func(t *testing.T) {
		cmd := echo("parent")
		p := piped(t, cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.started()
		p.lives(t)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		p.lives(t)
		p.in.Close()
		p.gone(t)
	})
	t.Run("a context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), role+"=parent")
		tree, p := startTree(t, cmd, Limits{})
		cancel()
		p.gone(t)
		if err := tree.Wait(); err == nil {
			t.Error("it ended well")
		}
	})
}

// TestWait: what a command leaves behind ends with it, or does not.
func TestWait(t *testing.T) {
	t.Run("ended", func(t *testing.T) {
		tree, p := startTree(t, echo("leaves"), Limits{})
		if err := tree.Wait(); err != nil {
			t.Error(err)
		}
		p.gone(t)
	})
	t.Run("left", func(t *testing.T) {
		tree, p := startTree(t, echo("leaves"), Limits{})
		if err := tree.cmd.Wait(); err != nil {
			t.Error(err)
		}
		tree.Leave()
		p.lives(t)
		p.in.Close()
		p.gone(t)
	})
}

func TestRun(t *testing.T) {
	if err := Run(exec.Command(os.Args[0], "-test.run=^$")); err != nil {
		t.Error(err)
	}
	if err := Run(exec.Command(os.Args[0], "-no-such-flag")); err == nil {
		t.Error("a command that fails")
	}
	if err := Run(exec.Command("no-such-program-anywhere")); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program that is not there: %v", err)
	}
}
