package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestUninstall: what is left is listed, nothing goes without the user's word or under a
// running server, and what waits in a project stays.
func TestUninstall(t *testing.T) {
	p := newPerson(t)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	is := func(kind userdirs.Kind) bool {
		t.Helper()
		dir, err := userdirs.Here().Dir(kind)
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(dir)
		return err == nil
	}
	const codex = ".codex/config.toml"
	do := func(want int, args ...string) string {
		t.Helper()
		out, stderr, code := e2e.RunCLI(t, "", args...)
		if code != want {
			t.Fatalf("%q: exit %d\n%s%s", args, code, out, stderr)
		}
		return out + stderr
	}
	data, _ := userdirs.Here().Dir(userdirs.Data)
	e2e.Write(t, filepath.Join(data, "plugins", "x", "plugin.json"), "{}")
	settings, _ := userdirs.Here().Dir(userdirs.Config)
	e2e.Write(t, filepath.Join(settings, "config.json"), "another program's")
	e2e.Write(t, filepath.Join(settings, "settings.json"), "{}")
	agents, _ := userdirs.Here().Dir(userdirs.State)
	e2e.Write(t, filepath.Join(agents, "agents", "claude", "home", "mod", "f"), "x")
	if err := ownfile.Chmod(filepath.Join(agents, "agents", "claude", "home", "mod"), 0o555); err != nil {
		t.Fatal(err)
	}
	gone := e2e.Project(t, map[string]string{"a.txt": "x\n"})
	do(0, "setup", "--root", gone, "--project", "claude", "--yes")
	if err := ownfile.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	e2e.Write(t, filepath.Join(p.home, codex), "model = \"x\"\n")
	do(0, "setup", "--root", p.dir, "codex", "--yes")
	do(0, "setup", "--root", p.dir, "gemini", "--yes")
	do(0, "trust", "yes", "--root", p.dir)
	do(0, "call", "--root", p.dir, "--mode", "review", "write_file", "path=a.txt", "content=two")

	there := func(purged bool) {
		t.Helper()
		if !strings.Contains(do(0, "review", "list", "--root", p.dir), "a.txt") {
			t.Error("what waits for review is gone")
		}
		_, err := os.Stat(filepath.Join(settings, "settings.json"))
		if is(userdirs.Data) == purged || (err == nil) == purged {
			t.Errorf("data: %v, settings: %v", is(userdirs.Data), err)
		}
		if _, err := os.Stat(filepath.Join(settings, "config.json")); err != nil {
			t.Errorf("what is another program's: %v", err)
		}
	}
	out := do(0, "uninstall", "--list", "--root", p.dir)
	for _, want := range []string{"set up: codex, via mcp", "/sidecar-ls", "plugins that you have installed; goes by uninstall --purge", filepath.Join(p.dir, ".sidecar"), "what waits there for review", "Of projects it knows this one", "The program itself is"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	do(2, "uninstall", "--list", "--yes")
	do(2, "uninstall", "all")
	if out, code := p.command(nil, "uninstall"); code != 1 || !strings.Contains(out, "nothing was removed: there is no terminal here") {
		t.Errorf("without a person: exit %d\n%s", code, out)
	}
	t.Run("under a server", func(t *testing.T) {
		e2e.ServeBy(t, e2e.Project(t, map[string]string{"a.txt": "x\n"}), fakeeditor.Options{}, "") // of a project that nobody has told us of
		if out := do(1, "uninstall", "--yes", "--root", p.dir); !strings.Contains(out, "a server runs") {
			t.Errorf("it says %s", out)
		}
	})
	if !is(userdirs.State) || !is(userdirs.Cache) || !strings.Contains(p.read(codex), "sidecar") {
		t.Error("something went all the same")
	}
	there(false)

	out = do(0, "uninstall", "--yes", "--root", p.dir)
	if is(userdirs.State) || is(userdirs.Cache) || p.read(codex) != "model = \"x\"\n" {
		t.Errorf("it is not taken out: %s\n%s", p.read(codex), out)
	}
	if config := filepath.Join(p.home, codex); !strings.Contains(out, "took our lines out of "+config+"\n") || strings.Contains(out, "removed "+config) {
		t.Errorf("the user's file is there, but it says\n%s", out)
	}
	if made := filepath.Join(p.home, ".gemini/settings.json"); !strings.Contains(out, "removed "+made+"\n") {
		t.Errorf("a file that setup made: it says\n%s", out)
	}
	if strings.Contains(out, "set up:") || !strings.Contains(out, "removed ") {
		t.Errorf("it says\n%s", out)
	}
	there(false)
	do(0, "uninstall", "--yes", "--root", p.dir) // there is nothing any more
	do(0, "uninstall", "--yes", "--purge", "--root", p.dir)
	there(true)
}

// TestUninstallKeepsCopies: what can't be taken out, as somebody has changed it, is said,
// and the copies of what was there are kept.
func TestUninstallKeepsCopies(t *testing.T) {
	p := newPerson(t)
	const codex = ".codex/config.toml"
	if out, stderr, code := e2e.RunCLI(t, "", "setup", "--root", p.dir, "codex", "--yes"); code != 0 {
		t.Fatal(out, stderr)
	}
	changed := strings.Replace(p.read(codex), "command = ", "command = \"mine\" # ", 1)
	e2e.Write(t, filepath.Join(p.home, codex), changed)
	out, stderr, code := e2e.RunCLI(t, "", "uninstall", "--yes", "--root", p.dir)
	state, _ := userdirs.Here().Dir(userdirs.State)
	if code != 1 || !strings.Contains(out, state+" is kept") || p.read(codex) != changed {
		t.Errorf("exit %d\n%s%s\n%s", code, out, stderr, p.read(codex))
	}
	if _, err := os.Stat(state); err != nil {
		t.Error(err)
	}
}
