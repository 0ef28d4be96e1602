package pendingedits_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestHunksInAnyOrder accepts and rejects three hunks one by one in every
// order and choice; the outcome depends on the choice alone.
func TestHunksInAnyOrder(t *testing.T) {
	parts := [][]string{{"2\n", "two\n2½\n"}, {"5\n", ""}, {"8\n", "8\neight\n"}}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for choice := range 8 {
			b := newBench(t, "a", ten)
			proposal, want := ten, ten
			for i, p := range parts {
				proposal = replace(proposal, p...)
				if choice&(1<<i) != 0 {
					want = replace(want, p...)
				}
			}
			b.edit("a", proposal)
			ids := b.ids("a")
			for _, i := range order {
				sel := pendingedits.Selection{Hunks: ids[i : i+1], Revision: b.store.Revision()}
				if choice&(1<<i) != 0 {
					if res := b.accept(sel); len(res.Failed) > 0 {
						t.Fatal(res.Failed)
					}
				} else if _, err := b.store.Reject(context.Background(), sel, ""); err != nil {
					t.Fatal(err)
				}
			}
			b.wantPending()
			b.want("a", want, want)
		}
	}
}

func TestSelection(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, "a", ten, "b", "b\n")
	b.edit("a", replace(ten, "2\n", "two\n", "5\n", "five\n", "8\n", "eight\n"))
	seen := b.store.Revision()
	b.edit("b", "B\n")

	if _, err := b.store.Accept(ctx, pendingedits.Selection{Hunks: []string{"h999"}}); !errors.Is(err, workspace.ErrConflict) || !strings.Contains(err.Error(), "h999") {
		t.Errorf("unknown hunk: %v", err)
	}
	if _, err := b.store.Accept(ctx, pendingedits.Selection{Revision: seen}); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("all of an older revision: %v", err)
	}
	if _, err := b.store.Reject(ctx, pendingedits.Selection{Names: []string{"b"}, Revision: seen}, ""); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("reject of an older revision: %v", err)
	}
	if _, err := b.store.Accept(ctx, pendingedits.Selection{Revision: b.store.Revision() + 1}); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("revision of another queue: %v", err)
	}
	if _, err := b.store.Reject(ctx, pendingedits.Selection{Names: []string{"nothing"}}, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reject of nothing: %v", err)
	}
	b.want("a", ten, b.seen("a"), "b", "b\n", "B\n")

	// What changed elsewhere doesn't matter, and a bad name doesn't stop the rest.
	ids := b.ids("a")
	res := b.accept(pendingedits.Selection{Names: []string{"nothing"}, Hunks: ids[1:2], Revision: seen})
	if len(res.Failed) != 1 || !errors.Is(res.Failed[0].Err, fs.ErrNotExist) || !cmp.Equal(res.Accepted, []string{"a"}) {
		t.Errorf("accept: %+v", res)
	}
	if d := cmp.Diff([]string{ids[0], ids[2]}, b.ids("a")); d != "" {
		t.Errorf("ids after accepting the second (-want +got):\n%s", d)
	}
	if _, err := b.store.Accept(ctx, pendingedits.Selection{Hunks: ids[1:2]}); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("accepting a hunk twice: %v", err)
	}

	// The ids hold when the agent changes another place, not when it changes theirs.
	b.edit("a", replace(b.seen("a"), "1\n", "0\n1\n", "eight\n", "acht\n"))
	if got := b.ids("a"); len(got) != 3 || got[1] != ids[0] || got[2] == ids[2] {
		t.Errorf("ids after the agent's next edit: %v, were %v", got, ids)
	}
	if list := b.store.List("other"); len(list.Edits) != 0 {
		t.Errorf("another session's edits: %v", list.Edits)
	}
	if list := b.store.List("s"); len(list.Edits) != 2 {
		t.Errorf("the session's edits: %v", list.Edits)
	}
}

func TestAgentIsTold(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, "a", ten, "b", "b\n", "old", "o\n")
	b.edit("a", replace(ten, "2\n", "two\n", "5\n6\n7\n", "x\n", "9\n", "nine\n"))
	ids := b.ids("a")
	b.accept(pendingedits.Selection{Hunks: ids[:1]})
	if _, err := b.store.Reject(ctx, pendingedits.Selection{Hunks: ids[1:2]}, "keep these"); err != nil {
		t.Fatal(err)
	}
	if err := b.store.Propose(ctx, "a", []byte(replace(b.seen("a"), "nine", "neun"))); err != nil {
		t.Fatal(err)
	}
	if err := b.store.Propose(ctx, "a", []byte(b.onDisk("a"))); err != nil {
		t.Fatal(err)
	}
	if err := b.store.Propose(ctx, "a", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("proposal for a file that has none: %v", err)
	}
	b.edit("c", "c\n")
	b.edit("b", absent)
	b.move("old", "new")
	b.acceptAll()
	b.undo()
	b.undo()
	want := []string{
		"s: The user accepted 1 of 3 hunks in a (line 2).",
		"s: The user rejected 1 of 2 hunks in a (lines 5–7): keep these",
		"s: The user changed your proposal for a; read the file again before you edit it.",
		"s: The user changed your proposal for a back to what the file is; nothing is pending for it.",
		"s: The user accepted the deletion of b.",
		"s: The user accepted the new file c.",
		"s: The user accepted the renaming of old to new.",
		"s: The user took back accepting new; it is pending again.",
		"s: The user took back accepting c; it is pending again.",
		"s: The user took back accepting b; it is pending again.",
		"s: The user accepted new again.",
		"s: The user accepted c again.",
		"s: The user accepted b again.",
	}
	if d := cmp.Diff(want, b.told); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
}

