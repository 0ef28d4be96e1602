package world

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that runs keeps what it wrote until it is decided what becomes of it,
// whatever else changes meanwhile.
func TestKeepsWhatIsTaken(t *testing.T) { eachKind(t, testKeepsWhatIsTaken) }

func testKeepsWhatIsTaken(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "a\n"})
	run := r.begin()
	for name, refused := range map[string]bool{"taken.txt": false, "refused.txt": true} {
		r.start(run, "echo mine > "+name)
		h, err := run.Collect()
		if err != nil || kinds(h.Changes) != "create "+name {
			t.Fatalf("changed %s, %v", kinds(h.Changes), err)
		}
		r.edit("other.txt", name) // by another session
		r.m.Again()
		if out := r.start(run, "cat "+name+" other.txt"); out != "mine\n"+name {
			t.Errorf("before it is decided, it sees %q", out)
		}
		want := ""
		if !refused {
			r.take(h)
			want = "mine\n"
		}
		h.Settled()
		h.Settled() // once is enough
		if out := r.start(run, "cat "+name+" 2>/dev/null; true"); out != want {
			t.Errorf("%s: once that is decided, it sees %q, want %q", name, out, want)
		}
	}
	if _, err := run.End(true); err != nil {
		t.Fatal(err)
	}
}

// What is accepted is in the world already: it is not written there again, where a
// program might find it empty.
func TestAcceptedIsNotWritten(t *testing.T) { eachKind(t, testAcceptedIsNotWritten) }

func testAcceptedIsNotWritten(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"b.txt": "b\n"})
	run := r.begin()
	r.start(run, "echo mine >> b.txt")
	h, err := settled(run.Collect())
	if err != nil {
		t.Fatal(err)
	}
	r.take(h)
	upper, _ := run.Written()
	written := func() os.FileInfo {
		info, err := os.Stat(filepath.Join(upper, "b.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	r.m.Again()
	before := written()
	r.accept()
	r.m.Again()
	if now := written(); !os.SameFile(before, now) || !now.ModTime().Equal(before.ModTime()) {
		t.Error("it was written again")
	}
	r.edit("b.txt", "another\n") // the control: what is another text is written
	r.m.Again()
	if now := written(); now.ModTime().Equal(before.ModTime()) {
		t.Error("another text was not written")
	}
	if out := r.start(run, "cat b.txt"); out != "another\n" {
		t.Errorf("it sees %q", out)
	}
	if _, err := run.End(false); err != nil {
		t.Fatal(err)
	}
}
