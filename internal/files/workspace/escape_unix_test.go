//go:build unix

package workspace

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// escapeCase is a case of testdata/path-escape.json.
type escapeCase struct {
	ID, Category, Op, Path, To, Expect string
	Repeat                             *struct {
		Unit, Suffix string
		N            int
	} `json:"path_repeat"`
}

type escapeFixture struct {
	Fixture struct {
		Ops []struct{ Op, Path, Text, Target string }
	}
	Cases []escapeCase
}

func loadEscapes(t *testing.T) escapeFixture {
	t.Helper()
	data, err := os.ReadFile("testdata/path-escape.json")
	if err != nil {
		t.Fatal(err)
	}
	var f escapeFixture
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// build makes the fixture below base.
func (f escapeFixture) build(t *testing.T, base string) {
	t.Helper()
	for _, op := range f.Fixture.Ops {
		path := filepath.Join(base, op.Path)
		var err error
		switch op.Op {
		case "dir":
			err = ownfile.MkdirAll(path, 0o755)
		case "file":
			if err = ownfile.MkdirAll(filepath.Dir(path), 0o755); err == nil {
				err = ownfile.WriteFile(path, []byte(op.Text), 0o644)
			}
		case "symlink":
			err = ownfile.Symlink(strings.ReplaceAll(op.Target, "${T}", base), path)
		case "hardlink":
			err = ownfile.Link(filepath.Join(base, op.Target), path)
		case "fifo":
			err = syscall.Mkfifo(path, 0o644)
		case "mknod-null":
			if os.Geteuid() == 0 {
				err = syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|3)
			}
		default:
			t.Fatalf("unknown step %q", op.Op)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// do runs a case as a tool would: resolve, then use the name.
func (c escapeCase) do(t *testing.T, d *Disk, given, to string) (seen string, err error) {
	name, err := d.Resolve(given)
	if err != nil {
		return "", err
	}
	if c.Op != "read" && c.Op != "list" && Protected(name) != NotProtected {
		return "", ErrProtected
	}
	read := func() ([]byte, error) { return d.ReadFile(name) }
	switch c.Op {
	case "read":
		data, err := read()
		return string(data), err
	case "list":
		entries, err := d.ReadDir(name)
		return fmt.Sprint(entries), err
	case "write":
		return "", d.Apply(t.Context(), Change{Path: name, After: text("written")})
	case "mkdir": // directories come with their files
		return "", d.Apply(t.Context(), Change{Path: name + "/file", After: text("written")})
	case "edit":
		data, err := read()
		if err != nil {
			return "", err
		}
		return string(data), d.Apply(t.Context(), Change{Path: name, Before: data, After: text("edited")})
	case "delete":
		data, err := read()
		if err != nil {
			return "", err
		}
		return string(data), d.Apply(t.Context(), Change{Path: name, Before: data})
	case "rename":
		data, err := read()
		if err != nil {
			return "", err
		}
		target, err := d.Resolve(to)
		if err != nil {
			return "", err
		}
		if Protected(target) != NotProtected {
			return "", ErrProtected
		}
		return string(data), d.Apply(t.Context(), Change{From: name, Path: target, Before: data})
	}
	return "", fmt.Errorf("unknown operation %q", c.Op)
}

func TestPathEscape(t *testing.T) {
	f := loadEscapes(t)
	counts := map[string]int{}
	for _, c := range f.Cases {
		if c.Category == "race" {
			continue // TestRace
		}
		t.Run(c.ID+" "+c.Category, func(t *testing.T) {
			base := t.TempDir()
			f.build(t, base)
			d, err := OpenDisk([]Folder{{Dir: filepath.Join(base, "ws")}}, DiskOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			given := strings.ReplaceAll(c.Path, "${T}", base)
			if r := c.Repeat; r != nil {
				given = strings.Repeat(r.Unit, r.N) + r.Suffix
			}
			outside := func() map[string]string {
				all := treeOf(t, base)
				for name := range all {
					if strings.HasPrefix(name, "ws/") {
						delete(all, name)
					}
				}
				return all
			}
			before := outside()
			seen, err := c.do(t, d, given, c.To)
			switch {
			case c.Expect == "refuse" && err == nil:
				t.Errorf("%s %q was done", c.Op, given)
			case c.Expect == "allow" && err != nil:
				t.Errorf("%s %q: %v", c.Op, given, err)
			}
			if strings.Contains(seen, "CANARY-OUT") && c.Path != "hard" {
				t.Errorf("%s %q read from outside", c.Op, given)
			}
			if diff := cmp.Diff(before, outside()); diff != "" {
				t.Errorf("%s %q changed the outside:\n%s", c.Op, given, diff)
			}
			counts[c.Expect]++
		})
	}
	t.Logf("tried %v", counts)
}

// treeOf is tree without opening what is no regular file.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		out[rel] = e.Type().String()
		if e.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			out[rel] = string(data)
		}
		return err
	})
	return out
}
