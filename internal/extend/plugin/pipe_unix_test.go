//go:build unix

package plugin

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipe: a named pipe is left out, and nobody waits for its writer.
func TestPipe(t *testing.T) {
	r := newRig(t, false)
	r.plugin("a", "alpha", "does")
	if err := syscall.Mkfifo(filepath.Join(r.dir, "a/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Reload()
	st, err := r.Decide(Decision{ID: "alpha", Trusted: new(true)})
	if err != nil || st.State != Enabled || !strings.Contains(strings.Join(st.Warnings, "\n"), "pipe is no file") {
		t.Fatalf("%+v, %v", st, err)
	}
}
