package world

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// fresh runs a line as a build of the person's, in a session of its own that ends.
func (r *rig) fresh(session, line string) (string, Collected) {
	r.t.Helper()
	run, err := r.m.Begin(Request{Session: session, Hold: true, Fresh: true, Kind: r.kind, Root: r.root, View: r.disk})
	if err != nil {
		r.t.Fatal(err)
	}
	out := r.start(run, line)
	h, err := settled(run.End(true))
	if err != nil {
		r.t.Fatal(err)
	}
	r.m.CloseSession(session)
	return out, h
}

// What a person has built afresh is made of nothing that is held or pending, and takes the
// place of what is held of the same names, and of nothing else.
func TestTakeBuilt(t *testing.T) { eachKind(t, testTakeBuilt) }

func testTakeBuilt(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{".gitignore": "out/\ndist/\n", "a.c": "a\n", "out/old.o": "old\n"})
	r.q.set(r.disk, "a.c", []byte("pending\n"))
	r.holding("one", "mkdir -p dist node_modules/m; cp a.c out/a.o; echo evil > out/evil.o; echo dist > dist/d; echo dep > node_modules/m/i.js")
	r.holding("two", "echo two > out/two.o")
	r.m.CloseSession("one")
	r.m.CloseSession("two")
	r.m.Close()
	r.m = New(Options{Box: r.box, Allowed: dataOf{"out"}}) // another server, whose user lets data through

	out, h := r.fresh("build", "ls out dist node_modules/m 2>/dev/null; cp a.c out/a.o; echo new > new.txt")
	if out != "out:\nold.o\n" {
		t.Errorf("the build sees %q", out)
	}
	if got := kinds(h.Changes); got != "create new.txt" || len(h.Said) > 0 && kind == Overlay {
		t.Errorf("changed %s, said %q", got, h.Said)
	}
	r.has(map[string]string{"out/a.o": "-", "a.c": "a\n", "new.txt": "-"})
	files, said, replaced, err := r.m.TakeBuilt(r.root, "build", "one")
	if err != nil || files != 1 || len(said) > 0 || len(replaced) != 1 || replaced[0].Session != "one" {
		t.Errorf("took %d, said %q, replaced %+v, %v", files, said, replaced, err)
	}
	r.has(map[string]string{"out/a.o": "a\n", "out/evil.o": "-", "out/old.o": "old\n", "dist/d": "-", "node_modules/m/i.js": "-"})
	held := map[string]workspace.Held{}
	for _, e := range r.held() {
		held[e.Session] = e
	}
	if len(held) != 2 || held["one"].Files != 2 || held["two"].Files != 1 {
		t.Errorf("held still are %+v", held)
	}
	if out, _ := r.holding("one", "cat out/a.o dist/d node_modules/m/i.js; ls out"); out != "a\ndist\ndep\na.o\nold.o\ntwo.o\n" {
		t.Errorf("commands see %q", out)
	}
}
