package pendingedits_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestCommitOfUnseenText: a commit that waits for its files is not made with a text, a mode or a link that the review
// did not show, which is said; the commits after it are made; and one whose texts were shown is made as it is.
func TestCommitOfUnseenText(t *testing.T) {
	one, both := replace(ten, "2\n", "two\n"), replace(ten, "2\n", "two\n", "9\n", "nine\n")
	for name, c := range map[string]struct {
		shown string // the edit of a
		file  pendingedits.CommitFile
		says  string // "": it is made
	}{
		"control: the text":               {both, pendingedits.CommitFile{Data: []byte(both)}, ""},
		"control: one of the hunks":       {both, pendingedits.CommitFile{Data: []byte(one)}, ""},
		"control: as git stores it":       {both, pendingedits.CommitFile{Data: []byte(strings.ReplaceAll(both, "\n", "\r\n"))}, ""},
		"control: deleted":                {absent, pendingedits.CommitFile{}, ""},
		"control: the first lines":        {ten + "11\n12\n", pendingedits.CommitFile{Data: []byte(ten + "11\n")}, ""},
		"control: the last lines":         {ten + "11\n12\n", pendingedits.CommitFile{Data: []byte(ten + "12\n")}, ""},
		"another text":                    {both, pendingedits.CommitFile{Data: []byte("EVIL\n")}, `a the commit has "EVIL"`},
		"one line more":                   {both, pendingedits.CommitFile{Data: []byte(both + "EVIL\n")}, `"EVIL"`},
		"one line in the place of a hunk": {both, pendingedits.CommitFile{Data: []byte(replace(both, "two\n", "EVIL\n"))}, `"EVIL"`},
		"in another order":                {both, pendingedits.CommitFile{Data: []byte("nine\n" + one)}, "in another order"},
		"a line twice":                    {both, pendingedits.CommitFile{Data: []byte(replace(both, "nine\n", "nine\nnine\n"))}, "in another order"},
		"without what stays":              {both, pendingedits.CommitFile{Data: []byte("two\nnine\n")}, "in another order"},
		"a line without its end":          {both, pendingedits.CommitFile{Data: []byte(strings.TrimSuffix(both, "\n"))}, `"10"`},
		"bytes that are no text":          {both, pendingedits.CommitFile{Data: []byte("a\x00b")}, "a the commit has"},
		"carriage returns":                {both, pendingedits.CommitFile{Data: []byte(replace(one, "5\n", "5\r\n"))}, `"5\r"`},
		"escapes":                         {both, pendingedits.CommitFile{Data: []byte("\x1b[31mEVIL\n")}, `\x1b[31mEVIL`},
		"a link":                          {both, pendingedits.CommitFile{Data: []byte("/etc"), Mode: fs.ModeSymlink}, "a link to"},
		"a link of that text":             {both, pendingedits.CommitFile{Data: []byte(both), Mode: fs.ModeSymlink}, "a link to"},
		"executable":                      {both, pendingedits.CommitFile{Data: []byte(both), Mode: 0o755}, "executable"},
		"deleted, and it stays":           {both, pendingedits.CommitFile{}, "deletes it"},
		"another text, and then deleted":  {absent, pendingedits.CommitFile{Data: []byte("EVIL\n")}, `"EVIL"`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBatch(t, "a", ten)
			b.must(b.edits(reviewed, "a", c.shown))
			c.file.Name = "a"
			for _, f := range []pendingedits.FileCommit{
				{ID: "1", Message: "first", Files: []pendingedits.CommitFile{c.file}},
				{ID: "2", Message: "second", Files: []pendingedits.CommitFile{{Name: "a", Data: bytesOf(b.seen("a"))}}},
			} {
				if waits, err := b.store.QueueFiles(t.Context(), reviewed, f); err != nil || !waits {
					t.Fatal(waits, err)
				}
			}
			if list := b.store.List("").Commits; (c.says != "" && c.file.Mode != 0o755 && c.file.Data != nil) != (list[0].Differs != "") || list[1].Differs != "" {
				t.Errorf("it shows %q", list[0].Differs)
			}
			b.reopen()
			res := b.accept(names("a"))
			if len(res.Commits) != 2 || res.Commits[1].Err != nil || errors.Is(res.Commits[0].Err, pendingedits.ErrUnseen) != (c.says != "") {
				t.Fatalf("%+v", res.Commits)
			}
			if c.says != "" && !strings.Contains(res.Commits[0].Err.Error(), c.says) {
				t.Errorf("it says %v, want %s", res.Commits[0].Err, c.says)
			}
			b.expect("nothing waits", b.waiting())
			for _, m := range b.repo.commits() {
				if c.says != "" && m.Message == "first" || strings.Contains(strings.Join(m.Files, "\n"), "EVIL") {
					t.Errorf("made: %+v", m)
				}
			}
		})
	}
}

