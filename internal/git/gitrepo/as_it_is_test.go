package gitrepo

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
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

// TestSwitchSaysNothing: git does not ask for the state of the submodules of the new
// index, in which it would obey their settings.
func TestSwitchSaysNothing(t *testing.T) {
	w := newWorld(t, Options{})
	w.sh(`git init -q sub && (cd sub && echo s > s && git add s && git commit -qm s) && git switch -qc evil && git add sub 2>/dev/null && git commit -qm evil && git switch -q master 2>/dev/null &&
cd sub && git config filter.x.clean 'evil;cat' && mkdir -p .git/info && echo '* filter=x' > .git/info/attributes && touch -d @1 s`)
	w.fired()
	w.sh("git switch evil; git switch -q master; touch -d @2 sub/s")
	if !w.fired() {
		t.Fatal("plain git does not run evil, so this shows nothing")
	}
	_, err := w.SwitchBranch(t.Context(), "evil")
	if w.fired() {
		t.Error("evil ran")
	}
	if err != nil {
		t.Error(err)
	}
	w.same("git symbolic-ref HEAD; git ls-files", "refs/heads/evil\na.txt\nb.txt\nsub")
}

// TestIgnoredDataStays: a switch, a pull or a stash writes over no file that git does
// not track, ignored or not.
func TestIgnoredDataStays(t *testing.T) {
	for name, do := range map[string]func(w *world) error{
		"switch": func(w *world) error { _, err := w.SwitchBranch(w.t.Context(), "other"); return err },
		"pull": func(w *world) error {
			w.sh("git config branch.master.remote .; git config branch.master.merge refs/heads/other")
			_, err := w.Pull(w.t.Context(), nil, nil, nil)
			return err
		},
		"stash": func(w *world) error {
			w.sh("test -e data && mv data kept; echo theirs > data; git add -f data; git stash -q; test -e kept && mv kept data; true")
			_, err := w.StashApply(w.t.Context(), 0, false)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, there := range []bool{true, false} {
				w := newWorld(t, Options{})
				w.sh("git switch -qc other; echo theirs > data; git add -f data; git commit -qm data; git switch -q master; echo data > .git/info/exclude")
				want := "theirs\n"
				if there {
					w.write("data", "mine\n")
					want = "mine\n"
				}
				err := do(w)
				if there && failureKind(err) != gitcmd.Conflicted || !there && err != nil {
					t.Errorf("data is there: %v: %v", there, err)
				}
				if got := w.read("data"); got != want {
					t.Errorf("data is there: %v: %q", there, got)
				}
			}
		})
	}
}

// TestWhatTheIndexLacks: git may write files in which the two commits do not differ,
// if the index lacks them or marks them as absent.
func TestWhatTheIndexLacks(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, Options{})
	w.sh("mkdir .vscode; echo x > .vscode/tasks.json; git add .; git commit -qm tasks; git switch -qc other; echo y > b.txt; git commit -qam other; git switch -q master")
	look := func(want string) *Move {
		t.Helper()
		m, err := w.LookAtSwitch(ctx, "other")
		if err != nil || strings.Join(movedPaths(m), " ") != want {
			t.Fatalf("%v, %v", movedPaths(m), err)
		}
		return m
	}
	refused := func(m *Move, words string) {
		t.Helper()
		if _, err := m.Do(ctx, w.Repo, nil); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), words) {
			t.Errorf("%v", err)
		}
		w.same("git symbolic-ref HEAD; cat .vscode/tasks.json", "refs/heads/master\nmine")
	}
	w.write(".vscode/tasks.json", "mine\n")
	m := look("b.txt")
	w.sh("mv .git/index kept")
	refused(m, "git reset")
	refused(look("b.txt .vscode/tasks.json a.txt"), "git reset")
	w.sh("mv kept .git/index; git update-index --skip-worktree .vscode/tasks.json")
	refused(m, "changed after it was looked at")
	look("b.txt .vscode/tasks.json")
	w.sh("git update-index --no-skip-worktree .vscode/tasks.json")
	if _, err := look("b.txt").Do(ctx, w.Repo, nil); err != nil {
		t.Error(err)
	}
	w.same("git symbolic-ref HEAD; cat .vscode/tasks.json b.txt", "refs/heads/other\nmine\ny")
	w.sh("git checkout -q .; git switch -q master; git update-index --skip-worktree .vscode/tasks.json; git rm -q --cached a.txt; mv a.txt kept")
	m = look("b.txt .vscode/tasks.json a.txt")
	if _, err := m.Do(ctx, w.Repo, nil); err != nil {
		t.Error(err)
	}
}
