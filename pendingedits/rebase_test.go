package pendingedits_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestUserTypes has the user change a file under a proposal.
func TestUserTypes(t *testing.T) {
	proposal := replace(ten, "3\n", "three\n", "8\n", "8\n8½\n")
	const (
		three = "[3,1→3,1 clean]"
		eight = "[8,0→9,1 clean]"
	)
	for _, c := range []struct {
		name    string
		live    string
		pending []string
		seen    string
	}{
		{"nowhere", ten, []string{"modify a clean +2-1 " + three + " " + eight}, proposal},
		{"above", "0\n" + ten, []string{"modify a moved +2-1 [4,1→4,1 moved] [9,0→10,1 moved]"}, "0\n" + proposal},
		{"between", replace(ten, "5\n", ""), []string{"modify a moved +2-1 [3,1→3,1 clean] [7,0→8,1 moved]"}, replace(proposal, "5\n", "")},
		{"below", ten + "11\n", []string{"modify a clean +2-1 " + three + " " + eight}, proposal + "11\n"},
		{"beside", replace(ten, "2\n", "two\n", "4\n", "four\n"), []string{"modify a clean +2-1 " + three + " " + eight}, replace(proposal, "2\n", "two\n", "4\n", "four\n")},
		{"inserted just above", replace(ten, "3\n", "2½\n3\n"), []string{"modify a moved +2-1 [4,1→4,1 moved] [9,0→10,1 moved]"}, replace(proposal, "three\n", "2½\nthree\n")},
		{"the line itself", replace(ten, "3\n", "drei\n"), []string{"modify a conflict +2-1 [3,1→3,1 conflict] [8,0→9,1 clean]"}, replace(ten, "3\n", "drei\n", "8\n", "8\n8½\n")},
		{"the line and more above", "0\n" + replace(ten, "3\n", "drei\n"), []string{"modify a conflict +2-1 [4,1→4,1 conflict] [9,0→10,1 moved]"}, "0\n" + replace(ten, "3\n", "drei\n", "8\n", "8\n8½\n")},
		{"the line deleted", replace(ten, "3\n", ""), []string{"modify a conflict +2-1 [3,1→3,1 conflict] [7,0→8,1 moved]"}, replace(ten, "3\n", "", "8\n", "8\n8½\n")},
		{"inserted in the same place", replace(ten, "8\n", "8\n8¼\n"), []string{"modify a moved +2-1 [3,1→3,1 clean] [9,0→10,1 moved]"}, replace(proposal, "8½\n", "8¼\n8½\n")},
		{"around an insertion", replace(ten, "8\n9\n", "acht\nneun\n"), []string{"modify a conflict +2-1 [3,1→3,1 clean] [7,0→8,1 conflict]"}, replace(ten, "3\n", "three\n", "8\n9\n", "acht\nneun\n")},
		{"one hunk by hand", replace(ten, "3\n", "three\n"), []string{"modify a clean +1-0 [8,0→9,1 clean]"}, proposal},
		{"all by hand", proposal, nil, proposal},
		{"emptied", "", []string{"modify a conflict +2-1 [1,1→1,1 conflict] [0,0→1,1 conflict]"}, ""},
		{"everything another", "x\ny", []string{"modify a conflict +2-1 [1,1→1,1 conflict] [0,0→1,1 conflict]"}, "x\ny"},
		{"binary now", "\x00", []string{"modify a conflict +2-1 [1,1→1,1 conflict] [0,0→1,1 conflict]"}, "\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, "a", ten)
			b.edit("a", proposal)
			ids := b.ids("a")
			for range 2 {
				b.write("a", c.live)
				b.wantPending(c.pending...)
				b.want("a", c.live, c.seen)
				b.reopen()
				b.wantPending(c.pending...)
			}
			if len(b.ids("a")) == 2 {
				if d := cmp.Diff(ids, b.ids("a")); d != "" {
					t.Errorf("ids (-before +after):\n%s", d)
				}
				// As it was: the proposal is as it was, also after a conflict.
				b.write("a", ten)
				b.wantPending("modify a clean +2-1 " + three + " " + eight)
				if d := cmp.Diff(ids, b.ids("a")); d != "" {
					t.Errorf("ids (-before +after):\n%s", d)
				}
				b.write("a", c.live)
			}
			res := b.accept(pendingedits.Selection{})
			if strings.Contains(strings.Join(c.pending, ""), "conflict") {
				if len(res.Failed) != 1 || !errors.Is(res.Failed[0].Err, workspace.ErrConflict) {
					t.Errorf("accept: %+v, want a conflict", res)
				}
				b.want("a", c.live, c.seen)
				b.wantPending(c.pending...)
			} else {
				b.want("a", c.seen, c.seen)
				b.wantPending()
			}
		})
	}
}

