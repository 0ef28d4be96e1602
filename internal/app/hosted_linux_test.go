package app_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// host is a machine's user with a home, and the server's program.
type host struct {
	t      *testing.T
	dir    string // is the user's
	server string
	cred   *syscall.Credential
}

// eachUser calls f as this user and, for root, as one without rights.
func eachUser(t *testing.T, f func(t *testing.T, h *host)) {
	server := buildServer(t)
	users := map[string]*syscall.Credential{"this user": nil}
	if os.Geteuid() == 0 {
		users["another user"] = &syscall.Credential{Uid: 12345, Gid: 12345}
	}
	for name, cred := range users {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "sidecar-ls-test-*") // not t.TempDir, where others can't get
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = ownfile.RemoveAll(dir) })
			data, err := os.ReadFile(server)
			h := &host{t: t, dir: dir, server: filepath.Join(dir, "sidecar-ls"), cred: cred}
			if err = errors.Join(err, ownfile.WriteFile(h.server, data, 0o755), ownfile.Chmod(dir, 0o755)); err != nil {
				t.Fatal(err)
			}
			if cred != nil {
				if err := ownfile.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
					t.Fatal(err)
				}
			}
			h.sh(dir, `git config --global user.name A; git config --global user.email a@example.org; git config --global init.defaultBranch main
git config --global protocol.file.allow always; mkdir -p .config/sidecar-ls`)
			if out, _ := h.call(h.workspace("probe", ""), "true"); !strings.Contains(out, "bubblewrap") {
				t.Skip("this machine has no sandbox that holds all of it: ", out)
			}
			f(t, h)
		})
	}
}

// command is a program of the user's.
func (h *host) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + h.dir, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=/tmp", "MARK=" + h.mark(), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.cred}
	return cmd
}

// sh runs a script outside of the sandbox; how it ends does not matter.
func (h *host) sh(dir, script string) string {
	h.t.Helper()
	out, _ := h.command(dir, "bash", "-c", script).CombinedOutput()
	return string(out)
}

// onDisk has commands see and change the disk, which is what settles and protects
// repositories there.
func (h *host) onDisk() {
	h.sh(h.dir, `mkdir -p .config/sidecar; echo '{"commands": {"world": "disk"}}' > .config/sidecar/settings.json`)
}

// inWorld undoes it.
func (h *host) inWorld() { h.sh(h.dir, "rm -f .config/sidecar/settings.json") }

// mark is a file that an attack makes, outside of every workspace.
func (h *host) mark() string { return filepath.Join(h.dir, "mark") }

// marked reports whether an attack came through, and forgets it.
func (h *host) marked() bool { return ownfile.Remove(h.mark()) == nil }

// workspace makes a repository, and in it what a script does.
func (h *host) workspace(name, script string) string {
	h.t.Helper()
	dir := filepath.Join(h.dir, "work", name)
	h.sh(h.dir, "chmod -R u+rwX '"+dir+"'; rm -rf '"+dir+"'; mkdir -p '"+dir+"'")
	if out := h.sh(dir, "set -e; git init -q; echo one > a.txt; git add a.txt; git commit -qm first\n"+script+"\ntrue"); out != "" {
		h.t.Fatalf("%s: %s", name, out)
	}
	return dir
}

// call runs a script by run_command, from a file, of which no rule knows what
// is in it.
func (h *host) call(root, script string) (out string, code int) {
	h.t.Helper()
	file := filepath.Join(root, "script.sh")
	if err := ownfile.WriteFile(file, []byte(script), 0o755); err != nil {
		h.t.Fatal(err)
	}
	cmd := h.command(root, h.server, "call", "--root", root, "--mode", "autonomous", "run_command", arguments(h.t, "bash script.sh"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	_ = cmd.Run()
	return said.String(), cmd.ProcessState.ExitCode()
}
