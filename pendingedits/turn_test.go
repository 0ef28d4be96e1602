package pendingedits_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// do is an agent changing files without review.
func (b *bench) do(changes ...workspace.Change) {
	b.t.Helper()
	if err := b.store.Recorded(pendingedits.Proposer{Session: "s", Tool: "edit_file"}, b.disk).Apply(context.Background(), changes...); err != nil {
		b.t.Fatal(err)
	}
}

// set is an agent giving a file a text without review.
func (b *bench) set(name, after string) {
	b.t.Helper()
	b.do(workspace.Change{Path: name, Before: bytesOf(b.onDisk(name)), After: bytesOf(after)})
}

func (b *bench) turned(res pendingedits.UndoResult, err error) string {
	b.t.Helper()
	if err != nil {
		return "error: " + err.Error()
	}
	said := res.What + " " + strings.Join(res.Restored, ",")
	for _, f := range res.Failed {
		said += " failed " + f.Name
	}
	return said
}

func (b *bench) undoTo(id string) string {
	return b.turned(b.store.UndoTo(context.Background(), id))
}

func (b *bench) redoTo(id string) string {
	return b.turned(b.store.RedoTo(context.Background(), id))
}

func (b *bench) wantSaid(got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%q, want %q", got, want)
	}
}

func (b *bench) wantDisk(rows ...string) {
	b.t.Helper()
	for i := 0; i < len(rows); i += 2 {
		if got := b.onDisk(rows[i]); got != rows[i+1] {
			b.t.Errorf("%s: %q, want %q", rows[i], got, rows[i+1])
		}
	}
}

// past is the history in short.
func (b *bench) past() (out []string) {
	for _, p := range b.store.History("", 0) {
		line := p.What
		for _, f := range p.Files {
			line += " " + f.Kind + ":" + f.Path
		}
		if !p.Undoable {
			line += " no"
		}
		if p.Undoable != (p.Why == "") || p.At.IsZero() || p.Session != "s" || p.ID == "" {
			b.t.Errorf("%+v", p)
		}
		out = append(out, line)
	}
	return out
}

func (b *bench) wantPast(want ...string) {
	b.t.Helper()
	if d := cmp.Diff(want, b.past()); d != "" {
		b.t.Errorf("history -want +got:\n%s", d)
	}
}

// TestUndoApplied takes back every kind of change that was made without review,
// makes it again, and takes it back after a restart.
func TestUndoApplied(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Skip(t, needs.FileModes, "files have no modes here")
	}
	b := newBench(t, "a", "one\n", "gone", "bye\n", "old", "text\n", "run", "#!\n")
	if err := ownfile.Chmod(filepath.Join(b.dir, "gone"), 0o755); err != nil {
		t.Fatal(err)
	}
	exec := func(name string) bool {
		info, err := os.Stat(filepath.Join(b.dir, name))
		return err == nil && workspace.IsExec(info.Mode())
	}
	was := func() {
		t.Helper()
		b.wantDisk("a", "one\n", "gone", "bye\n", "old", "text\n", "moved", absent, "dir/new", absent)
		if !exec("gone") || exec("run") {
			t.Errorf("modes: gone %v, run %v", exec("gone"), exec("run"))
		}
		b.wantPending()
	}
	is := func() {
		t.Helper()
		b.wantDisk("a", "ONE\n", "gone", absent, "old", absent, "moved", "TEXT\n", "dir/new", "hello\n")
		if !exec("run") {
			t.Error("run is not executable")
		}
	}
	b.do(
		workspace.Change{Path: "a", Before: []byte("one\n"), After: []byte("ONE\n")},
		workspace.Change{Path: "gone", Before: []byte("bye\n")},
		workspace.Change{Path: "moved", From: "old", Before: []byte("text\n"), After: []byte("TEXT\n")},
		workspace.Change{Path: "dir/new", After: []byte("hello\n")},
		workspace.Change{Path: "run", Before: []byte("#!\n"), After: []byte("#!\n"), Mode: 0o755},
	)
	is()
	b.wantPast("apply modify:a delete:gone rename:moved create:dir/new modify:run")
	b.wantSaid(b.undoTo(""), "undo a,dir/new,gone,old,run")
	was()
	if len(b.told) != 5 || !strings.Contains(b.told[0], "took back your edit of") {
		t.Errorf("told %q", b.told)
	}
	b.wantSaid(b.undoTo(""), "undo ")
	b.wantSaid(b.redoTo(""), "redo a,dir/new,gone,moved,run")
	is()
	b.reopen()
	is()
	b.wantSaid(b.undoTo(""), "undo a,dir/new,gone,old,run")
	was()
	b.reopen()
	b.wantSaid(b.redoTo(""), "redo a,dir/new,gone,moved,run")
	is()
}

