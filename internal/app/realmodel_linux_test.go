package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/realmodel"
)

// TestRealModel: a model that somebody has does a simple edit, by the whole way.
func TestRealModel(t *testing.T) {
	profile := realmodel.Profile(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := worldProject(t, "overlay", map[string]string{"colours.txt": "red\ngrean\nblue\n", "other.txt": "grean\n"},
		object{"backend.profiles": []object{profile}, "backend.profile": realmodel.Name})
	out, said, code := agentLine(t, dir, "", "run", "--mode", "autonomous", "builtin", "There is a spelling mistake in colours.txt. Correct it there, and change nothing else.")
	if code != 0 {
		t.Fatalf("%d\n%s%s", code, out, said)
	}
	for name, want := range map[string]string{"colours.txt": "red\ngreen\nblue\n", "other.txt": "grean\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v\n%s%s", name, got, err, out, said)
		}
	}
}
