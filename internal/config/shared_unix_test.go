//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestSharedKeys: a key in a settings file that others may read is said; without a key, or
// for the user alone, nothing is.
func TestSharedKeys(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	const profile, search, none = `{"backend.profiles":[{"name":"a","url":"https://x","model":"m","key":"k-4711"}]}`, `{"web.search.key":"k-4711"}`, `{"mode":"review"}`
	for _, c := range []struct {
		text string
		mode os.FileMode
		says bool
	}{
		{profile, 0o644, true}, {search, 0o644, true}, {profile, 0o640, true}, {profile, 0o604, true},
		{profile, 0o600, false}, {search, 0o400, false}, {none, 0o644, false},
	} {
		path := filepath.Join(dir, "sidecar", "settings.json")
		_ = ownfile.Remove(path)
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		src, err := UserSource()
		if err != nil {
			t.Fatal(err)
		}
		_, problems := Load(src)
		said := ""
		for _, p := range problems {
			said += p.String()
		}
		if strings.Contains(said, "chmod 600") != c.says || strings.Contains(said, "k-4711") || !c.says && said != "" {
			t.Errorf("%s with %o: %q", c.text, c.mode, said)
		}
	}
}