// TestWholeFiles has the user change a file that is to be made, deleted, moved
// or replaced.
func TestWholeFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   []string
		propose func(*bench)
		user    func(*bench)
		pending []string
		want    []string // name, on disk, seen
		back    func(*bench)
	}{
		{
			"made by the user too, another", nil,
			func(b *bench) { b.edit("a", "agent\n") },
			func(b *bench) { b.write("a", "user\n") },
			[]string{"create a conflict +1-0 [0,0→1,1 conflict]"}, []string{"a", "user\n", "user\n"},
			func(b *bench) { b.remove("a") },
		},
		{
			"made by the user too, the same", nil,
			func(b *bench) { b.edit("a", "same\n") },
			func(b *bench) { b.write("a", "same\n") },
			nil, []string{"a", "same\n", "same\n"}, nil,
		},
		{
			"deleted by the user too", []string{"a", "a\n"},
			func(b *bench) { b.edit("a", absent) },
			func(b *bench) { b.remove("a") },
			nil, []string{"a", absent, absent}, nil,
		},
		{
			"changed before it is deleted", []string{"a", "a\n"},
			func(b *bench) { b.edit("a", absent) },
			func(b *bench) { b.write("a", "b\n") },
			[]string{"delete a conflict +0-1 [1,1→0,0 conflict]"}, []string{"a", "b\n", "b\n"},
			func(b *bench) { b.write("a", "a\n") },
		},
		{
			"binary changed", []string{"a", "\x00a"},
			func(b *bench) { b.edit("a", "\x00b") },
			func(b *bench) { b.write("a", "\x00c") },
			[]string{"modify a conflict +0-0 [0,0→0,0 conflict]"}, []string{"a", "\x00c", "\x00c"},
			func(b *bench) { b.write("a", "\x00a") },
		},
		{
			"text deleted", []string{"a", "a\n"},
			func(b *bench) { b.edit("a", "b\n") },
			func(b *bench) { b.remove("a") },
			[]string{"modify a conflict +1-1 [1,1→1,1 conflict]"}, []string{"a", absent, absent},
			func(b *bench) { b.write("a", "a\n") },
		},
		{
			"changed before it is moved", []string{"a", ten},
			func(b *bench) { b.move("a", "b") },
			func(b *bench) { b.write("a", replace(ten, "5", "five")) },
			[]string{"rename a→b moved +0-0 [1,10→1,10 moved]"},
			[]string{"a", replace(ten, "5", "five"), absent, "b", absent, replace(ten, "5", "five")},
			func(b *bench) { b.write("a", ten) },
		},
		{
			"the new name is taken", []string{"a", ten},
			func(b *bench) { b.move("a", "b") },
			func(b *bench) { b.write("b", "user\n") },
			[]string{"rename a→b conflict +0-0 [1,10→1,10 conflict]"},
			[]string{"a", ten, ten, "b", "user\n", "user\n"},
			func(b *bench) { b.remove("b") },
		},
		{
			"moved by the user too", []string{"a", ten},
			func(b *bench) { b.move("a", "b") },
			func(b *bench) { b.write("b", ten); b.remove("a") },
			nil, []string{"a", absent, absent, "b", ten, ten}, nil,
		},
		{
			"no line end, and something to follow", []string{"a", ""},
			func(b *bench) { b.edit("a", "agent") },
			func(b *bench) { b.write("a", "user") },
			[]string{"modify a conflict +1-0 [1,0→2,1 conflict]"}, []string{"a", "user", "user"},
			func(b *bench) { b.write("a", "") },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.files...)
			c.propose(b)
			before := b.pending()
			c.user(b)
			b.wantPending(c.pending...)
			b.want(c.want...)
			b.reopen()
			b.wantPending(c.pending...)
			if c.back == nil {
				return
			}
			if strings.Contains(c.pending[0], "conflict") {
				if res := b.accept(pendingedits.Selection{}); len(res.Failed) != 1 || !errors.Is(res.Failed[0].Err, workspace.ErrConflict) {
					t.Errorf("accept: %+v, want a conflict", res)
				}
				b.want(c.want...)
			}
			c.back(b)
			b.wantPending(before...)
			b.acceptAll()
		})
	}
}

