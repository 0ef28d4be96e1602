package secrets

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/inventory"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// TestOneWalker: what is hidden from commands is what is masked, however deep it
// lies and however much lies beside it. Controls: a name that is no secret's,
// and one that the user allows.
func TestOneWalker(t *testing.T) {
	dir := t.TempDir()
	write := func(name, value string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(path, []byte("APP_SECRET="+value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secret := map[string]string{}
	for i, name := range []string{".env", "app/.env.local", "1/2/3/4/5/6/7/8/9/.env", "node_modules/x/.env", "late/.env.production"} {
		secret[name] = fmt.Sprintf("sky-is-green-%d-of-them", i)
		write(name, secret[name])
	}
	for i := range 400 {
		write(fmt.Sprintf("many/%d/.env", i), fmt.Sprintf("grass-is-blue-%d-of-them", i))
	}
	write("many/readme.txt", "control-of-plain-text")
	write("allowed/.env", "control-of-the-allowed")
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "w", Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var finder Finder
	hide := redact.New()
	allowed := func(name string) bool { return strings.HasPrefix(name, "allowed/") }
	v := NewValues(disk, &finder, hide, allowed)
	defer v.Close()
	v.Refresh() // waits for the first search
	items, err := finder.Look(t.Context(), dir, Apart...)
	if err != nil {
		t.Fatal(err)
	}
	hidden := map[string]bool{}
	for _, item := range items {
		if rel, err := filepath.Rel(dir, item.Path); err == nil && item.Kind == inventory.Secret {
			hidden[filepath.ToSlash(rel)] = true
		}
	}
	masked := func(text string) bool { return !strings.Contains(hide.Text("it is "+text+" here"), text) }
	for name, value := range secret {
		if !hidden[name] || !masked(value) {
			t.Errorf("%s: hidden %v, masked %v", name, hidden[name], masked(value))
		}
	}
	if n := len(hidden); n != len(secret)+400+1 {
		t.Errorf("%d files are hidden", n)
	}
	if !masked("grass-is-blue-399-of-them") {
		t.Error("the last of many is not masked")
	}
	for _, control := range []string{"control-of-plain-text", "control-of-the-allowed"} {
		if masked(control) {
			t.Errorf("control: %s is masked", control)
		}
	}
	// A new value holds at once, and an old one no longer.
	write(".env", "sky-is-yellow-after-all")
	v.Refresh()
	if !masked("sky-is-yellow-after-all") || masked(secret[".env"]) {
		t.Error("a changed file: the new value is not masked, or the old one still is")
	}
}

// TestTooManyValues: where there are more files than are read, those that are not
// deep are; commands see none of them all the same.
func TestTooManyValues(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	for i := range maxFiles + 20 {
		name := filepath.Join(dir, "a", "deeper", fmt.Sprint(i), ".env")
		if i%100 == 0 {
			name = filepath.Join(dir, "z", fmt.Sprint(i), ".env")
		}
		if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(name, fmt.Appendf(nil, "APP_SECRET=grass-is-blue-%d-of-them\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "w", Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var finder Finder
	v := NewValues(disk, &finder, redact.New(), func(string) bool { return false })
	defer v.Close()
	v.Refresh()
	for i := 0; i < maxFiles+20; i += 100 {
		if v.files[fmt.Sprintf("z/%d/.env", i)] == nil {
			t.Errorf("z/%d/.env was not read", i)
		}
	}
	if len(v.files) != maxFiles {
		t.Errorf("%d files were read", len(v.files))
	}
	items, err := finder.Look(t.Context(), dir, Apart...)
	if err != nil || len(items) != maxFiles+20 {
		t.Errorf("%d files are hidden, %v", len(items), err)
	}
}
