package pendingedits_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// A file that becomes a directory, and a directory that becomes a file.
func trades(t *testing.T) (*bench, func()) {
	b := newBench(t, "t", "t\n", "d/f", "f\n", "d/sub/g", "g\n")
	return b, func() {
		t.Helper()
		b.apply(
			workspace.Change{Path: "t/in/x", After: []byte("x\n")}, workspace.Change{Path: "t", Before: []byte("t\n")},
			workspace.Change{Path: "d", After: []byte("d\n")}, workspace.Change{Path: "d/f", Before: []byte("f\n")}, workspace.Change{Path: "d/sub/g", Before: []byte("g\n")},
		)
	}
}

func (b *bench) pendingNames() (names []string) {
	for _, e := range b.store.List("").Edits {
		names = append(names, e.Name+" "+e.Kind+" "+string(e.State))
	}
	return names
}

// TestTrade: both are entries, seen in the view, accepted together, taken back and made again.
func TestTrade(t *testing.T) {
	b, propose := trades(t)
	propose()
	want := []string{"d create clean", "d/f delete clean", "d/sub/g delete clean", "t delete clean", "t/in/x create clean"}
	if got := b.pendingNames(); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	view := b.store.For(agent)
	if info, err := view.Stat("t"); err != nil || !info.IsDir() || text(view, "t/in/x") != "x\n" || text(view, "d") != "d\n" {
		t.Errorf("the view: %v %v %q %q", info, err, text(view, "t/in/x"), text(view, "d"))
	}
	for _, name := range []string{"t", "d/f", "d/sub/g"} {
		if data, err := view.ReadFile(name); err == nil {
			t.Errorf("%s is there: %q", name, data)
		}
	}
	b.reopen()
	is := func() { t.Helper(); b.wantDisk("t/in/x", "x\n", "d", "d\n", "d/f", absent) }
	was := func() { t.Helper(); b.wantDisk("t", "t\n", "d/f", "f\n", "d/sub/g", "g\n", "t/in/x", absent) }
	b.acceptAll()
	is()
	if r := b.undo(); len(r.Failed) > 0 {
		t.Fatalf("%+v", r)
	}
	was()
	if got := b.pendingNames(); !slices.Equal(got, want) {
		t.Fatalf("taken back: %q", got)
	}
	b.reopen()
	if r, err := b.store.RedoTo(t.Context(), ""); err != nil || len(r.Failed) > 0 {
		t.Fatalf("%+v %v", r, err)
	}
	is()
}

// TestTradeInParts: a part that can't be without the other is not accepted by itself, and is
// rejected with it.
func TestTradeInParts(t *testing.T) {
	b, propose := trades(t)
	propose()
	for _, c := range []struct{ name, says string }{{"t/in/x", "would have to go"}, {"d", "d/"}} {
		r := b.accept(pendingedits.Selection{Names: []string{c.name}})
		if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Err.Error(), c.says) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	reject := func(name string, want ...string) {
		t.Helper()
		r, err := b.store.Reject(t.Context(), pendingedits.Selection{Names: []string{name}}, "")
		if err != nil || !slices.Equal(r.Rejected, want) {
			t.Errorf("reject %s: %q %v, want %q", name, r.Rejected, err, want)
		}
	}
	reject("t", "t", "t/in/x")
	reject("d/sub/g", "d", "d/sub/g")
	propose2 := func(changes ...workspace.Change) error { return b.store.For(agent).Apply(t.Context(), changes...) }
	if err := propose2(workspace.Change{Path: "t/in", After: []byte("x")}); err == nil {
		t.Error("a file below one that stays")
	}
	if err := propose2(workspace.Change{Path: "d", After: []byte("x")}); err == nil {
		t.Error("a file in place of a directory that keeps one")
	}
	b.acceptAll()
	b.wantDisk("t", "t\n", "d/f", absent, "d/sub/g", "g\n")
}
