package world

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// lefts are the texts that are left of the folder; they are taken.
func (r *rig) lefts() (all []Left) {
	r.t.Helper()
	err := New(Options{}).TakeLeft(r.root, workspace.NewOverlay(r.disk, r.q), func(l Left) error {
		all = append(all, l)
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
	return all
}

// left are they in short.
func (r *rig) left() string {
	r.t.Helper()
	var list []string
	for _, l := range r.lefts() {
		words := kinds(l.Changes)
		for _, c := range l.Changes {
			if c.Outdated {
				words += " (" + c.Path + " in conflict)"
			}
		}
		list = append(list, words)
	}
	return strings.Join(list, "; ")
}

// dies runs a command in a server that is killed while it runs, and has the next one look.
func (r *rig) dies(line string) {
	r.t.Helper()
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.CommandContext(r.t.Context(), self, r.root)
	cmd.Env = append(os.Environ(), dieAt+"=running", dieIn+"="+string(r.kind), dieLine+"="+line)
	if out, err := cmd.CombinedOutput(); err == nil {
		r.t.Fatalf("it was not killed: %s", out)
	}
}

func (r *rig) sweep() {
	r.t.Helper()
	if err := New(Options{}).Sweep(r.root); err != nil {
		r.t.Error(err)
	}
}

// TestSessionEndsMeanwhile: what commands changed is left for review when their session, or
// the server, ends before anybody took it; what was taken, and what a run was only tested
// with, is not.
func TestSessionEndsMeanwhile(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		for _, how := range []string{"session", "session, while it runs", "server", "taken", "dropped"} {
			t.Run(how, func(t *testing.T) {
				r := newRig(t, kind, map[string]string{".gitignore": "out/\n", "a.txt": "a\n", "b.txt": "b\n"})
				run, err := r.m.Begin(Request{Session: "s", Kind: kind, Root: r.root, View: workspace.NewOverlay(r.disk, r.q), Drop: how == "dropped"})
				if err != nil {
					t.Fatal(err)
				}
				r.start(run, dying)
				if how == "session, while it runs" {
					r.m.CloseSession("s")
				}
				if _, err := settled(run.End(how == "taken" || how == "session, while it runs")); err != nil {
					t.Fatal(err)
				}
				if how == "server" {
					r.m.Close()
				} else {
					r.m.CloseSession("s")
				}
				want := "create new.txt, delete b.txt, modify a.txt"
				if how == "taken" || how == "dropped" {
					want = ""
				}
				if got := r.left(); got != want {
					t.Errorf("left: %q, want %q", got, want)
				}
				if got := r.left(); got != "" {
					t.Errorf("taken twice: %q", got)
				}
			})
		}
	})
}

// TestLeftByKilledServer: what is in the layer of a killed server is judged as what a command
// wrote: nothing of git's or of ours, no link that leads out, and what the user changed since
// is in conflict.
func TestLeftByKilledServer(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		r := newRig(t, kind, map[string]string{"a.txt": "a\n", "mine.txt": "m\n", "old.txt": "o\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n"})
		r.dies("echo changed > a.txt; echo theirs > mine.txt; rm old.txt; ln -s ../decoy out; ln -s a.txt in; mkdir -p .sidecar sub/.git; echo x > .sidecar/config.json; echo evil > sub/.git/config; echo '[core] fsmonitor = evil' > .git/config; echo k > .npmrc; echo done; ")
		r.write("mine.txt", "m, and more\n")
		r.write("old.txt", "o, and more\n")
		r.sweep()
		lefts := r.lefts()
		if len(lefts) != 1 || lefts[0].Session != "s" {
			t.Fatalf("left: %+v", lefts)
		}
		if got, want := kinds(lefts[0].Changes), "create .npmrc, create in link, create mine.txt, modify a.txt"; got != want {
			t.Errorf("left: %q, want %q", got, want)
		}
		for _, c := range lefts[0].Changes {
			if c.Outdated != (c.Path == "mine.txt") {
				t.Errorf("%s is in conflict: %v", c.Path, c.Outdated)
			}
		}
		if said := strings.Join(lefts[0].Said, " "); !strings.Contains(said, "out: it is a link that leads out") {
			t.Errorf("said: %s", said)
		}
		if said := strings.Join(lefts[0].Said, " "); kind == Overlay && !strings.Contains(said, "old.txt: a command deleted it") {
			t.Errorf("of what the user changed since: %s", said)
		}
		if data, err := os.ReadFile(filepath.Join(r.root, "mine.txt")); err != nil || string(data) != "m, and more\n" {
			t.Errorf("the disk has %q, %v", data, err)
		}
	})
}