// TestAgentAfterConflict has the agent go on in a file with a conflict.
func TestAgentAfterConflict(t *testing.T) {
	b := newBench(t, "a", ten)
	b.edit("a", replace(ten, "3\n", "three\n", "8\n", "eight\n"))
	b.write("a", replace(ten, "3\n", "drei\n"))
	conflict := b.ids("a")[0]
	b.edit("a", replace(b.seen("a"), "1\n", "1\n1½\n", "10\n", "ten\n"))
	b.wantPending("modify a conflict +4-3 [1,0→2,1 clean] [3,1→4,1 conflict] [8,1→9,1 clean] [10,1→11,1 clean]")
	if got := b.ids("a")[1]; got != conflict {
		t.Errorf("the conflict's id is %s, was %s", got, conflict)
	}
	b.reopen()
	b.write("a", ten)
	b.wantPending("modify a clean +4-3 [1,0→2,1 clean] [3,1→4,1 clean] [8,1→9,1 clean] [10,1→11,1 clean]")
	b.write("a", replace(ten, "3\n", "drei\n"))

	// What the agent makes of the user's line replaces the conflict.
	b.edit("a", replace(b.seen("a"), "drei\n", "trois\n"))
	b.wantPending("modify a clean +4-3 [1,0→2,1 clean] [3,1→4,1 clean] [8,1→9,1 clean] [10,1→11,1 clean]")
	b.acceptAll()
	b.want("a", replace(ten, "1\n", "1\n1½\n", "3\n", "trois\n", "8\n", "eight\n", "10\n", "ten\n"),
		replace(ten, "1\n", "1\n1½\n", "3\n", "trois\n", "8\n", "eight\n", "10\n", "ten\n"))
}

// TestUndoAfterTyping takes back an accept after which the user went on.
func TestUndoAfterTyping(t *testing.T) {
	b := newBench(t, "a", ten, "c", "c\n")
	b.edit("a", replace(ten, "3\n", "three\n"))
	b.edit("b", "b\n")
	b.edit("c", absent)
	b.acceptAll()
	b.write("a", "0\n"+b.onDisk("a"))
	b.write("b", "b, and more\n")
	b.write("c", "another\n")
	res := b.undo()
	if d := cmp.Diff([]string{"a"}, res.Restored); d != "" {
		t.Errorf("restored (-want +got):\n%s", d)
	}
	if len(res.Failed) != 2 || !errors.Is(res.Failed[0].Err, workspace.ErrConflict) || !errors.Is(res.Failed[1].Err, workspace.ErrConflict) {
		t.Errorf("failed: %v", res.Failed)
	}
	b.want("a", "0\n"+ten, "0\n"+replace(ten, "3\n", "three\n"), "b", "b, and more\n", "b, and more\n", "c", "another\n", "another\n")
	b.wantPending("modify a clean +1-1 [4,1→4,1 clean]")
	b.undo()
	b.want("a", "0\n"+replace(ten, "3\n", "three\n"), "0\n"+replace(ten, "3\n", "three\n"))
	b.wantPending()
}

