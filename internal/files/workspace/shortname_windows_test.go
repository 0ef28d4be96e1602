package workspace

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestShortNames finds files by the names of eight and three letters that Windows has
// for old programs. Wine makes them in another way, and finds them the same.
func TestShortNames(t *testing.T) {
	d, dir := openTest(t, DiskOptions{StateDir: t.TempDir()}, map[string]string{
		"A long directory/a file of blanks.text": "old", "short.txt": "s", ".git/config": "[core]", ".environment/.env": "SECRET=1", "A long directory/.env.local": "SECRET=1",
	})
	short := func(name string) string {
		t.Helper()
		path, err := windows.UTF16PtrFromString(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]uint16, 1000)
		n, err := windows.GetShortPathName(path, &buf[0], uint32(len(buf)))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(filepath.ToSlash(windows.UTF16ToString(buf[:n])), "/")
		return strings.Join(parts[len(parts)-strings.Count(name, "/")-1:], "/")
	}
	const long = "A long directory/a file of blanks.text"
	name := short(long)
	if name == long {
		needs.Skip(t, needs.Windows, "files have no short names here")
	}
	for _, given := range []string{name, strings.ToLower(name), filepath.Join(dir, filepath.FromSlash(name)), long} {
		if got, err := d.Resolve(given); err != nil || got != long {
			t.Errorf("%s resolves to %s, %v", given, got, err)
		}
	}
	if got, err := d.RealName(name); err != nil || got != long {
		t.Errorf("%s is really %s, %v", name, got, err)
	}
	if err := d.Apply(t.Context(), Change{Path: name, Before: text("old"), After: text("new")}); err != nil {
		t.Error(err)
	}
	if got := tree(t, dir)[long]; got != "new" {
		t.Errorf("it has %q", got)
	}
	// Names that look so and are of nothing stay what they are, and protected.
	for _, given := range []string{"NOTHIN~1.TXT", "GIT~1/hooks/x", "GI7EB5~1/x"} {
		got, err := d.Resolve(given)
		if err != nil || got != given || strings.HasPrefix(given, "G") != (Protected(got) == Never) {
			t.Errorf("%s resolves to %s, %v, protected %v", given, got, err, Protected(got))
		}
	}
	// Names that are of something are judged by what it is.
	for of, bad := range map[string]func(string) bool{
		".git/config":                 func(n string) bool { return Protected(n) == Never },
		".environment/.env":           Sensitive,
		"A long directory/.env.local": Sensitive,
	} {
		if got, err := d.Resolve(short(of)); err != nil || got != of || !bad(got) {
			t.Errorf("%s (%s) resolves to %s, %v", short(of), of, got, err)
		}
		if _, err := Guard(d, nil).ReadFile(short(of)); bad("x/.env") && err == nil {
			t.Errorf("%s is read by the name %s", of, short(of))
		}
	}
	if err := d.Apply(t.Context(), Change{Path: short(".git/config"), Before: text("[core]"), After: text("x")}); err == nil {
		t.Error("the repository's data were changed by a short name")
	}
	if err := ownfile.Remove(filepath.Join(dir, "short.txt")); err != nil {
		t.Error(err)
	}
	if got, err := d.Resolve("SHORT.TXT"); err != nil || got != "SHORT.TXT" {
		t.Errorf("a file that is gone resolves to %s, %v", got, err)
	}
}
