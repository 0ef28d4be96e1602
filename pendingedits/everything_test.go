package pendingedits_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var everything = flag.Bool("everything", false, "crash at every point of accepting 20 and 50 files, and at every point of recovering from that; more random steps")

// memDir is a directory in memory, where there is one: power cuts are not
// tried here.
func memDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "pendingedits-test-")
	if err != nil || !filepath.IsAbs(dir) {
		return t.TempDir()
	}
	t.Cleanup(func() { ownfile.RemoveAll(dir) })
	return dir
}
