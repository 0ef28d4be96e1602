package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestProjectAround: what others put into a directory that all may write is no project
// around those below it; where it is where somebody stands, it is.
func TestProjectAround(t *testing.T) {
	top := t.TempDir()
	everybody := filepath.Join(top, "everybody")
	below := filepath.Join(everybody, "a", "b")
	for _, dir := range []string{below, filepath.Join(top, ".git"), filepath.Join(everybody, ".sidecar")} {
		if err := ownfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	check := func(here, want string) {
		t.Helper()
		if got := projectAround(here); got != want {
			t.Errorf("around %s is %s, want %s", here, got, want)
		}
	}
	check(below, everybody)
	if err := ownfile.Chmod(everybody, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	check(below, below)
	check(everybody, everybody)
	check(top, top)
	if err := ownfile.Mkdir(filepath.Join(everybody, "a", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	check(below, filepath.Join(everybody, "a"))
}

// TestNoProject: where everything of a user's is below, nothing is taken for a project, but
// what the user names; nor is a directory's .sidecar there for what is below.
func TestNoProject(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	below := filepath.Join(home, "below", "deep")
	for _, dir := range []string{below, filepath.Join(home, ".sidecar"), filepath.Join(home, "project", ".git"), filepath.Join(home, "project", "sub")} {
		if err := ownfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	for here, want := range map[string]string{
		home: "", link: "", "/": "", os.TempDir(): "",
		below: below, filepath.Join(home, "project"): filepath.Join(home, "project"), filepath.Join(home, "project", "sub"): filepath.Join(home, "project"),
	} {
		t.Chdir(here)
		f, err := (&cli{}).folder()
		if (err == nil) != (want != "") || want == "" && !errors.Is(err, errNoProject) || f.Dir != want {
			t.Errorf("in %s it is %q, %v; want %q", here, f.Dir, err, want)
		}
		if want == "" {
			if f, err := (&cli{roots: rootFlag{here}}).folder(); err != nil || f.Dir != here {
				t.Errorf("named, %s is %q, %v", here, f.Dir, err)
			}
		}
	}
}
