package pendingedits_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// by is a session that replaces a text in a file.
func (b *bench) by(session, name, search, replace string) {
	b.t.Helper()
	view := b.store.For(pendingedits.Proposer{Session: session, Tool: "edit_file"})
	before := text(view, name)
	if !strings.Contains(before, search) {
		b.t.Fatalf("%s has no %q: %q", name, search, before)
	}
	after := strings.Replace(before, search, replace, 1)
	if err := view.Apply(b.t.Context(), workspace.Change{Path: name, Before: []byte(before), After: []byte(after)}); err != nil {
		b.t.Fatal(err)
	}
}

// whose lists the hunks of a session's list, "" for all: line and sessions.
func (b *bench) whose(session string) (rows []string) {
	for _, e := range b.store.List(session).Edits {
		for _, h := range e.Hunks {
			rows = append(rows, fmt.Sprintf("%s:%d %s", e.Name, h.OldStart, strings.Join(h.Sessions, "+")))
		}
	}
	return rows
}

func (b *bench) wantWhose(what string, want ...string) {
	b.t.Helper()
	if d := cmp.Diff(want, b.whose("")); d != "" {
		b.t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (b *bench) wantTold(what string, want ...string) {
	b.t.Helper()
	if d := cmp.Diff(want, b.told); d != "" {
		b.t.Errorf("%s: told (-want +got):\n%s", what, d)
	}
	b.told = nil
}

// numbered has nine lines.
const numbered = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

// TestOwners: of two agents in one file each has its own hunks, and hears of
// its own.
func TestOwners(t *testing.T) {
	b := newBench(t, "a", numbered, "b", numbered)
	b.by("A", "a", "2\n", "A2\n")
	b.by("B", "a", "8\n", "B8\n")
	b.by("B", "b", "5\n", "B5\n")
	b.wantWhose("edited", "a:2 A", "a:8 B", "b:5 B")
	if got := b.whose("A"); !slices.Equal(got, []string{"a:2 A"}) {
		t.Errorf("of A: %v", got)
	}
	if list := b.store.List("A").Edits; list[0].Added != 1 || list[0].Session != "B" {
		t.Errorf("of A: %+v", list)
	}
	b.reopen()
	b.wantWhose("reopened", "a:2 A", "a:8 B", "b:5 B")

	hunks := b.store.List("").Edits[0].Hunks
	if _, err := b.store.Reject(t.Context(), pendingedits.Selection{Hunks: []string{hunks[0].ID}}, "keep it"); err != nil {
		t.Fatal(err)
	}
	b.wantTold("a hunk of A is rejected", "A: The user rejected your edit of a (line 2): keep it")
	b.wantWhose("rejected", "a:8 B", "b:5 B")

	b.by("A", "a", "2\n", "A2\n")
	b.by("A", "a", "4\n5\n", "A4\n")
	res := b.accept(pendingedits.Selection{Session: "B"})
	if !slices.Equal(res.Accepted, []string{"a", "b"}) || !strings.Contains(b.onDisk("a"), "B8") || strings.Contains(b.onDisk("a"), "A2") {
		t.Errorf("accepted %+v: %q", res, b.onDisk("a"))
	}
	b.wantTold("all of B is accepted", "B: The user accepted your edit of a (line 8).", "B: The user accepted your edit of b (line 5).")
	b.wantWhose("accepted", "a:2 A", "a:4 A")
	if s := b.store.List("").Edits[0].Session; s != "A" {
		t.Errorf("what is left is said to be of %s", s)
	}

	b.undo()
	b.wantTold("taken back", "B: The user took back accepting b; it is pending again.", "B: The user took back accepting a; it is pending again.")
	b.wantWhose("taken back", "a:2 A", "a:4 A", "a:8 B", "b:5 B")

	hunks = b.store.List("").Edits[0].Hunks
	b.accept(pendingedits.Selection{Names: []string{"a"}, Hunks: nil, Session: "A"})
	b.wantTold("those of A in one file", "A: The user accepted your edit of a (line 2, lines 4–5).")
	res = b.accept(pendingedits.Selection{Hunks: []string{hunks[2].ID}, Session: "A"})
	if len(res.Accepted) != 0 || len(res.Failed) != 1 || !strings.Contains(res.Failed[0].Err.Error(), "not of session A") {
		t.Errorf("a hunk of another session: %+v", res)
	}
	res = b.accept(pendingedits.Selection{Names: []string{"b"}, Session: "A"})
	if len(res.Accepted) != 0 || len(res.Failed) != 1 {
		t.Errorf("a file of another session: %+v", res)
	}
}

// TestWhichHunk: what an agent is told says which hunk was meant, also when it
// was the last one.
func TestWhichHunk(t *testing.T) {
	b := newBench(t, "a", numbered)
	b.by("A", "a", "2\n", "A2\n")
	b.by("A", "a", "6\n", "A6\n")
	for _, want := range []string{
		"A: The user rejected 1 of 2 hunks in a (line 6): no",
		"A: The user rejected your edit of a (line 2): no",
	} {
		hunks := b.store.List("").Edits[0].Hunks
		if _, err := b.store.Reject(t.Context(), pendingedits.Selection{Hunks: []string{hunks[len(hunks)-1].ID}}, "no"); err != nil {
			t.Fatal(err)
		}
		b.wantTold("rejected", want)
	}
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "%d\n", i)
	}
	b.write("b", long.String())
	for i := range 20 {
		b.by("A", "b", fmt.Sprintf("\n%d\n", 2*i+1), fmt.Sprintf("\nA%d\n", 2*i+1))
	}
	b.acceptAll()
	if len(b.told) != 1 || !strings.HasSuffix(b.told[0], "line 20, and 10 more).") {
		t.Errorf("of many: %q", b.told)
	}
}

