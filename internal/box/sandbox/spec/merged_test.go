package spec

import "testing"

// A path shows what its innermost folder has there, but for the disk's own directories.
func TestFolders(t *testing.T) {
	s := Spec{
		Root: "/w/a", Merged: &Merged{At: "/at/a", Real: []string{"/w/a/.git"}},
		Beside: []Folder{{Dir: "/w/a/in", Merged: Merged{At: "/at/in"}}, {Dir: "/w/b", Merged: Merged{At: "/at/b"}}},
	}
	for path, want := range map[string]string{
		"/w/a": "/at/a", "/w/a/x": "/at/a/x", "/w/a/.git/HEAD": "/w/a/.git/HEAD", "/w/a/in": "/at/in", "/w/a/in/.git/HEAD": "/at/in/.git/HEAD",
		"/w/a/inside": "/at/a/inside", "/w/b/y": "/at/b/y", "/w/c": "/w/c", "/w/bc": "/w/bc", "/w": "/w",
	} {
		if got := s.Source(path); got != want {
			t.Errorf("%s is seen at %s, want %s", path, got, want)
		}
		if got := s.Host(path); got != want { // without a mount it is the same
			t.Errorf("%s is found at %s, want %s", path, got, want)
		}
	}
	if !s.InFolders("/w/b/y") || s.InFolders("/w/c") {
		t.Error("/w/b/y is in a folder, and /w/c in none")
	}
	alone := Spec{Root: "/w/a"}
	if got := alone.Source("/w/a/x"); got != "/w/a/x" {
		t.Errorf("without a world it is seen at %s", got)
	}
}
