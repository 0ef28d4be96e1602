package confine

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestOddSockets: a socket is found where its table has another name for it than it has, or
// only that of its directory.
func TestOddSockets(t *testing.T) {
	for name, line := range map[string]string{
		"relative":         "ffff: 00000002 00000000 00010000 0001 01 12345 s.sock",
		"renamed":          "ffff: 00000002 00000000 00010000 0001 01 12347 DIR/sub/s.sock.123",
		"relative, packet": "ffff: 00000002 00000000 00000000 0002 01 12348 ./x",
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			line := strings.ReplaceAll(line, "DIR", dir) + "\n"
			if err := ownfile.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			var files socketFiles // which looks each time
			if at := files.inSight(line, []string{dir}); at != "" {
				t.Errorf("the control: %q", at)
			}
			l, err := net.Listen("unix", filepath.Join(dir, "sub", "s"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if at, want := files.inSight(line, []string{dir}), filepath.Join(dir, "sub", "s"); at != want {
				t.Errorf("it found %q", at)
			}
			l.Close()
			if at := files.inSight(line, []string{dir}); at != "" {
				t.Errorf("once it is gone: %q", at)
			}
		})
	}
	// One that is only connected is no way to anybody, and an abstract one has no file.
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, line := range []string{"ffff: 00000002 00000000 00000000 0001 03 99 s", "ffff: 00000002 00000000 00010000 0001 01 99 @s"} {
		var files socketFiles
		if at := files.inSight(line+"\n", []string{dir}); at != "" {
			t.Errorf("%s: %q", line, at)
		}
	}
}
