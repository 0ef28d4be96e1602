package review_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// unwritable makes dir a place where nothing can be written.
var unwritable = map[string]func(t *testing.T, dir string){
	"full disk": func(t *testing.T, dir string) {
		e2e.Mount(t, dir, "tmpfs", 0, "size=64k")
		e2e.Write(t, filepath.Join(dir, "a.txt"), "one\n")
		e2e.Write(t, filepath.Join(dir, "ballast"), strings.Repeat("x", 48<<10))
	},
	"read-only directory": func(t *testing.T, dir string) {
		e2e.Write(t, filepath.Join(dir, "a.txt"), "one\n")
		e2e.Mount(t, dir, dir, syscall.MS_BIND, "")
		if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	},
}

// TestAcceptWhereNothingCanBeWritten: the entry stays with the reason, the
// other file is accepted, and once there is room the rest can be.
func TestAcceptWhereNothingCanBeWritten(t *testing.T) {
	e2e.Home(t)
	for name, prepare := range unwritable {
		t.Run(name, func(t *testing.T) {
			dir := e2e.Project(t, map[string]string{"ok.txt": "one\n"})
			bad := filepath.Join(dir, "bad")
			if err := ownfile.Mkdir(bad, 0o755); err != nil {
				t.Fatal(err)
			}
			prepare(t, bad)
			r := e2e.Connect(t, dir, fakeeditor.Options{})
			r.Mode("review")
			long := strings.Repeat("a line that needs room\n", 4000)
			for _, p := range []string{"bad/a.txt", "ok.txt"} {
				if res := r.Tool("write_file", map[string]string{"path": p, "content": long}); !res.OK {
					t.Fatal(res.Content)
				}
			}
			res := r.Accept(nil)
			if len(res.Accepted) != 1 || len(res.Failed) != 1 || !strings.HasSuffix(res.Failed[0].URI, "/bad/a.txt") || res.Failed[0].Error == "" {
				t.Fatalf("accept: %+v", res)
			}
			t.Log(res.Failed[0].Error)
			if r.File("bad/a.txt") != "one\n" || r.File("ok.txt") != long {
				t.Error("the files are not as reported")
			}
			if list := r.Pending(); len(list.Edits) != 1 || list.Edits[0].Path != "bad/a.txt" {
				t.Errorf("pending: %+v", list)
			}
			left, err := os.ReadDir(bad)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range left {
				if f.Name() != "a.txt" && f.Name() != "ballast" {
					t.Errorf("%s was left behind", f.Name())
				}
			}
		})
	}
}
