package pendingedits_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// tag makes a tag wait: own names a commit of the session, else one of the repository.
func (b *batch) tag(name, commit string, own bool) error {
	b.t.Helper()
	_, err := b.store.QueueFiles(b.t.Context(), reviewed, pendingedits.FileCommit{
		ID: "ref " + name, Replaces: []string{"ref " + name}, Message: "tag " + name,
		Ref: workspace.Reference{Kind: workspace.RefTag, Name: name, Commit: commit, Own: own},
	})
	return err
}

// A reference goes with the commit that it names, and comes back with it; one that names a
// commit of the repository stays.
func TestReferenceGoesWithItsCommit(t *testing.T) {
	b := newBatch(t, "a", ten)
	b.must(b.edits(reviewed, "a", replace(ten, "2\n", "two\n")))
	b.commitFiles("first", "a")
	b.must(b.tag("v1", "of first", true))
	b.must(b.tag("v2", "theirs", false))
	b.expect("all wait", b.waiting(), "first [a]", "tag v1 []", "tag v2 []")
	if res := b.reject(names("a")); len(res.Commits) != 2 {
		t.Errorf("it names as rejected %+v", res.Commits)
	}
	b.expect("after its file is rejected", b.waiting(), "tag v2 []")
	b.reopen()
	b.expect("over a restart", b.waiting(), "tag v2 []")
}

// A reference that names a commit of a session which does not wait is refused, and what it
// takes the place of goes.
func TestReferenceNamesNothing(t *testing.T) {
	b := newBatch(t, "a", ten)
	if err := b.tag("v1", "of nothing", true); !errors.Is(err, pendingedits.ErrNamesNothing) {
		t.Errorf("it waits: %v", err)
	}
	b.must(b.tag("v1", "theirs", false))
	if err := b.tag("v1", "of nothing", true); !errors.Is(err, pendingedits.ErrNamesNothing) {
		t.Errorf("it waits: %v", err)
	}
	b.expect("nothing waits", b.waiting())
}

// A tag on a commit of the repository is accepted by itself, also when a fast-forward to that
// commit is.
func TestReferenceBesideForward(t *testing.T) {
	b := newBatch(t, "a", ten)
	b.must(b.edits(reviewed, "a", replace(ten, "2\n", "two\n")))
	_, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{
		ID: "theirs", Message: "forward", Forward: true, Files: []pendingedits.CommitFile{{Name: "a", Data: bytesOf(b.seen("a"))}},
	})
	b.must(err)
	b.must(b.tag("v1", "theirs", false))
	b.accept(names("a"))
	b.expect("the tag still waits", b.waiting(), "tag v1 []")
}

// A commit that knows no branch is of the one that its session switches to, so that accepting its
// files switches first. One of another session is not.
func TestCommitAfterSwitch(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten)
	_, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{
		ID: "HEAD", Message: "switch", Ref: workspace.Reference{Kind: workspace.RefSwitch, Name: "side", New: true, Commit: "theirs"},
	})
	b.must(err)
	for _, by := range []pendingedits.Proposer{reviewed, {Session: "beside", Tool: "t"}} {
		name := map[bool]string{true: "a", false: "b"}[by == reviewed]
		b.must(b.edits(by, name, replace(ten, "2\n", "two\n")))
		_, err := b.store.QueueFiles(t.Context(), by, pendingedits.FileCommit{Message: "of " + name, Files: []pendingedits.CommitFile{{Name: name, Data: bytesOf(replace(ten, "2\n", "two\n"))}}})
		b.must(err)
	}
	var branches []string
	for _, c := range b.store.List("").Commits {
		branches = append(branches, c.Message+" on "+c.Branch)
	}
	b.expect("branches", branches, "switch on ", "of a on side", "of b on ")
	b.accept(names("a"))
	b.expect("after its file", b.waiting(), "of b [b]")

	// So is one after a commit of a command that begins a branch.
	b.must(b.edits(reviewed, "c", "c\n", "d", "d\n"))
	for _, c := range []pendingedits.FileCommit{{ID: "of c", Message: "of c", Branch: "fresh"}, {Message: "of d"}} {
		name := strings.TrimPrefix(c.Message, "of ")
		c.Files = []pendingedits.CommitFile{{Name: name, Data: []byte(name + "\n")}}
		_, err := b.store.QueueFiles(t.Context(), reviewed, c)
		b.must(err)
	}
	if list := b.store.List(reviewed.Session).Commits; len(list) != 2 || list[1].Branch != "fresh" {
		t.Errorf("there waits %+v", list)
	}
}
