//go:build unix

package source

import (
	"strings"
	"syscall"
	"testing"
)

// TestEnvPipe: a pipe in the place of an envFile holds nobody up.
func TestEnvPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/pipe.env", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe.env", dir + "/pipe.env"} {
		if _, err := readEnvFile(dir, name); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