// TestRefused are changes that the view must not take.
func TestRefused(t *testing.T) {
	b := newBench(t, "a", "a\n", "d/f", "f\n")
	b.edit("pending", "p\n")
	b.edit("q/r", "r\n")
	before := b.pending()
	for _, c := range []struct {
		name   string
		change workspace.Change
		want   error
	}{
		{"stale text", workspace.Change{Path: "a", Before: []byte("old\n"), After: []byte("b\n")}, workspace.ErrConflict},
		{"made where a file is", workspace.Change{Path: "a", After: []byte("b\n")}, workspace.ErrConflict},
		{"made where a file is pending", workspace.Change{Path: "pending", After: []byte("b\n")}, workspace.ErrConflict},
		{"changed where no file is", workspace.Change{Path: "x", Before: []byte("a\n"), After: []byte("b\n")}, workspace.ErrConflict},
		{"moved onto a file", workspace.Change{Path: "d/f", From: "a", Before: []byte("a\n"), After: []byte("a\n")}, workspace.ErrConflict},
		{"below a file", workspace.Change{Path: "a/b", After: []byte("b\n")}, nil},
		{"below a pending file", workspace.Change{Path: "pending/b", After: []byte("b\n")}, fs.ErrExist},
		{"where a directory is", workspace.Change{Path: "d", After: []byte("b\n")}, nil},
		{"where a pending directory is", workspace.Change{Path: "q", After: []byte("b\n")}, fs.ErrExist},
		{"outside", workspace.Change{Path: "../a", After: []byte("b\n")}, fs.ErrInvalid},
		{"not clean", workspace.Change{Path: "./a", Before: []byte("a\n"), After: []byte("b\n")}, fs.ErrInvalid},
		{"absolute", workspace.Change{Path: "/etc/x", After: []byte("b\n")}, fs.ErrInvalid},
		{"the root", workspace.Change{Path: ".", After: []byte("b\n")}, fs.ErrInvalid},
	} {
		good := workspace.Change{Path: "good", After: []byte("good\n")}
		err := b.store.For(agent).Apply(context.Background(), good, c.change)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if d := cmp.Diff(before, b.pending()); d != "" {
			t.Errorf("%s: something was recorded (-before +after):\n%s", c.name, d)
		}
	}
	b.apply(workspace.Change{Path: "good", After: []byte("good\n")}, workspace.Change{Path: "a", Before: []byte("a\n"), After: []byte("b\n")})
	b.want("good", absent, "good\n", "a", "a\n", "b\n")
}

// TestLinkedNames uses a file by its own name and by a link's.
func TestLinkedNames(t *testing.T) {
	b := newBench(t, "d/a", ten)
	symlink.Make(t, "d", filepath.Join(b.dir, "link"))
	b.edit("link/a", replace(ten, "1\n", "one\n"))
	b.edit("d/a", replace(b.seen("d/a"), "9\n", "nine\n"))
	b.edit("link/new", "new\n")
	b.wantPending("modify d/a clean +2-2 [1,1→1,1 clean] [9,1→9,1 clean]", "create d/new clean +1-0 [0,0→1,1 clean]")
	if res := b.accept(pendingedits.Selection{Names: []string{"link/a"}}); !cmp.Equal(res.Accepted, []string{"d/a"}) {
		t.Errorf("accept: %+v", res)
	}
	both := replace(ten, "1\n", "one\n", "9\n", "nine\n")
	b.want("d/a", both, both, "link/a", both, both, "link/new", absent, "new\n")

	symlink.Make(t, t.TempDir(), filepath.Join(b.dir, "out"))
	err := b.store.For(agent).Apply(context.Background(), workspace.Change{Path: "out/x", After: []byte("x\n")})
	if !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("through a link out of the workspace: %v, want %v", err, workspace.ErrOutside)
	}
}
