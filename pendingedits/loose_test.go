package pendingedits_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// reviewed proposes in a mode in which edits wait one by one.
var reviewed = pendingedits.Proposer{Session: "review", Tool: "t"}

// commitFiles makes a commit of files, as the agent sees them, wait for them.
func (b *batch) commitFiles(message string, names ...string) (waits bool) {
	b.t.Helper()
	var files []pendingedits.CommitFile
	for _, name := range names {
		files = append(files, pendingedits.CommitFile{Name: name, Data: bytesOf(b.seen(name))})
	}
	waits, err := b.store.QueueFiles(b.t.Context(), reviewed, pendingedits.FileCommit{ID: "of " + message, Message: message, Models: []string{"m"}, Files: files})
	b.must(err)
	return waits
}

func (b *batch) hunks(name string) (ids []string) {
	b.t.Helper()
	for _, e := range b.store.List("").Edits {
		for _, h := range e.Hunks {
			if e.Name == name {
				ids = append(ids, h.ID)
			}
		}
	}
	return ids
}

func (b *batch) reject(sel pendingedits.Selection) pendingedits.RejectResult {
	b.t.Helper()
	res, err := b.store.Reject(b.t.Context(), sel, "")
	b.must(err)
	return res
}

func names(list ...string) pendingedits.Selection { return pendingedits.Selection{Names: list} }

// A commit waits for the last of its files, over a restart too, and has then what
// was accepted: not what waits besides, and not what came later.
func TestCommitOfFiles(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten, "old", "o\n", "other", ten)
	b.must(b.edits(reviewed, "a", replace(ten, "2\n", "two\n"), "b", replace(ten, "2\n", "two\n"), "other", "x\n", "new", "n\n"))
	b.must(b.store.For(reviewed).Apply(t.Context(), workspace.Change{Path: "moved", From: "old", Before: []byte("o\n"), After: []byte("o\n")}))
	if !b.commitFiles("first", "a", "b", "new", "old", "moved") {
		t.Error("it waits for nothing")
	}
	b.must(b.edits(reviewed, "a", replace(ten, "2\n", "two\n", "9\n", "nine\n")))
	b.expect("waits", b.waiting(), "first [a b moved new old]")
	if e, _, _ := b.store.Edit("a"); e.Batch {
		t.Error("it made a batch of its files")
	}
	res := b.accept(names("a", "b"))
	if len(res.Accepted) != 2 || res.Commits != nil {
		t.Errorf("%+v", res)
	}
	b.reopen()
	b.expect("waits over a restart", b.waiting(), "first [a b moved new old]")
	b.history()
	b.accept(names("new"))
	res = b.accept(names("moved"))
	if len(res.Commits) != 1 || res.Commits[0].ID != "id1" {
		t.Errorf("%+v", res)
	}
	want := `first ["a=` + quoted(replace(ten, "2\n", "two\n")) + `" "b=` + quoted(replace(ten, "2\n", "two\n")) + `" "moved=o\n" "new=n\n" "old gone"]` + "\n"
	b.history(want)
	b.expect("nothing waits", b.waiting())
	b.accept(pendingedits.Selection{})
	b.history(want)
}

func quoted(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }

// What is rejected is not committed, and a commit of which all is rejected is
// dropped, which is said.
func TestCommitOfFilesRejected(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten, "c", ten)
	two := replace(ten, "2\n", "two\n", "9\n", "nine\n")
	b.must(b.edits(reviewed, "a", two, "b", two))
	b.commitFiles("part", "a", "b")
	b.must(b.edits(reviewed, "c", two))
	b.commitFiles("none", "c")
	ids := b.hunks("a")
	b.accept(pendingedits.Selection{Hunks: ids[:1]})
	if res := b.reject(pendingedits.Selection{Hunks: ids[1:]}); res.Made != nil || res.Commits != nil {
		t.Errorf("it waits for b: %+v", res)
	}
	res := b.reject(names("b"))
	if len(res.Made) != 1 || res.Made[0].Err != nil || res.Commits != nil {
		t.Errorf("%+v", res)
	}
	b.history(`part ["a=` + quoted(replace(ten, "2\n", "two\n")) + `"]` + "\n")
	res = b.reject(pendingedits.Selection{})
	if res.Made != nil || len(res.Commits) != 1 || res.Commits[0].Message != "none" {
		t.Errorf("%+v", res)
	}
	b.expect("nothing waits", b.waiting())
	if _, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{Message: "m", Files: []pendingedits.CommitFile{{Name: "a", Data: []byte("left out\n")}}}); !errors.Is(err, pendingedits.ErrNothingToCommit) {
		t.Errorf("a file that neither waits nor is so: %v", err)
	}
	if _, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{Message: " \n", Files: []pendingedits.CommitFile{{Name: "a", Data: []byte("x")}}}); err == nil {
		t.Error("a commit without a message is queued")
	}
}

