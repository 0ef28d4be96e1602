package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestDirHandleElsewhere shows that a handle does the same on file systems
// that may hang as on those of this machine.
func TestDirHandleElsewhere(t *testing.T) {
	dir := t.TempDir()
	if err := ownfile.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sub/file": "text\n", "outside": "no"} {
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"sub/link": "../outside", "dir": "sub"} {
		if err := ownfile.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, local := range []bool{true, false} {
		top, err := openRootDir(root, ".")
		if err != nil {
			t.Fatal(err)
		}
		defer top.close()
		top.local = local
		if link, err := top.openDir([]byte("dir\x00")); err == nil {
			link.close()
			t.Errorf("local %t: a link to a directory was opened", local)
		}
		sub, err := top.openDir([]byte("sub\x00"))
		if err != nil {
			t.Fatal(err)
		}
		defer sub.close()
		sub.local = local
		list, more, err := sub.list(nil)
		if err != nil || more {
			t.Fatalf("local %t: list: more %t, %v", local, more, err)
		}
		got := map[string]entryKind{}
		for e := (entries{list}); ; {
			name, kind := e.next()
			if name == nil {
				break
			}
			got[string(name)] = kind
		}
		if diff := cmp.Diff(map[string]entryKind{"file\x00": fileKind, "link\x00": otherKind}, got); diff != "" {
			t.Errorf("local %t: list (-want +got):\n%s", local, diff)
		}
		text, err := sub.readFile([]byte("file\x00"), nil, 1<<10)
		if err != nil || string(text) != "text\n" {
			t.Errorf("local %t: read %q, %v", local, text, err)
		}
		if _, err := sub.readFile([]byte("link\x00"), nil, 1<<10); err == nil {
			t.Errorf("local %t: a link was read", local)
		}
	}
}