// TestUndoOrder: undo goes back from the newest, redo forward again, and to says
// how far.
func TestUndoOrder(t *testing.T) {
	b := newBench(t, "a", "0\n")
	for _, text := range []string{"1\n", "2\n", "3\n"} {
		b.set("a", text)
	}
	b.wantSaid(b.undoTo(""), "undo a")
	b.wantDisk("a", "2\n")
	b.wantSaid(b.undoTo(""), "undo a")
	b.wantDisk("a", "1\n")
	b.wantSaid(b.redoTo(""), "redo a")
	b.wantDisk("a", "2\n")
	b.wantPast("undo modify:a no", "redo modify:a", "apply modify:a")
	list := b.store.History("", 0)
	b.reopen()
	b.wantSaid(b.redoTo(""), "redo a")
	b.wantDisk("a", "3\n")
	b.wantSaid(b.undoTo(list[2].ID), "undo a")
	b.wantDisk("a", "0\n")
	b.wantSaid(b.redoTo(list[0].ID), "redo a")
	b.wantDisk("a", "3\n")
	for _, id := range []string{"u1", "nonsense"} {
		if _, err := b.store.UndoTo(context.Background(), id); !errors.Is(err, pendingedits.ErrNoItem) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := b.store.RedoTo(context.Background(), list[0].ID); !errors.Is(err, pendingedits.ErrNoItem) {
		t.Errorf("redo of what is not taken back: %v", err)
	}
	if got := b.store.History("", 2); len(got) != 2 || got[0].ID != list[0].ID {
		t.Errorf("limit: %+v", got)
	}
	if got := b.store.History("other", 0); len(got) != 0 {
		t.Errorf("of another session: %+v", got)
	}
}

// TestUndoOfBoth: accepts and edits without review are one history; a plain undo
// right after an accept was taken back accepts again.
func TestUndoOfBoth(t *testing.T) {
	b := newBench(t, "a", "a\n", "b", "b\n")
	b.edit("a", "A\n")
	b.acceptAll()
	b.set("b", "B\n")
	b.wantPast("apply modify:b", "accept modify:a")
	b.wantSaid(b.undoTo(""), "undo b")
	b.wantSaid(b.undoTo(""), "undo a")
	b.wantPending("modify a clean +1-1 [1,1→1,1 clean]")
	b.wantSaid(b.undoTo(""), "redo a")
	b.wantPending()
	b.wantSaid(b.redoTo(""), "redo b")
	b.want("a", "A\n", "A\n", "b", "B\n", "B\n")
	id := b.store.History("", 0)[1].ID
	b.wantSaid(b.undoTo(id), "undo a,b")
	b.want("a", "a\n", "A\n", "b", "b\n", "b\n")
}

// TestUndoConflict: a file that was changed since stays as it is, what was
// written elsewhere in it stays too.
func TestUndoConflict(t *testing.T) {
	b := newBench(t, "a", ten, "b", "b\n")
	b.do(
		workspace.Change{Path: "a", Before: []byte(ten), After: []byte(replace(ten, "2\n", "two\n"))},
		workspace.Change{Path: "b", Before: []byte("b\n"), After: []byte("B\n")},
	)
	b.write("a", replace(ten, "2\n", "two\n", "8\n", "user\n"))
	b.write("b", "user\n")
	res := b.undo()
	b.wantSaid(b.turned(res, nil), "undo a failed b")
	if len(res.Failed) != 1 || !errors.Is(res.Failed[0].Err, workspace.ErrConflict) {
		t.Errorf("%+v", res.Failed)
	}
	b.wantDisk("a", replace(ten, "8\n", "user\n"), "b", "user\n")
	b.wantPast("undo modify:a no", "apply modify:b no")
	b.wantSaid(b.undoTo(""), "undo  failed b")
	b.write("b", "B\n")
	b.wantSaid(b.undoTo(""), "undo b")
	b.wantDisk("b", "b\n")
}

type limits struct {
	bytes int64
	age   time.Duration
}

func (l limits) UndoLimits() (int64, time.Duration) { return l.bytes, l.age }

// TestUndoBounds: what is too large or too old can't be undone; what is not, can.
func TestUndoBounds(t *testing.T) {
	now := time.Now()
	b := newBench(t, "a", "a\n", "b", "b\n")
	b.opts.Undo = limits{20_000, 24 * time.Hour}
	b.opts.Now = func() time.Time { return now }
	b.reopen()
	b.set("a", "A\n")
	b.set("b", strings.Repeat("x", 6000)) // too large alone
	b.wantPast("apply modify:a")
	for _, name := range []string{"c", "d", "e", "f"} {
		b.do(workspace.Change{Path: name, After: bytes.Repeat([]byte("c"), 4500)})
	}
	b.wantPast("apply create:f", "apply create:e", "apply create:d", "apply create:c", "apply modify:a")
	b.do(workspace.Change{Path: "g", After: bytes.Repeat([]byte("c"), 4500)})
	b.wantPast("apply create:g", "apply create:f", "apply create:e", "apply create:d")
	now = now.Add(20 * time.Hour)
	b.set("a", "AA\n")
	now = now.Add(20 * time.Hour)
	b.wantPast("apply modify:a")
	b.reopen()
	b.wantPast("apply modify:a")
	b.wantSaid(b.undoTo(""), "undo a")
	b.wantDisk("a", "A\n", "b", strings.Repeat("x", 6000), "d", strings.Repeat("c", 4500))
}

// TestUndoInterrupted: whether a change was made before a crash is seen in the
// files.
func TestUndoInterrupted(t *testing.T) {
	for _, c := range []struct {
		point string
		past  []string // after the restart
		text  string
	}{
		{"", []string{"apply modify:a"}, "A\n"},
		{"apply.intent.write", nil, "A\n"},
		{"apply.apply", nil, "a\n"},
		{"apply.applied", []string{"apply modify:a"}, "A\n"},
		{"apply.write", []string{"apply modify:a"}, "A\n"},
	} {
		b := newBench(t, "a", "a\n", "b", "b\n")
		var dead atomic.Bool // a record is synced beside the test
		b.opts.Fail = func(point string) error {
			if c.point != "" && point == c.point {
				dead.Store(true)
			}
			if dead.Load() {
				return errors.New("dead")
			}
			return nil
		}
		b.reopen()
		err := b.store.Recorded(agent, b.disk).Apply(context.Background(), workspace.Change{Path: "a", Before: []byte("a\n"), After: []byte("A\n")})
		if (err != nil) != (c.text == "a\n") {
			t.Errorf("%s: %v", c.point, err)
		}
		if dead.Load() != (c.point != "") {
			t.Errorf("%s was not reached", c.point)
		}
		dead.Store(false)
		b.opts.Fail = nil
		b.reopen()
		b.wantDisk("a", c.text)
		b.wantPast(c.past...)
		if c.past != nil {
			b.wantSaid(b.undoTo(""), "undo a")
			b.wantDisk("a", "a\n")
		}
	}
}

// TestNotMade: what could not be applied is not in the history.
func TestNotMade(t *testing.T) {
	b := newBench(t, "a", "a\n")
	err := b.store.Recorded(agent, b.disk).Apply(context.Background(), workspace.Change{Path: "a", Before: []byte("other\n"), After: []byte("A\n")})
	if !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("%v", err)
	}
	b.wantPast()
	b.set("a", "A\n")
	b.wantPast("apply modify:a")
}

