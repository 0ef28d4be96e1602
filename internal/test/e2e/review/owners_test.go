package review_test

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestTwoAgentsOneFile: each of two agents in one file has its own hunks: the
// review shows whose they are, decisions by session take those alone, and each
// is told of its own.
func TestTwoAgentsOneFile(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"count.go": "one\n2\n3\n4\n5\nsix\n7\n"})
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	for _, s := range []string{"A", "B"} {
		e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": s, "mode": "review"})
	}
	edit := func(session, search, replace string) e2e.Result {
		return r.In(session, "edit_file", e2e.Object{"path": "count.go", "search": search, "replace": replace})
	}
	read := func(session string) string { return r.In(session, "read_file", e2e.Object{"path": "count.go"}).Content }
	type list struct {
		Edits []struct {
			Session string
			Hunks   []struct {
				ID       string
				OldStart int
				Sessions []string
			}
		}
	}
	for _, res := range []e2e.Result{edit("A", "one", "A one"), edit("B", "six", "B six")} {
		if !res.OK {
			t.Fatal(res.Content)
		}
	}
	all := e2e.Command[list](r, "sidecar.review.list", e2e.Object{})
	if len(all.Edits) != 1 || len(all.Edits[0].Hunks) != 2 || all.Edits[0].Session != "B" ||
		strings.Join(all.Edits[0].Hunks[0].Sessions, " ") != "A" || strings.Join(all.Edits[0].Hunks[1].Sessions, " ") != "B" {
		t.Fatalf("all: %+v", all)
	}
	if own := e2e.Command[list](r, "sidecar.review.list", e2e.Object{"session": "A"}); len(own.Edits) != 1 || len(own.Edits[0].Hunks) != 1 || own.Edits[0].Hunks[0].OldStart != 1 {
		t.Errorf("of A: %+v", own)
	}

	// A's hunk is rejected: A is told which and why, B nothing.
	e2e.Command[e2e.Object](r, "sidecar.review.reject", e2e.Object{"hunks": []string{all.Edits[0].Hunks[0].ID}, "reason": "keep it"})
	if text := read("B"); strings.Contains(text, "rejected") {
		t.Errorf("B is told: %s", text)
	}
	if text := read("A"); !strings.Contains(text, "The user rejected your edit of count.go (line 1): keep it") {
		t.Errorf("A is told: %s", text)
	}

	// Decisions by session.
	if res := edit("A", "one", "A one"); !res.OK {
		t.Fatal(res.Content)
	}
	e2e.Command[e2e.Object](r, "sidecar.review.accept", e2e.Object{"session": "B"})
	if text := r.File("count.go"); !strings.Contains(text, "B six") || strings.Contains(text, "A one") {
		t.Errorf("accepted of B: %q", text)
	}
	if text := read("A"); strings.Contains(text, "accepted") {
		t.Errorf("A is told: %s", text)
	}
	if text := read("B"); !strings.Contains(text, "The user accepted your edit of count.go (line 6).") {
		t.Errorf("B is told: %s", text)
	}

	// B edits over what A has proposed: A is told when it does not find that.
	if res := edit("B", "A one", "B one"); !res.OK {
		t.Fatal(res.Content)
	}
	if res := edit("A", "A one", "A two"); res.OK || res.Error.Code != "no_match" || !strings.Contains(res.Content, "session B in count.go (line 1)") || !strings.Contains(res.Content, "read it again") {
		t.Errorf("not found: %+v", res)
	}
	if res := edit("B", "nowhere", "x"); res.OK || !strings.Contains(res.Content, "session A in count.go (line 1)") { // it is A's too
		t.Errorf("not found by B: %+v", res)
	}
	e2e.Command[e2e.Object](r, "sidecar.review.reject", e2e.Object{"reason": "neither"})
	for _, s := range []string{"A", "B"} {
		if text := read(s); !strings.Contains(text, "rejected your edit of count.go (line 1): neither") {
			t.Errorf("%s is told: %s", s, text)
		}
	}
	// The control: nobody else has an edit now.
	if res := edit("A", "nowhere", "x"); res.OK || strings.Contains(res.Content, "session") {
		t.Errorf("nobody else's: %+v", res)
	}
}