// TestSharedHunks: a hunk in which an agent edits over what another one has
// proposed is both's, until it is decided.
func TestSharedHunks(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(b *bench)
		whose string
	}{
		"the same line":      {func(b *bench) { b.by("B", "a", "A5\n", "B5\n") }, "a:5 A+B"},
		"the line beside it": {func(b *bench) { b.by("B", "a", "6\n", "B6\n") }, "a:5 A+B"},
		"a line before it":   {func(b *bench) { b.by("B", "a", "A5\n", "B4.5\nA5\n") }, "a:5 A+B"},
		"elsewhere":          {func(b *bench) { b.by("B", "a", "9\n", "B9\n") }, "a:5 A, a:9 B"},
		"lines above":        {func(b *bench) { b.by("B", "a", "1\n", "B0\nB1\nB2\n") }, "a:1 B, a:5 A"},
		"taken out":          {func(b *bench) { b.by("B", "a", "A5\n", "5\n") }, ""},
		"the user's text": {func(b *bench) {
			b.must(b.store.Propose(b.t.Context(), "a", []byte(strings.Replace(b.seen("a"), "A5", "U5", 1))))
		}, "a:5 A"},
		"the user's line": {func(b *bench) { b.must(b.store.Propose(b.t.Context(), "a", []byte("0\n"+b.seen("a")))) }, "a:0 A, a:5 A"},
		"deleted": {func(b *bench) {
			b.must(b.store.For(pendingedits.Proposer{Session: "B"}).Apply(b.t.Context(), workspace.Change{Path: "a", Before: []byte(b.seen("a"))}))
		}, "a:1 A+B"},
		"moved": {func(b *bench) {
			now := []byte(b.seen("a"))
			b.must(b.store.For(pendingedits.Proposer{Session: "B"}).Apply(b.t.Context(), workspace.Change{Path: "c", From: "a", Before: now, After: now}))
		}, "c:1 A+B"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "a", numbered)
			b.by("A", "a", "5\n", "A5\n")
			c.edit(b)
			b.told = nil
			if got := strings.Join(b.whose(""), ", "); got != c.whose {
				t.Fatalf("%s, want %s", got, c.whose)
			}
			b.reopen()
			if got := strings.Join(b.whose(""), ", "); got != c.whose {
				t.Errorf("reopened: %s", got)
			}
			b.acceptAll()
			var told []string
			for _, text := range b.told {
				told = append(told, text[:1])
			}
			slices.Sort(told)
			var want []string
			for _, s := range []string{"A", "B"} {
				if strings.Contains(c.whose, s) {
					want = append(want, s)
				}
			}
			if !slices.Equal(told, want) {
				t.Errorf("told: %q", b.told)
			}
			// Taken back, made again and taken back once more, also with lines of
			// the user before: it is whose it was.
			b.undo()
			b.reopen()
			b.undo()
			b.reopen()
			b.undo()
			if got := strings.Join(b.whose(""), ", "); got != c.whose {
				t.Errorf("taken back: %s", got)
			}
		})
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestOwnersFollowTheText: what is taken back after the user wrote lines above
// it is whose it was.
func TestOwnersFollowTheText(t *testing.T) {
	b := newBench(t, "a", numbered)
	b.by("A", "a", "3\n", "A3\n")
	b.by("B", "a", "7\n", "B7\n")
	b.acceptAll()
	b.write("a", "x\ny\nz\nx\ny\nz\n"+b.onDisk("a"))
	b.undo()
	b.wantWhose("taken back", "a:9 A", "a:13 B")
}

// TestOwnersOfConflicts: who decides a conflict by another edit has a part in
// what was in it.
func TestOwnersOfConflicts(t *testing.T) {
	b := newBench(t, "a", numbered)
	b.by("A", "a", "5\n", "A5\n")
	b.by("B", "a", "9\n", "B9\n")
	b.write("a", strings.Replace(numbered, "5\n", "user\n", 1))
	b.wantWhose("in conflict", "a:5 A", "a:9 B")
	b.by("B", "a", "user\n", "B5\n")
	b.wantWhose("decided", "a:5 A+B", "a:9 B")
}

// TestLogFromBeforeOwners: a log that does not say whose a hunk is gives all of
// a file to the last who edited it, as it was.
func TestLogFromBeforeOwners(t *testing.T) {
	data, err := os.ReadFile("testdata/before-owners.log")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, "a", numbered, "b", "two\n")
	b.must(errors.Join(b.store.Close(), ownfile.MkdirAll(b.state, 0o700), ownfile.WriteFile(filepath.Join(b.state, "pending.log"), data, 0o600)))
	b.open()
	b.wantWhose("old", "a:2 B", "a:8 B", "new:0 A")
	b.by("A", "a", "5\n", "A5\n")
	b.reopen()
	b.wantWhose("and new", "a:2 B", "a:5 A", "a:8 B", "new:0 A")
	b.undo()
	b.wantWhose("taken back", "a:2 B", "a:5 A", "a:8 B", "b:1 A", "new:0 A")
}

// TestBatchOfOthers: a batch can't contain a file in which another session has
// a hunk, whoever was the last.
func TestBatchOfOthers(t *testing.T) {
	b := newBench(t, "a", numbered)
	b.by("A", "a", "2\n", "A2\n")
	b.by("B", "a", "8\n", "B8\n")
	now := b.seen("a")
	err := b.store.For(pendingedits.Proposer{Session: "B", Batch: true}).Apply(t.Context(), workspace.Change{Path: "a", Before: []byte(now), After: []byte("B\n")})
	if !errors.Is(err, workspace.ErrConflict) || !strings.Contains(err.Error(), "session A") {
		t.Errorf("%v", err)
	}
}
