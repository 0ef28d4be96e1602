package border_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// asker builds a program into a directory that asks who listens.
func asker(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "asker"), "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/testdata/init")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
}

// listen stands in for a server.
func listen(t *testing.T, at string) string {
	t.Helper()
	if dir := filepath.Dir(at); at[0] != '@' {
		if err := ownfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return at
}

// daemon runs a server of the machine in front, if it has it, and waits for its socket.
func daemon(t *testing.T, at string, argv ...string) string {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		return listen(t, at)
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	e2e.Until(t, argv[0]+" does not listen", func() bool { return answers(at) })
	return at
}

func answers(at string) bool {
	c, err := net.Dial("unix", at)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// TestServersOutOfReach: an unasked command reaches no server of the user: buses, agents,
// displays, containers, terminals, or ours.
func TestServersOutOfReach(t *testing.T) {
	bin := t.TempDir()
	asker(t, bin)
	home := ownHome(t)
	run := filepath.Join(home, "r") // a path of a socket is short
	for _, dir := range []string{run, filepath.Join(home, ".gnupg")} {
		if err := ownfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_RUNTIME_DIR", run)
	dir := project(t, e2e.Object{})
	if err := ownfile.Rename(filepath.Join(bin, "asker"), filepath.Join(dir, "asker")); err != nil {
		t.Fatal(err)
	}
	at := map[string]string{ // by the variable that leads to it
		"DBUS_SESSION_BUS_ADDRESS": daemon(t, filepath.Join(run, "bus"), "dbus-daemon", "--session", "--nofork", "--nosyslog", "--address=unix:path="+filepath.Join(run, "bus")),
		"SSH_AUTH_SOCK":            daemon(t, filepath.Join(run, "ssh"), "ssh-agent", "-D", "-a", filepath.Join(run, "ssh")),
		"TMUX":                     daemon(t, filepath.Join(run, "tmux"), "tmux", "-f", "/dev/null", "-S", filepath.Join(run, "tmux"), "-D"),
		"DISPLAY":                  listen(t, fmt.Sprintf("@/tmp/.X11-unix/X%d", os.Getpid())),
		"XAUTHORITY":               listen(t, filepath.Join(run, "X")),
		"WAYLAND_DISPLAY":          listen(t, filepath.Join(run, "wayland-0")),
		"DOCKER_HOST":              listen(t, filepath.Join(run, "docker.sock")),
		"GPG_AGENT_INFO":           listen(t, filepath.Join(home, ".gnupg", "S.gpg-agent")),
		"VSCODE_IPC_HOOK_CLI":      listen(t, filepath.Join(dir, "ipc.sock")), // in the workspace
	}
	var all []string
	for name, at := range at {
		t.Setenv(name, at)
		if !answers(at) {
			t.Errorf("the control: nobody answers at %s", at)
		}
		all = append(all, at)
	}
	// Everybody who listens on this machine is one, our own server among them.
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) == 8 && f[3] == "00010000" {
			all = append(all, f[7])
		}
	}
	e2e.Write(t, filepath.Join(dir, "servers"), strings.Join(all, "\n")+"\n")
	e2e.Write(t, filepath.Join(dir, "try.sh"), `while read -r a; do
	timeout 1 ./asker ask unix "$a" >/dev/null 2>&1; [ $? = 1 ] || echo "reached $a"
done < servers
./asker serve 127.0.0.1:3000 hello & sleep 0.2; ./asker ask tcp 127.0.0.1:3000; kill %1
env
`)
	r := serve(t, dir)
	complete(r)
	res := r.Tool("run_command", e2e.Object{"command": "bash try.sh"})
	if !res.OK || res.Decision.Rule != "world.complete" || !strings.Contains(res.Content, "hello") {
		t.Fatalf("%+v", res)
	}
	if strings.Contains(res.Content, "reached") {
		t.Errorf("it reached %s", res.Content)
	}
	for name := range at {
		if strings.Contains(res.Content, "\n"+name+"=") {
			t.Errorf("it knows %s", name)
		}
	}
}

// TestSocketOfLinkedTree: a server whose socket is in the repository of a linked working tree,
// as git's own for changes of files, is in sight of commands there.
func TestSocketOfLinkedTree(t *testing.T) {
	main := project(t, e2e.Object{})
	dir := filepath.Join(t.TempDir(), "tree")
	e2e.GitIn(t, main, "worktree", "add", "-q", dir)
	asker(t, dir)
	at := filepath.Join(main, ".git", "ipc")
	e2e.Write(t, filepath.Join(dir, "try.sh"), `timeout 1 ./asker ask unix "`+at+`" 2>&1; [ $? = 1 ] || echo "reached"`)
	r := serve(t, dir)
	complete(r)
	if res := r.Tool("run_command", e2e.Object{"command": "bash try.sh"}); !res.OK || len(r.Asked()) > 0 {
		t.Errorf("the control: %+v", res)
	}
	listen(t, at)
	res := r.Tool("run_command", e2e.Object{"command": "bash try.sh"})
	if asked := r.Asked(); len(asked) != 1 || !strings.Contains(asked[0], "listens at "+at) || strings.Contains(res.Content, "reached") {
		t.Errorf("it asked %q: %+v", asked, res)
	}
}