// TestCommitOfAcceptedMode: a mode and a link that the review showed are made.
func TestCommitOfAcceptedMode(t *testing.T) {
	b := newBatch(t, "a", ten, "l", ten)
	b.must(b.store.For(reviewed).Apply(t.Context(), workspace.Change{Path: "a", Before: []byte(ten), After: []byte(ten + "11\n"), Mode: 0o755}))
	b.must(b.store.For(reviewed).Apply(t.Context(), workspace.Change{Path: "new", After: []byte("a"), AfterLink: true}))
	if waits, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{ID: "1", Message: "first", Files: []pendingedits.CommitFile{
		{Name: "a", Data: []byte(ten + "11\n"), Mode: 0o755}, {Name: "new", Data: []byte("a"), Mode: os.ModeSymlink},
	}}); err != nil || !waits {
		t.Fatal(waits, err)
	}
	if res := b.accept(pendingedits.Selection{}); len(res.Commits) != 1 || res.Commits[0].Err != nil {
		t.Errorf("%+v", res.Commits)
	}
	// Another target, and another file below the same name.
	b.must(b.store.For(reviewed).Apply(t.Context(), workspace.Change{Path: "l2", After: []byte("a"), AfterLink: true}))
	for i, f := range []pendingedits.CommitFile{{Name: "l2", Data: []byte("l"), Mode: os.ModeSymlink}, {Name: "l2", Data: []byte("a"), Mode: 0o644}} {
		if waits, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{ID: string(rune('2' + i)), Message: "unseen", Files: []pendingedits.CommitFile{f}}); err != nil || !waits {
			t.Fatal(waits, err)
		}
	}
	for _, c := range b.accept(pendingedits.Selection{}).Commits {
		if !errors.Is(c.Err, pendingedits.ErrUnseen) {
			t.Errorf("%+v", c)
		}
	}
}

// TestCommitWithoutAFile: a file that only the commit has is left out, which the agent is told.
func TestCommitWithoutAFile(t *testing.T) {
	b := newBatch(t, "a", ten)
	var told []string
	b.opts.Observer = &observer{notify: func(session, text string) { told = append(told, session+": "+text) }}
	b.reopen()
	b.must(b.edits(reviewed, "a", ten+"11\n"))
	if _, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{ID: "1", Message: "m", Files: []pendingedits.CommitFile{
		{Name: "a", Data: []byte(ten + "11\n")}, {Name: "evil", Data: []byte("EVIL\n")},
	}}); err != nil {
		t.Fatal(err)
	}
	b.expect("told", told, `review: Your commit "m" will be made without evil: what it has there is not in the files, so nobody can review it.`)
	b.accept(pendingedits.Selection{})
	b.history(`m ["a=` + quoted(ten+"11\n") + `"]` + "\n")
}

// TestBatchShowsWhatItsCommitsHave: a commit of a batch has the text of then; where the batch has another one now, the list
// shows the difference before the batch is accepted.
func TestBatchShowsWhatItsCommitsHave(t *testing.T) {
	b := newBatch(t, "a", ten)
	by := pendingedits.Proposer{Session: "batch", Tool: "t", Batch: true}
	b.must(b.edits(by, "a", replace(ten, "2\n", "then\n")))
	if _, err := b.store.QueueCommit(t.Context(), by, "then", nil, false, nil); err != nil {
		t.Fatal(err)
	}
	if d := b.store.List("").Commits[0].Differs; d != "" {
		t.Errorf("control: %q", d)
	}
	b.must(b.edits(by, "a", replace(ten, "2\n", "now\n")))
	if d := b.store.List("").Commits[0].Differs; !strings.Contains(d, "-now\n+then\n") {
		t.Errorf("it shows %q", d)
	}
}

// TestCommitOfManyEqualLines: comparing texts has an end, whatever they have.
func TestCommitOfManyEqualLines(t *testing.T) {
	b := newBatch(t, "a", strings.Repeat("x\n", 20_000))
	b.must(b.edits(reviewed, "a", strings.Repeat("x\n", 21_500)))
	if _, err := b.store.QueueFiles(t.Context(), reviewed, pendingedits.FileCommit{ID: "1", Message: "m", Files: []pendingedits.CommitFile{{Name: "a", Data: []byte("y\n" + strings.Repeat("x\n", 20_500))}}}); err != nil {
		t.Fatal(err)
	}
	if res := b.accept(pendingedits.Selection{}); len(res.Commits) != 1 || !errors.Is(res.Commits[0].Err, pendingedits.ErrUnseen) {
		t.Errorf("%+v", res.Commits)
	}
}