// TestPropose has the user edit proposals of every kind, conflicts too.
func TestPropose(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, "a", ten, "gone", "g\n", "old", ten)
	b.edit("a", replace(ten, "3\n", "three\n", "8\n", "eight\n"))
	b.edit("made", "agent\n")
	b.edit("gone", absent)
	b.move("old", "new")
	ids := b.ids("a")
	b.write("a", replace(ten, "3\n", "drei\n"))
	for name, text := range map[string]string{
		"a": replace(ten, "3\n", "trois\n", "8\n", "eight\n"), "made": "user\n", "gone": "still\n", "new": replace(ten, "5", "V"),
	} {
		if err := b.store.Propose(ctx, name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	b.wantPending(
		"modify a clean +2-2 [3,1→3,1 clean] [8,1→8,1 clean]",
		"modify gone clean +1-1 [1,1→1,1 clean]",
		"create made clean +1-0 [0,0→1,1 clean]",
		"rename old→new clean +1-1 [1,10→1,10 clean]",
	)
	if got := b.ids("a"); got[1] != ids[1] {
		t.Errorf("the hunk that the user left alone has the id %s, had %s", got[1], ids[1])
	}
	b.acceptAll()
	b.want("a", replace(ten, "3\n", "trois\n", "8\n", "eight\n"), replace(ten, "3\n", "trois\n", "8\n", "eight\n"),
		"made", "user\n", "user\n", "gone", "still\n", "still\n", "old", absent, absent, "new", replace(ten, "5", "V"), replace(ten, "5", "V"))
}

func TestDiffAndText(t *testing.T) {
	b := newBench(t, "a", "1\n2\n3\n", "b", "b\n")
	b.edit("a", "1\ntwo\n3")
	b.edit("c d", "new\n")
	b.move("b", "e")
	got, err := b.store.Diff("")
	if err != nil {
		t.Fatal(err)
	}
	want := `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,3 +1,3 @@
 1
-2
-3
+two
+3
\ No newline at end of file
diff --git a/c d b/c d
new file mode 100644
--- /dev/null
+++ b/c d	
@@ -0,0 +1 @@
+new
diff --git a/b b/e
rename from b
rename to e
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("diff (-want +got):\n%s", d)
	}
	if _, err := b.store.Diff("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("diff of nothing: %v", err)
	}
	for _, c := range []struct {
		name string
		side pendingedits.Side
		want string
	}{
		{"a", pendingedits.Base, "1\n2\n3\n"}, {"a", pendingedits.Proposed, "1\ntwo\n3"},
		{"c d", pendingedits.Base, ""}, {"c d", pendingedits.Proposed, "new\n"},
		{"e", pendingedits.Base, "b\n"}, {"b", pendingedits.Proposed, "b\n"},
	} {
		if got, err := b.store.Text(c.name, c.side); err != nil || got != c.want {
			t.Errorf("%s of %s: %q, %v; want %q", c.side, c.name, got, err, c.want)
		}
	}
	if _, err := b.store.Text("a", "left"); err == nil {
		t.Error("an unknown side has a text")
	}
	text := b.store.List("").Edits[0].Hunks[0].Text
	if want := "-2\n-3\n+two\n+3\n\\ No newline at end of file\n"; text != want {
		t.Errorf("the hunk's text is %q, want %q", text, want)
	}
}

// stubborn is a base that refuses some files, as an editor may.
type stubborn struct {
	workspace.View
	refuse string
	before func(call int) // runs ahead of each call
	mu     sync.Mutex
	calls  int
}

var errRefused = errors.New("the editor says no")

func (v *stubborn) count() {
	v.mu.Lock()
	n := v.calls
	v.calls++
	v.mu.Unlock()
	if v.before != nil {
		v.before(n)
	}
}

func (v *stubborn) ReadFile(name string) ([]byte, error)  { v.count(); return v.View.ReadFile(name) }
func (v *stubborn) Stat(name string) (fs.FileInfo, error) { v.count(); return v.View.Stat(name) }

func (v *stubborn) Apply(ctx context.Context, changes ...workspace.Change) error {
	v.count()
	for _, c := range changes {
		if v.refuse != "" && c.Path == v.refuse {
			return errRefused
		}
	}
	return v.View.Apply(ctx, changes...)
}

func (b *bench) over(base workspace.View) {
	b.t.Helper()
	if err := b.store.Close(); err != nil {
		b.t.Fatal(err)
	}
	store, err := pendingedits.Open(b.state, base, b.opts)
	if err != nil {
		b.t.Fatal(err)
	}
	b.store = store
}

func TestRefusedByTheEditor(t *testing.T) {
	b := newBench(t, "a", "a\n", "b", "b\n", "c", "c\n")
	b.over(&stubborn{View: b.disk, refuse: "b"})
	for _, name := range []string{"a", "b", "c"} {
		b.edit(name, strings.ToUpper(name)+"\n")
	}
	res := b.accept(pendingedits.Selection{})
	if !cmp.Equal(res.Accepted, []string{"a", "c"}) || len(res.Failed) != 1 || res.Failed[0].Name != "b" || !errors.Is(res.Failed[0].Err, errRefused) {
		t.Errorf("accept: %+v", res)
	}
	b.want("a", "A\n", "A\n", "b", "b\n", "B\n", "c", "C\n", "C\n")
	b.wantPending("modify b clean +1-1 [1,1→1,1 clean]")
	if res := b.undo(); !cmp.Equal(res.Restored, []string{"a", "c"}) {
		t.Errorf("undo: %+v", res)
	}
	b.want("a", "a\n", "A\n", "b", "b\n", "B\n", "c", "c\n", "C\n")
}

// TestOutsideWriter writes the file at every moment at which the store looks
// at it, without a notice. What was written must never be lost.
func TestOutsideWriter(t *testing.T) {
	const users = "the user's line\n"
	tried, control := 0, 0
	for _, at := range []string{"far from the hunk", "on the hunk"} {
		for moment := 0; ; moment++ {
			b := newBench(t, "a", ten)
			path := filepath.Join(b.dir, "a")
			wrote := false
			base := &stubborn{View: b.disk}
			b.over(base)
			base.before = func(call int) {
				if call != moment {
					return
				}
				wrote = true
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				text = append([]byte(users), text...)
				if at == "on the hunk" {
					text = []byte(replace(string(text), users, "", "5\n", users, "five\n", users))
				}
				if err := ownfile.WriteFile(path, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			base.calls = 0
			// The agent may lose the race; then it reads again.
			for range 3 {
				before := b.seen("a")
				err := b.store.For(agent).Apply(context.Background(), workspace.Change{
					Path: "a", Before: []byte(before), After: []byte(replace(before, "5\n", "five\n"))})
				if err == nil {
					break
				}
				if !errors.Is(err, workspace.ErrConflict) {
					t.Fatal(err)
				}
			}
			_, err := b.store.Accept(context.Background(), pendingedits.Selection{})
			if err != nil && !errors.Is(err, workspace.ErrConflict) {
				t.Fatal(err)
			}
			if !wrote {
				break
			}
			tried++
			if !strings.Contains(b.onDisk("a"), users) {
				t.Errorf("%s, moment %d: the user's line is gone: %q", at, moment, b.onDisk("a"))
			}
			if err := ownfile.WriteFile(path, []byte(ten), 0o644); err != nil { // the careless way
				t.Fatal(err)
			}
			if !strings.Contains(b.onDisk("a"), users) {
				control++
			}
		}
	}
	t.Logf("%d tried, %d held; control lost %d", tried, tried, control)
	if tried < 10 || control != tried {
		t.Errorf("the check tried %d moments, and its control lost %d", tried, control)
	}
}

// TestChanged wants one call for changes that come together, and one more for
// what comes later.
func TestChanged(t *testing.T) {
	b := newBench(t, "a", ten)
	called, goOn := make(chan struct{}), make(chan struct{})
	b.observer.changed = func() { called <- struct{}{}; <-goOn }
	b.reopen()
	b.edit("a", replace(ten, "1\n", "one\n"))
	<-called
	for _, name := range []string{"b", "c", "d"} {
		b.edit(name, "new\n")
	}
	before := b.store.Revision()
	goOn <- struct{}{}
	<-called
	goOn <- struct{}{}
	b.write("a", "0\n"+ten)
	<-called
	goOn <- struct{}{}
	if b.store.Revision() <= before {
		t.Error("the revision is the same after the hunk moved")
	}
	select {
	case <-called:
		t.Error("called without a change")
	default:
	}
}

func TestConcurrentUse(t *testing.T) {
	b := newBench(t)
	b.observer.notify = nil
	b.reopen()
	ctx := context.Background()
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			view := b.store.For(pendingedits.Proposer{Session: name, Tool: "t"})
			for i, text := range []string{"1\n", "1\n2\n", "1\n2\n3\n"} {
				var before []byte
				if i > 0 {
					before, _ = view.ReadFile(name)
				}
				if err := view.Apply(ctx, workspace.Change{Path: name, Before: before, After: []byte(text)}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				b.store.List("")
				b.store.BaseChanged(name)
				if _, err := b.store.Accept(ctx, pendingedits.Selection{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.acceptAll()
	for _, name := range []string{"a", "b", "c", "d"} {
		b.want(name, "1\n2\n3\n", "1\n2\n3\n")
	}
}
