//go:build !linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// role is the variable that makes this test program one of the commands below.
const role = "SANDBOX_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "parent", "leaves": // starts that, and stays or goes
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), role+"=echo")
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		if cmd.Start() == nil && os.Getenv(role) == "parent" {
			_ = cmd.Wait()
		}
	case "fails":
		os.Stderr.WriteString("no\n")
		os.Exit(3)
	}
	os.Exit(0)
}

// here is the directory of this package, in which nothing is written.
func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func command(t *testing.T, ctx context.Context, as string) *Cmd {
	t.Helper()
	root := here(t)
	c, err := Open(os.Args[0], Options{}).Command(ctx, spec.Spec{Root: root, Env: append(spec.Environ(os.Environ()), role+"="+as)}, root, os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTree: nothing is left of a command that is ended or has ended.
func TestTree(t *testing.T) {
	for name, end := range map[string]func(c *Cmd, cancel func()){
		"killed":    func(c *Cmd, _ func()) { c.Kill() },
		"cancelled": func(_ *Cmd, cancel func()) { cancel() },
		"ended":     func(*Cmd, func()) {},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := command(t, ctx, map[bool]string{true: "leaves", false: "parent"}[name == "ended"])
			in, says, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer says.Close()
			hears, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer hears.Close()
			c.Stdin, c.Stdout = in, out
			_, _ = says.WriteString("word")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			in.Close()
			out.Close()
			if name != "ended" {
				if _, err := io.ReadFull(hears, make([]byte, 4)); err != nil {
					t.Fatal(err)
				}
			}
			end(c, cancel)
			if err := c.Wait(); (err == nil) != (name == "ended") || errors.Is(err, context.Canceled) != (name == "cancelled") {
				t.Error(err)
			}
			if _, err := io.ReadAll(hears); err != nil { // until nobody has the other end
				t.Error(err)
			}
		})
	}
	t.Run("before its start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := command(t, ctx, "echo")
		cancel()
		if err := c.Start(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestCommand(t *testing.T) {
	var out, said bytes.Buffer
	c := command(t, t.Context(), "fails")
	c.Stdout, c.Stderr = &out, &said
	exit := (*ExitError)(nil)
	if err := c.Run(); !errors.As(err, &exit) || exit.ExitCode() != 3 || said.String() != "no\n" || out.Len() > 0 {
		t.Errorf("%v, %q, %q", err, &out, &said)
	}
	out.Reset()
	c = command(t, t.Context(), "echo")
	c.Stdin, c.Stdout = strings.NewReader("in and out"), &out
	if err := c.Run(); err != nil || out.String() != "in and out" {
		t.Errorf("%v, %q", err, &out)
	}
	if level, err := Open("", Options{}).LevelFor(spec.Require); err == nil {
		t.Errorf("a command is confined: %v", level)
	}
	root := here(t)
	c, err := Open("", Options{}).Command(t.Context(), spec.Spec{Root: root}, root, "no-such-program-anywhere")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err == nil || !strings.Contains(err.Error(), "no-such-program-anywhere") {
		t.Error(err)
	}
}
