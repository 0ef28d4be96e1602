package pendingedits

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/wal"
)

// sampleRecords are records of every shape.
func sampleRecords() []record {
	at := time.Unix(1, 2).UTC()
	s, none, two := []string{"s"}, []string{""}, []string{"r", "s"}
	return []record{
		{revision: 1, nextID: 2, puts: []*entry{{name: "a", base: []byte("1\r2\n3"), session: "s", tool: "t", updated: at, revision: 1,
			hunks: []hunk.Hunk{{ID: "h1", Start: 0, Old: []string{"1\r"}, New: nil, By: s}, {ID: "h2", Start: 2, Old: []string{"3"}, New: []string{"3\n", "\xff"}, By: s}}}}},
		{revision: 2, nextID: 4, drops: []string{"a"}, puts: []*entry{
			{name: "c", from: "b", base: []byte{}, whole: true, after: []byte("x"), mode: 0o755, updated: at, revision: 2, hunks: []hunk.Hunk{{ID: "h3", By: none}}},
			{name: "d", base: []byte("d"), whole: true, updated: at, revision: 2, hunks: []hunk.Hunk{{ID: "h4", By: none}}},
		}},
		{revision: 3, nextID: 4, undone: 1, undo: []undoItem{{undone: true, changes: []decided{
			{workspace.Change{Path: "p", From: "q", Before: []byte("b"), After: []byte{}, Mode: 0o600}, "s", "t", nil}}}}},
		{revision: 4, nextID: 6, intent: true, puts: []*entry{
			{name: "l", base: []byte("to"), whole: true, after: []byte("on"), batch: true, modeID: "m", modeBy: none, baseLink: true, afterLink: true, updated: at, revision: 4, hunks: []hunk.Hunk{{ID: "h5", By: none}}},
		}, commits: []*queued{
			{id: "c1", session: "s", message: "one\n\nmore", models: []string{"x", "y"}, revision: 4, begun: true, head: "abc", failed: "why", parts: []part{
				{name: "a", source: "b", base: []byte("1"), data: []byte("2"), mode: fs.ModeSymlink, landed: 2, final: []byte("3"), content: []byte("4")}, {name: "d", source: "d", data: []byte{}},
			}},
			{id: "c2", session: "s", message: "two", revision: 4},
		}, unqueued: []string{"c0", ""}},
		{revision: 5, nextID: 6, ends: true, committed: []commitDone{{"c1", "s", "one", "def"}}, undo: []undoItem{{batch: true,
			commits: []commitDone{{"c1", "s", "one", "def"}, {"c2", "s", "two", "fed"}},
			changes: []decided{{workspace.Change{Path: "l", Before: []byte("to"), After: []byte("on"), BeforeLink: true, AfterLink: true}, "s", "t", nil}}}}},
		{revision: 6, nextID: 8, puts: []*entry{{name: "a", base: []byte("1\n2\n"), session: "s", tool: "t", mode: 0o755, modeID: "h6", modeBy: two, updated: at, revision: 6,
			hunks: []hunk.Hunk{{ID: "h7", Start: 0, Old: []string{"1\n"}, New: nil, By: []string{"r"}}, {ID: "h8", Start: 1, Old: []string{"2\n"}, New: []string{"3\n"}, By: two}}}},
			undo: []undoItem{{changes: []decided{
				{workspace.Change{Path: "p", Before: []byte("b"), After: []byte{}}, "s", "t", []hunk.Owned{{End: 1, By: two}, {End: 1<<31 - 1, By: s}}},
				{workspace.Change{Path: "q", Before: []byte("b"), After: []byte{}}, "s", "t", nil}}}}},
		{revision: 7, nextID: 8, gone: []int64{3, 5}, undo: []undoItem{
			{applied: true, redone: true, id: 6, turn: 7, at: at, changes: []decided{{workspace.Change{Path: "p", Before: []byte("b")}, "s", "t", nil}}},
			{undone: true, id: 7, turn: 6}}},
	}
}

var compareRecords = cmp.AllowUnexported(record{}, entry{}, hunk.Hunk{}, undoItem{}, decided{}, hunk.Owned{}, queued{}, part{}, commitDone{})

// TestRecordsSurvive: what is read is what was written, and equal bytes are equal records.
func TestRecordsSurvive(t *testing.T) {
	for i, want := range sampleRecords() {
		got, err := decode(encode(want))
		if d := cmp.Diff(want, got, compareRecords); d != "" || err != nil {
			t.Errorf("record %d: %v (-want +got):\n%s", i, err, d)
		}
		if _, err := decode(append(encode(want), 1, 2, 3)); err == nil {
			t.Errorf("record %d: with more in it, it is read", i)
		}
	}
}

// logOf returns a log of these records.
func logOf(t *testing.T, records ...record) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	l := wal.New(dir, nil, func(string) error { return nil })
	for _, r := range records {
		if _, err := l.Append("x", encode(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, wal.Name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOpenAfterDamage(t *testing.T) {
	good := logOf(t, sampleRecords()...)
	first := len(logOf(t, sampleRecords()[0]))
	flipped := append([]byte{}, good...)
	flipped[first+20] ^= 1
	for _, c := range []struct {
		name   string
		data   []byte
		report string
		aside  bool
	}{
		{"torn", good[:first+5], "left out", false},
		{"damaged in the middle", flipped, wal.Name + ".damaged-2", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, dir := t.TempDir(), filepath.Join(t.TempDir(), "p")
			write := func(name string, data []byte) {
				if err := ownfile.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := ownfile.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			write(wal.Name, c.data)
			write(wal.Name+".new", []byte("of a rewrite that was cut short"))
			write(wal.Name+".damaged-1", []byte("an earlier one"))
			if err := ownfile.WriteFile(filepath.Join(root, "a"), []byte("1\r2\n3"), 0o600); err != nil {
				t.Fatal(err)
			}
			disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "r", Dir: root}}, workspace.DiskOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer disk.Close()
			var reports []string
			opts := Options{Observer: reporter{report: func(text string) { reports = append(reports, text) }}}
			for round := range 2 {
				s, err := Open(dir, disk, opts)
				if err != nil {
					t.Fatal(err)
				}
				if edits := s.List("").Edits; len(edits) != 1 || edits[0].Name != "a" || len(edits[0].Hunks) != 2 {
					t.Errorf("round %d: %+v", round, edits)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if len(reports) != 1 || !strings.Contains(reports[0], c.report) {
				t.Errorf("reports: %q", reports)
			}
			kept, err := os.ReadFile(filepath.Join(dir, wal.Name+".damaged-2"))
			if c.aside != (err == nil) || c.aside && !cmp.Equal(kept, c.data) {
				t.Errorf("set aside: %v, %d bytes", err, len(kept))
			}
		})
	}
}

func FuzzLog(f *testing.F) {
	for _, r := range sampleRecords() {
		f.Add(encode(r))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, err := decode(payload)
		if err != nil {
			return
		}
		again, err := decode(encode(r))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, again, compareRecords); d != "" {
			t.Errorf("(-first +again):\n%s", d)
		}
	})
}

// reporter hears what is wrong with the log.
type reporter struct {
	Nobody
	report func(text string)
}

func (r reporter) Report(text string) { r.report(text) }