// Two commits of one file have what each of them changed; what is accepted already
// waits for a person to accept it; and a commit that fails waits on, until it is rejected.
func TestCommitOfFilesInOrder(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten)
	one, both := replace(ten, "2\n", "two\n"), replace(ten, "2\n", "two\n", "9\n", "nine\n")
	b.must(b.edits(reviewed, "a", one))
	b.commitFiles("first", "a")
	b.must(b.edits(reviewed, "a", both))
	b.commitFiles("second", "a")
	b.expect("made", madeOf(b.accept(names("a")).Commits), "first id1", "second id2")
	b.history(`first ["a=`+quoted(one)+`"]`+"\n", `second ["a=`+quoted(both)+`"]`+"\n")
	b.must(b.edits(reviewed, "b", one))
	b.accept(names("b"))
	if b.commitFiles("third", "b") {
		t.Error("what is accepted waits")
	}
	b.must(b.edits(reviewed, "c", "c\n"))
	b.expect("not asked about it", madeOf(b.accept(names("c")).Commits))
	b.expect("made with all", madeOf(b.accept(pendingedits.Selection{}).Commits), "third id3")
	b.commitFiles("unwanted", "b")
	if res := b.reject(pendingedits.Selection{}); len(res.Commits) != 1 || res.Made != nil {
		t.Errorf("%+v", res)
	}
	b.must(b.edits(reviewed, "c", "C\n"))
	b.commitFiles("of a rejected file, and of one that nobody was asked about", "b", "c")
	if res := b.reject(names("c")); len(res.Commits) != 1 || res.Made != nil {
		t.Errorf("%+v", res)
	}
	b.must(b.edits(reviewed, "b", both))
	b.commitFiles("fourth", "b")
	b.repo.refuse = errors.New("the repository is locked")
	if res := b.accept(pendingedits.Selection{}); len(res.Commits) != 1 || res.Commits[0].Err == nil {
		t.Errorf("%+v", res)
	}
	b.expect("waits", b.waiting(), "fourth [b]")
	b.reopen()
	if res := b.reject(pendingedits.Selection{}); len(res.Commits) != 1 || res.Made != nil {
		t.Errorf("%+v", res)
	}
	b.expect("nothing waits", b.waiting())
}

func madeOf(list []pendingedits.CommitResult) (out []string) {
	for _, c := range list {
		out = append(out, c.Message+" "+c.ID)
	}
	return out
}

// What another session has pending in a file is not waited for, and not committed;
// and taking an accept back before the commit is made makes it wait again.
func TestCommitOfFilesAndOthers(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten)
	other := pendingedits.Proposer{Session: "other", Tool: "t"}
	mine := replace(ten, "2\n", "two\n")
	b.must(b.edits(reviewed, "a", mine, "b", mine))
	b.commitFiles("mine", "a", "b")
	b.must(b.edits(other, "a", replace(ten, "2\n", "two\n", "9\n", "theirs\n")))
	b.accept(pendingedits.Selection{Names: []string{"a"}, Session: "review"})
	if _, err := b.store.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := b.accept(names("b")); res.Commits != nil {
		t.Errorf("a waits again: %+v", res)
	}
	b.expect("made", madeOf(b.accept(pendingedits.Selection{Names: []string{"a"}, Session: "review"}).Commits), "mine id1")
	b.history(`mine ["a=` + quoted(mine) + `" "b=` + quoted(mine) + `"]` + "\n")
	if !slices.ContainsFunc(b.store.List("other").Edits, func(e pendingedits.Edit) bool { return e.Name == "a" }) {
		t.Error("the other session's edit is gone")
	}
}

// A commit that takes the place of others has them not made, over a restart too; and
// one that has nothing to commit any more does not wait for ever.
func TestCommitOfFilesReplaced(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten, "c", ten)
	two := replace(ten, "2\n", "two\n")
	b.must(b.edits(reviewed, "a", two, "b", two, "c", two))
	b.commitFiles("first", "a")
	b.commitFiles("second", "b")
	b.reopen()
	if _, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{ID: "x", Replaces: []string{"of second"}, Message: "amended", Files: []pendingedits.CommitFile{{Name: "b", Data: []byte(two)}, {Name: "c", Data: []byte(two)}}}); err != nil {
		t.Fatal(err)
	}
	b.expect("waits", b.waiting(), "first [a]", "amended [b c]")
	other := pendingedits.Proposer{Session: "other", Tool: "t"}
	for _, by := range []pendingedits.Proposer{other, reviewed} {
		if _, err := b.store.QueueFiles(t.Context(), by, pendingedits.FileCommit{Replaces: []string{"of first"}}); err != nil {
			t.Fatal(err)
		}
		if by == other {
			b.expect("another session takes nothing back", b.waiting(), "first [a]", "amended [b c]")
		}
	}
	b.reopen()
	b.expect("waits", b.waiting(), "amended [b c]")
	b.repo.refuse = fmt.Errorf("git says: %w", pendingedits.ErrNothingToCommit)
	if res := b.accept(pendingedits.Selection{}); len(res.Commits) != 1 || !errors.Is(res.Commits[0].Err, pendingedits.ErrNothingToCommit) {
		t.Errorf("%+v", res)
	}
	b.expect("nothing waits", b.waiting())
}