// TestLeftOverPending: a command of a killed server wrote over a text that was pending.
func TestLeftOverPending(t *testing.T) {
	r := newRig(t, Overlay, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	for _, name := range []string{"a.txt", "b.txt"} {
		r.q.texts[name] = []byte("pending " + name + "\n")
	}
	run, err := r.m.Begin(Request{Session: "s", Root: r.root, View: workspace.NewOverlay(r.disk, r.q), Hold: true})
	if err != nil {
		t.Fatal(err)
	}
	r.start(run, "for f in a.txt b.txt; do echo more >> $f; done")
	w := run.w
	w.lock.release() // as if the server were killed
	delete(r.m.worlds, key{"s", r.root, Overlay})
	w.layer.end()
	r.q.texts["b.txt"] = []byte("another\n")
	r.sweep()
	lefts := r.lefts()
	if len(lefts) != 1 || len(lefts[0].Changes) != 2 {
		t.Fatalf("left: %+v", lefts)
	}
	for _, c := range lefts[0].Changes {
		before := map[string]string{"a.txt": "pending a.txt\n", "b.txt": ""}[c.Path]
		if string(c.Before) != before || string(c.After) != "pending "+c.Path+"\nmore\n" || c.Outdated != (c.Path == "b.txt") {
			t.Errorf("%s: %q, %q, in conflict: %v", c.Path, c.Before, c.After, c.Outdated)
		}
	}
}

// TestLeftThatIsNotOurs: texts in a directory that others can write are not read, a name that
// leads out is nobody's, a damaged file is set aside, and what can't be taken stays.
func TestLeftThatIsNotOurs(t *testing.T) {
	r := newRig(t, Overlay, map[string]string{"a.txt": "a\n"})
	at, err := leftDir(r.root)
	if err != nil {
		t.Fatal(err)
	}
	if err := ownfile.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := ownfile.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = `{"session":"s","changes":[{"Path":"new.txt","After":"eAo="},{"Path":"../out.txt","After":"eAo="},{"Path":"/abs.txt","After":"eAo="},{"Path":"l","After":"L2V0Yy9wYXNzd2Q=","AfterLink":true}]}`
	put("one.json", good)
	if err := ownfile.Chmod(at, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := r.left(); got != "" {
		t.Errorf("of a directory that anybody writes: %q", got)
	}
	if err := ownfile.Chmod(at, 0o700); err != nil {
		t.Fatal(err)
	}
	// Control: it is the same file.
	refused := errors.New("not now")
	if err := New(Options{}).TakeLeft(r.root, workspace.NewOverlay(r.disk, r.q), func(Left) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("refused: %v", err)
	}
	if got := r.left(); got != "create new.txt" {
		t.Errorf("left: %q", got)
	}
	put("two.json", "{")
	if err := New(Options{}).TakeLeft(r.root, workspace.NewOverlay(r.disk, r.q), func(Left) error { return nil }); err == nil {
		t.Error("a damaged file is taken")
	}
	if got := r.left(); got != "" {
		t.Errorf("a damaged file: %q", got)
	}
	names, err := os.ReadDir(at)
	if err != nil || !slices.ContainsFunc(names, func(e os.DirEntry) bool { return e.Name() == "two.json.damaged" }) {
		t.Errorf("the damaged file is gone: %v, %v", names, err)
	}
}
