package pendingedits_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// telling is a base that tells the queue of each change before it says that it made it, as an
// editor does.
type telling struct {
	*memory
	tell func(names ...string)
}

func (b *telling) Apply(ctx context.Context, changes ...workspace.Change) error {
	err := b.memory.Apply(ctx, changes...)
	for _, c := range changes {
		b.tell(c.Path)
	}
	return err
}

// TestChangesWhileItIsMade: what the queue finds done before the decision is over is written
// down once, can be taken back, and is pending then.
func TestChangesWhileItIsMade(t *testing.T) {
	for _, told := range []bool{false, true} {
		base := &telling{memory: newMemory(), tell: func(...string) {}}
		dir := filepath.Join(t.TempDir(), "p")
		open := func() *pendingedits.Store {
			s, err := pendingedits.Open(dir, base, pendingedits.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if told {
				base.tell = s.BaseChanged
			}
			return s
		}
		s := open()
		base.set("a", ten)
		changed := replace(replace(ten, "2", "two"), "8", "eight")
		if err := s.For(agent).Apply(t.Context(), workspace.Change{Path: "a", Before: []byte(ten), After: []byte(changed)}, workspace.Change{Path: "b", After: []byte("new\n")}); err != nil {
			t.Fatal(err)
		}
		state := func() (names string) {
			for _, e := range s.List("").Edits {
				names += e.Name + strings.Repeat("+", len(e.Hunks))
			}
			return names
		}
		first := s.List("").Edits[0].Hunks[0].ID
		if r, err := s.Accept(t.Context(), pendingedits.Selection{Names: []string{"b"}, Hunks: []string{first}}); err != nil || len(r.Accepted) != 2 || len(r.Failed) > 0 || state() != "a+" {
			t.Fatalf("told %v: accepted %+v, %v; pending %q", told, r, err, state())
		}
		for round := range 2 {
			if text(base, "a") != replace(ten, "2", "two") || text(base, "b") != "new\n" || text(s.For(agent), "a") != changed {
				t.Fatalf("told %v, round %d: accepted %q", told, round, text(base, "a"))
			}
			if r, err := s.Undo(t.Context()); err != nil || len(r.Restored) != 2 || len(r.Failed) > 0 || state() != "a++b+" || text(base, "a") != ten || text(base, "b") != absent {
				t.Fatalf("told %v, round %d: undone %+v, %v; pending %q", told, round, r, err, state())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s = open(); state() != "a++b+" || text(s.For(agent), "a") != changed {
				t.Fatalf("told %v, round %d: after the restart pending %q", told, round, state())
			}
			if r, err := s.RedoTo(t.Context(), ""); err != nil || len(r.Restored) != 2 || state() != "a+" {
				t.Fatalf("told %v, round %d: made again %+v, %v; pending %q", told, round, r, err, state())
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
