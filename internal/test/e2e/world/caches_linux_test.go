package world_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestUserCaches: commands find what the user's builds have cached, and add to it for
// their project alone; a cache that can't be shared is one of their own.
func TestUserCaches(t *testing.T) {
	program.ServerAnywhere(t) // with the cache that is there
	cache := t.TempDir()
	t.Setenv("GOCACHE", cache)
	files := map[string]string{"a.txt": "a\n"}
	if err := ownfile.WriteFile(filepath.Join(cache, "known"), []byte("by the user\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := e2e.WorldRig(t, "overlay", files)
	at := "~/.cache/go-build"
	r.Ran("cat "+at+"/known && echo by a command > "+at+"/new", "by the user")
	r.Ran("cat "+at+"/new", "by a command")
	if err := ownfile.WriteFile(filepath.Join(cache, "later"), []byte("by the user, later\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.Ran("cat "+at+"/later", "by the user, later")
	list, err := os.ReadDir(cache)
	if err != nil || len(list) != 2 {
		t.Errorf("the user's cache has %v, %v; commands must not change it", list, err)
	}

	// Another server of the project: the layer has one owner at a time.
	second := e2e.ServeBy(t, r.Dir, fakeeditor.Options{}, program.ServerAnywhere(t))
	second.Mode("review")
	if got := second.Tool("run_command", e2e.Object{"command": "ls " + at}); strings.Contains(got.Content, "known") || strings.Contains(got.Content, "new\n") {
		t.Errorf("two servers share a layer: %s", got.Content)
	}

	// Another project begins with the user's alone.
	other := e2e.WorldRig(t, "overlay", files)
	if got := other.Ran("ls "+at, "known"); strings.Contains(got, "new\n") {
		t.Errorf("another project sees what a command cached: %s", got)
	}

	// Once a project is gone, so is what its commands cached.
	list, err = os.ReadDir(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "layers"))
	if err != nil || len(list) != 1 {
		t.Fatalf("layers: %v, %v", list, err) // worldRig has a cache directory of its own
	}
	gone := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "layers", "gone")
	e2e.Write(t, filepath.Join(gone, "folder"), filepath.Join(t.TempDir(), "removed"))
	third := e2e.ServeBy(t, e2e.Project(t, files), fakeeditor.Options{}, program.ServerAnywhere(t))
	third.Mode("review")
	third.Ran("ls "+at, "known")
	if _, err := os.Stat(gone); err == nil {
		t.Error("the layers of a folder that is gone are kept")
	}
	if list, err := os.ReadDir(filepath.Dir(gone)); err != nil || len(list) != 2 {
		t.Errorf("layers: %v, %v", list, err)
	}
}
