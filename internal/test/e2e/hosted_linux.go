package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// Host is a machine's user with a home, and the server's program.
type Host struct {
	T      *testing.T
	dir    string // is the user's
	Server string
	Cred   *syscall.Credential
}

// EachUser calls f as this user and, for root, as one without rights.
func EachUser(t *testing.T, f func(t *testing.T, h *Host)) {
	server := program.ServerAnywhere(t)
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
			h := &Host{T: t, dir: dir, Server: filepath.Join(dir, "sidecar-ls"), Cred: cred}
			if err = errors.Join(err, ownfile.WriteFile(h.Server, data, 0o755), ownfile.Chmod(dir, 0o755)); err != nil {
				t.Fatal(err)
			}
			if cred != nil {
				if err := ownfile.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
					t.Fatal(err)
				}
			}
			h.Sh(dir, `git config --global user.name A; git config --global user.email a@example.org; git config --global init.defaultBranch main
git config --global protocol.file.allow always; mkdir -p .config/sidecar-ls`)
			probe := h.Command(h.Workspace("probe", ""), h.Server, "call", "--mode", "autonomous", "--json", "run_command", Arguments(t, "true"))
			if out, err := probe.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("sandbox: bubblewrap")) {
				needs.Skip(t, needs.Sandbox, "this machine has no sandbox that holds all of it: ", err, string(out))
			}
			f(t, h)
		})
	}
}

// Command is a program of the user's.
func (h *Host) Command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.T.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + h.dir, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=/tmp", "MARK=" + h.Mark(), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.Cred}
	return cmd
}

// Sh runs a script outside of the sandbox; how it ends does not matter.
func (h *Host) Sh(dir, script string) string {
	h.T.Helper()
	out, _ := h.Command(dir, "bash", "-c", script).CombinedOutput()
	return string(out)
}

// OnDisk has commands see and change the disk, which is what settles and protects
// repositories there.
func (h *Host) OnDisk() {
	h.Sh(h.dir, `mkdir -p .config/sidecar; echo '{"commands": {"world": "disk"}}' > .config/sidecar/settings.json`)
}

// InWorld undoes it.
func (h *Host) InWorld() { h.Sh(h.dir, "rm -f .config/sidecar/settings.json") }

// Mark is a file that an attack makes, outside of every workspace.
func (h *Host) Mark() string { return filepath.Join(h.dir, "mark") }

// Marked reports whether an attack came through, and forgets it.
func (h *Host) Marked() bool { return ownfile.Remove(h.Mark()) == nil }

// Workspace makes a repository, and in it what a script does.
func (h *Host) Workspace(name, script string) string {
	h.T.Helper()
	dir := filepath.Join(h.dir, "work", name)
	h.Sh(h.dir, "chmod -R u+rwX '"+dir+"'; rm -rf '"+dir+"'; mkdir -p '"+dir+"'")
	if out := h.Sh(dir, "set -e; git init -q; echo one > a.txt; git add a.txt; git commit -qm first\n"+script+"\ntrue"); out != "" {
		h.T.Fatalf("%s: %s", name, out)
	}
	return dir
}

// Call runs a script by run_command, from a file, of which no rule knows what
// is in it.
func (h *Host) Call(root, script string) (out string, code int) {
	h.T.Helper()
	file := filepath.Join(root, "script.sh")
	if err := ownfile.WriteFile(file, []byte(script), 0o755); err != nil {
		h.T.Fatal(err)
	}
	cmd := h.Command(root, h.Server, "call", "--root", root, "--mode", "autonomous", "run_command", Arguments(h.T, "bash script.sh"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	_ = cmd.Run()
	return said.String(), cmd.ProcessState.ExitCode()
}
