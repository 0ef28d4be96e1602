package app

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestServersMakeNoRepositories: what MCP servers and language servers that may
// write make of repositories is set aside, and told. The control may only read.
func TestServersMakeNoRepositories(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, reads := range []bool{false, true} {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "git", "-C", root, "init", "-q").CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		told := make(chan string, 1)
		k, err := Open(t.Context(), []workspace.Folder{{Dir: root}}, Options{Log: slog.New(slog.DiscardHandler), Program: program.ServerAnywhere(t), User: User{Warn: func(text string) { told <- text }}})
		if err != nil {
			t.Fatal(err)
		}
		if level, err := k.Confiner.Level(); err != nil || level < spec.Bubblewrap {
			_ = k.Close()
			needs.Skip(t, needs.Sandbox, "this machine has no sandbox that holds all of it: ", err)
		}
		conf, err := k.Confiner.Spec(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		conf.LookOnly = reads
		p, err := k.Confiner.Start(t.Context(), conf, root, []string{"bash", "-c", "git init -q sub; git -C sub config core.fsmonitor evil"})
		if err != nil {
			t.Fatal(err)
		}
		err = p.Wait()
		p.In.Close()
		p.Out.Close()
		if reads {
			if _, err := os.Stat(filepath.Join(root, "sub")); err == nil {
				t.Error("a server that may only read wrote")
			}
		} else {
			if err != nil {
				t.Error(err, p.Said())
			}
			text := ""
			select {
			case text = <-told:
			default:
			}
			if !strings.Contains(text, "sub/.git.set-aside") || !strings.Contains(text, "core.fsmonitor") {
				t.Errorf("told: %s", text)
			}
			if _, err := os.Stat(filepath.Join(root, "sub/.git.set-aside/config")); err != nil {
				t.Error(err)
			}
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
}
