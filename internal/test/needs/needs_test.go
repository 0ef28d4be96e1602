package needs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestNote(t *testing.T) {
	name := filepath.Join(t.TempDir(), "skips")
	for range 2 {
		if err := note(name, Git, "TestA/b", "there is none\nand more"); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(name); string(got) != strings.Repeat("git\tTestA/b\tthere is none\n", 2) {
		t.Errorf("%q", got)
	}
	if err := note("", Git, "TestA", "x"); err != nil {
		t.Error(err)
	}
	if err := note(t.TempDir(), Git, "TestA", "x"); err == nil {
		t.Error("a directory was written to")
	}
}

var skips = regexp.MustCompile(`\.Skip(Now|f)?\(`)

// allowed may skip by itself.
var allowed = map[string]bool{"internal/test/needs": true, "internal/test/slow": true}

// TestOnlyHere: tests are skipped for what stands in the table, or by package slow. The
// builder of releases is a module of its own.
func TestOnlyHere(t *testing.T) {
	top, found := os.DirFS("../../.."), 0
	err := fs.WalkDir(top, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && (base == "testdata" || base == "node_modules" || name != "." && strings.HasPrefix(base, ".") || name == "internal/release" || allowed[name]) {
			return fs.SkipDir
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(top, name)
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), `"testing"`) {
			return nil
		}
		found++
		for i, line := range strings.Split(string(text), "\n") {
			if skips.MatchString(strings.ReplaceAll(line, "needs.Skip(", "")) && !strings.Contains(line, `\"`) {
				t.Errorf("%s:%d: %s: skip by needs.Skip, or by package slow", name, i+1, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil || found < 300 {
		t.Fatal(found, err)
	}
}
