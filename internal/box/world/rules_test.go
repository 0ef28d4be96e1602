package world

import (
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestUserIgnore: what the options say of the user's own ignore file counts as what git
// ignores; without, git's usual place.
func TestUserIgnore(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	if err := ownfile.MkdirAll(filepath.Join(home, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"git/ignore": "usual\n", "mine": "local/\n"} {
		if err := ownfile.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	usual, own := Options{}.rulesIn(root), Options{Ignores: mine{root, filepath.Join(home, "mine")}}.rulesIn(root)
	if !usual.ignored("usual", false) || usual.ignored("local", true) || !own.ignored("local", true) || own.ignored("usual", false) {
		t.Errorf("usual: %v %v, own: %v %v", usual.ignored("usual", false), usual.ignored("local", true), own.ignored("local", true), own.ignored("usual", false))
	}
}

// mine is an ignore file for one directory.
type mine struct{ root, file string }

func (m mine) File(dir string) string {
	if dir != m.root {
		return ""
	}
	return m.file
}
