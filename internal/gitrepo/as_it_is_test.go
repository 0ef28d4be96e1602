package gitrepo

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitcmd"
)

// movedPaths are the names of what a move was seen to write.
func movedPaths(m *Move) (names []string) {
	for _, f := range m.Files {
		names = append(names, f.Path)
	}
	return names
}

// TestReplacedObjects: a commit is looked at as what it is, not as what a replace ref
// or a graft makes of it: what is done afterwards does not know of these.
func TestReplacedObjects(t *testing.T) {
	w := newWorld(t, Options{})
	w.sh(`git switch -qc evil && mkdir .vscode && echo x > .vscode/tasks.json && git add . && git commit -qm evil &&
git switch -q master && git switch -qc good && echo y > b.txt && git commit -qam good && git switch -q master && git replace evil good`)
	if got := w.sh("git diff --name-only master evil"); got != "b.txt" {
		t.Fatalf("git itself does not replace: %s", got) // the control
	}
	m, err := w.LookAtSwitch(t.Context(), "evil")
	if err != nil || len(m.Files) != 1 || m.Files[0].Path != ".vscode/tasks.json" {
		t.Fatalf("%v, %v", movedPaths(m), err)
	}
	if m, err = w.LookAtSwitch(t.Context(), "good"); err != nil || len(m.Files) != 1 || m.Files[0].Path != "b.txt" {
		t.Errorf("%v, %v", movedPaths(m), err)
	}
	w.sh("git rev-parse evil > .git/info/grafts") // without its parent
	out, err := w.Git.Run(t.Context(), gitcmd.Invocation{Op: "list-commits", Args: []string{"--count", "evil"}})
	if err != nil || string(out) != "2\n" {
		t.Errorf("a graft counts: %s, %v", out, err)
	}
	w.same("git --no-replace-objects rev-list --count evil 2>/dev/null", "1")
}
