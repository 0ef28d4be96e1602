package world_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestDoctorTriesToEscape: doctor proves the level of the sandbox in all ways
// that are known, and says when commands can't be run.
func TestDoctorTriesToEscape(t *testing.T) {
	slow.Test(t)
	if runtime.GOOS != "linux" {
		needs.Skip(t, needs.Sandbox, "there is no sandbox here")
	}
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "a"})
	out, stderr, code := e2e.RunCLI(t, "", "doctor", "--root", dir)
	if code != 0 || !strings.Contains(out, "escape tests blocked") && !strings.Contains(out, "sandbox     none") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("doctor left %v, %v", entries, err)
	}
	user := config.UserFile()
	e2e.Write(t, user, `{"sandbox.mode": "off"}`)
	if out, _, code = e2e.RunCLI(t, "", "doctor", "--root", dir); code != 0 || !strings.Contains(out, "off, by the setting") {
		t.Errorf("exit %d\n%s", code, out)
	}
	e2e.Write(t, user, `{"sandbox.writable": ["/"]}`)
	if out, _, code = e2e.RunCLI(t, "", "doctor", "--root", dir); strings.Contains(out, "bubblewrap") && code != 1 || !strings.Contains(out, "can't be confined to /") {
		t.Errorf("exit %d\n%s", code, out)
	}
	e2e.Write(t, user, `{}`)
	if err := ownfile.Symlink("a.txt", filepath.Join(dir, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	if out, _, code = e2e.RunCLI(t, "", "doctor", "--root", dir); strings.Contains(out, "bubblewrap") && code != 1 {
		t.Errorf("a link in the place of settings: exit %d\n%s", code, out)
	}
}
