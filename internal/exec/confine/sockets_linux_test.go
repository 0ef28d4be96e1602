package confine

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
			if at := files.inSight(line, []string{dir}); len(at) > 0 {
				t.Errorf("the control: %q", at)
			}
			l, err := net.Listen("unix", filepath.Join(dir, "sub", "s"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if at, want := files.inSight(line, []string{dir}), filepath.Join(dir, "sub", "s"); !slices.Equal(at, []string{want}) {
				t.Errorf("it found %q", at)
			}
			l.Close()
			if at := files.inSight(line, []string{dir}); len(at) > 0 {
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
		if at := files.inSight(line+"\n", []string{dir}); len(at) > 0 {
			t.Errorf("%s: %q", line, at)
		}
	}
}

// TestMovedSockets: a socket that was moved or linked into sight is found soon, and one whose
// file is only gone costs no command a moment.
func TestMovedSockets(t *testing.T) {
	for _, c := range []struct {
		name string
		move func(from, to string) error // nil: only gone
		dir  bool                        // it is moved with its directory
	}{
		{name: "gone"}, {name: "moved", move: ownfile.Rename}, {name: "linked", move: ownfile.Link}, {name: "with its directory", move: ownfile.Rename, dir: true},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			outside, sight := filepath.Join(top, "o"), filepath.Join(top, "sight")
			for _, dir := range []string{outside, sight} {
				if err := ownfile.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			at := filepath.Join(outside, "s")
			l, err := net.Listen("unix", at)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			find := func(files *socketFiles) []string {
				tables, err := socketTables()
				if err != nil {
					t.Fatal(err)
				}
				var own strings.Builder // of other programs nothing counts here
				for line := range strings.Lines(tables) {
					if strings.Contains(line, outside) {
						own.WriteString(line)
					}
				}
				found := files.inSight(own.String(), []string{sight})
				if files.done != nil {
					<-files.done
				}
				return found
			}
			files := &socketFiles{every: time.Hour}
			for range 2 {
				if at := find(files); len(at) > 0 || files.done != nil {
					t.Fatalf("the control: %q, or it looked for it", at)
				}
			}
			from, want := at, filepath.Join(sight, "s")
			if c.dir {
				from, want = outside, filepath.Join(sight, "s", "s")
			}
			if c.move == nil {
				if err := ownfile.Remove(at); err != nil {
					t.Fatal(err)
				}
			} else if err := c.move(from, filepath.Join(sight, "s")); err != nil {
				t.Fatal(err)
			}
			find(files)
			if at := find(files); c.move != nil && !slices.Equal(at, []string{want}) || c.move == nil && len(at) > 0 {
				t.Errorf("it found %q, want %q", at, want)
			}
		})
	}
}
