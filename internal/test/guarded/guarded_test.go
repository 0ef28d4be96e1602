// Package guarded tries .ci/guarded, by which CI notices what changes outside of the tests' directories.
package guarded

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestGuarded: each kind of change fails the run and is named; what changes nothing, or a cache alone, passes; and the
// command's own failure stays one.
func TestGuarded(t *testing.T) {
	if runtime.GOOS != "linux" {
		needs.Skip(t, needs.Linux, "CI runs on Linux")
	}
	script, err := filepath.Abs("../../../.ci/guarded")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, line string
		want       []string // named
		status     int
	}{
		{"nothing", "cat etc/passwd", nil, 0},
		{"a cache", "echo x > home/.cache/x; mkdir -p home/go/pkg; echo x > home/go/pkg/x", nil, 0},
		{"the command fails", "exit 7", nil, 7},
		{"a text", "echo MMMM > etc/passwd", []string{"etc/passwd"}, 1},
		{"a text of the same length and time", `touch -r etc/passwd t; printf MMMM > etc/passwd; touch -r t etc/passwd`, []string{"etc/passwd"}, 1},
		{"a time", "touch -d 2001-01-01 etc/passwd", []string{"etc/passwd"}, 1},
		{"a mode", "chmod 777 etc/passwd", []string{"etc/passwd"}, 1},
		{"a new file", "echo x > home/.bashrc", []string{"home/.bashrc"}, 1},
		{"a new directory", "mkdir home/.claude", []string{"home/.claude"}, 1},
		{"gone", "rm home/.gitconfig", []string{"home/.gitconfig"}, 1},
		{"a link", "ln -sfn elsewhere home/link", []string{"home/link"}, 1},
		{"a file that comes and goes", "echo x > home/deep/x; touch -d 2001-01-01 home/deep; rm home/deep/x", []string{"home/deep"}, 1},
		{"a strange name", `printf x > "home/a
b	c'"`, []string{"home/a?b"}, 1},
		{"and the command fails", "rm home/.gitconfig; exit 7", []string{"home/.gitconfig"}, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"etc/passwd": "root", "home/.gitconfig": "[user]\n", "home/.cache/a": "a", "home/go/a": "a", "home/deep/er": "x"} {
				name = filepath.Join(dir, name)
				if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := ownfile.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := ownfile.Symlink("deep", filepath.Join(dir, "home/link")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), script, "sh", "-c", c.line)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+dir+"/home", "GUARDED="+dir+"/home:"+dir+"/etc", "XDG_CACHE_HOME=", "TMPDIR="+t.TempDir(), "GOPATH=", "GOCACHE=", "GOMODCACHE=")
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("it ended with %d, want %d\n%s", got, c.status, out)
			}
			for _, name := range c.want {
				if !strings.Contains(string(out), dir+"/"+name) {
					t.Errorf("%s is not named\n%s", name, out)
				}
			}
			if c.want == nil && strings.Contains(string(out), "changed") {
				t.Errorf("it is said that something changed\n%s", out)
			}
		})
	}
}