// TestWithoutLog: where the log can't be had, edits are made all the same, and
// nobody is told.
func TestWithoutLog(t *testing.T) {
	b := newBench(t, "a", "a\n")
	b.opts.Prepare = func() error { return errors.New("read-only") }
	b.reopen()
	b.set("a", "A\n")
	b.wantDisk("a", "A\n")
	b.wantPast()
	if _, err := os.Stat(b.state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of the log: %v", err)
	}
}

// TestUndoBesideOthers: edits of several sessions at once are all in the history,
// and all go back.
func TestUndoBesideOthers(t *testing.T) {
	b := newBench(t)
	names := []string{"a", "b", "c", "d", "e", "f"}
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			err := b.store.Recorded(pendingedits.Proposer{Session: name, Tool: "write_file"}, b.disk).Apply(context.Background(), workspace.Change{Path: name, After: []byte(name)})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list := b.store.History("", 0)
	if len(list) != len(names) || len(b.store.History("c", 0)) != 1 {
		t.Fatalf("%+v", list)
	}
	b.wantSaid(b.undoTo(list[len(list)-1].ID), "undo a,b,c,d,e,f")
	for _, name := range names {
		b.wantDisk(name, absent)
	}
	if len(b.told) != len(names) {
		t.Errorf("told %q", b.told)
	}
}

// TestUndoIsTheLast: one that can't be taken back, or made again, stays, and says why and
// what to do; nothing older is taken in its place.
func TestUndoIsTheLast(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(b *bench, name, after string)
	}{
		{"accepted", func(b *bench, name, after string) {
			b.apply(workspace.Change{Path: name, Before: bytesOf(b.onDisk(name)), After: bytesOf(after)})
			b.acceptAll()
		}},
		{"applied", (*bench).set},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, "a", "one\n", "gone", "bye\n")
			says := func(res pendingedits.UndoResult, err error) {
				t.Helper()
				if err != nil || len(res.Restored) > 0 || len(res.Failed) != 1 || res.Failed[0].Name != "a" || !errors.Is(res.Failed[0].Err, workspace.ErrConflict) {
					t.Fatalf("%+v %v", res, err)
				}
				for _, part := range []string{"changed since", "try again", "older entry"} {
					if !strings.Contains(res.Failed[0].Err.Error(), part) {
						t.Errorf("%q does not say %q", res.Failed[0].Err, part)
					}
				}
			}
			c.make(b, "new", "n\n")
			c.make(b, "a", "two\n")
			b.write("a", "the user's\n")
			says(b.store.Undo(t.Context()))
			b.reopen()
			says(b.store.Undo(t.Context()))
			b.wantDisk("new", "n\n", "a", "the user's\n")
			b.write("a", "two\n")
			b.wantSaid(b.undoTo(""), "undo a")
			res, err := b.store.UndoTo(t.Context(), b.store.History("", 0)[1].ID)
			if err != nil || strings.Join(res.Deleted, ",") != "new" || strings.Join(res.Restored, ",") != "new" {
				t.Errorf("%+v %v", res, err)
			}
			// The last that was taken back is made again first.
			b.write("new", "the user's\n")
			if res, err := b.store.RedoTo(t.Context(), ""); err != nil || len(res.Restored) > 0 || len(res.Failed) != 1 || res.Failed[0].Name != "new" {
				t.Errorf("redo: %+v %v", res, err)
			}
			b.wantDisk("new", "the user's\n", "a", "one\n")
		})
	}
}
