package pendingedits

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

func never(string) error { return nil }

// sampleRecords are records of every shape.
func sampleRecords() []record {
	at := time.Unix(1, 2).UTC()
	s, none, two := []string{"s"}, []string{""}, []string{"r", "s"}
	return []record{
		{revision: 1, nextID: 2, puts: []*entry{{name: "a", base: []byte("1\r2\n3"), session: "s", tool: "t", updated: at, revision: 1,
			hunks: []hunk{{"h1", 0, []string{"1\r"}, nil, s}, {"h2", 2, []string{"3"}, []string{"3\n", "\xff"}, s}}}}},
		{revision: 2, nextID: 4, drops: []string{"a"}, puts: []*entry{
			{name: "c", from: "b", base: []byte{}, whole: true, after: []byte("x"), mode: 0o755, updated: at, revision: 2, hunks: []hunk{{id: "h3", by: none}}},
			{name: "d", base: []byte("d"), whole: true, updated: at, revision: 2, hunks: []hunk{{id: "h4", by: none}}},
		}},
		{revision: 3, nextID: 4, undone: 1, undo: []undoItem{{undone: true, changes: []decided{
			{workspace.Change{Path: "p", From: "q", Before: []byte("b"), After: []byte{}, Mode: 0o600}, "s", "t", nil}}}}},
		{revision: 4, nextID: 6, intent: true, puts: []*entry{
			{name: "l", base: []byte("to"), whole: true, after: []byte("on"), batch: true, modeID: "m", modeBy: none, baseLink: true, afterLink: true, updated: at, revision: 4, hunks: []hunk{{id: "h5", by: none}}},
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
			hunks: []hunk{{"h7", 0, []string{"1\n"}, nil, []string{"r"}}, {"h8", 1, []string{"2\n"}, []string{"3\n"}, two}}}},
			undo: []undoItem{{changes: []decided{
				{workspace.Change{Path: "p", Before: []byte("b"), After: []byte{}}, "s", "t", []owned{{0, 1, two}, {0, 1<<31 - 1, s}}},
				{workspace.Change{Path: "q", Before: []byte("b"), After: []byte{}}, "s", "t", nil}}}}},
		{revision: 7, nextID: 8, gone: []int64{3, 5}, undo: []undoItem{
			{applied: true, redone: true, id: 6, turn: 7, at: at, changes: []decided{{workspace.Change{Path: "p", Before: []byte("b")}, "s", "t", nil}}},
			{undone: true, id: 7, turn: 6}}},
	}
}

var compareRecords = cmp.AllowUnexported(record{}, entry{}, hunk{}, undoItem{}, decided{}, owned{}, queued{}, part{}, commitDone{})

func TestRecordsSurviveTheLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	l, _, _, err := openLog(dir, Options{Fail: never})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sampleRecords() {
		seq, err := l.append("x", encode(r))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.sync("x", seq); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{".": 0o700, logName: 0o600, lockName: 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	l, got, reports, err := openLog(dir, Options{Fail: never})
	if err != nil || reports != nil {
		t.Fatal(err, reports)
	}
	defer l.close()
	if d := cmp.Diff(sampleRecords(), got, compareRecords); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestDamage flips every bit and makes every cut. What comes back is always
// the beginning of what was written; only a cut between two records, which a
// crash can't make after a sync, goes without a report.
func TestDamage(t *testing.T) {
	want := sampleRecords()
	var good []byte
	ends := map[int]int{0: 0} // bytes to records
	for i, r := range want {
		good = append(good, frame(encode(r))...)
		ends[len(good)] = i + 1
	}
	check := func(what string, data []byte, silent bool) {
		t.Helper()
		got, size, err := readFrames(bytes.NewReader(data), int64(len(data)))
		if err == nil != silent {
			t.Errorf("%s: error %v", what, err)
		}
		if n, ok := ends[int(size)]; !ok || n != len(got) {
			t.Errorf("%s: %d records, %d bytes", what, len(got), size)
		}
		var again []byte
		for _, r := range got {
			again = append(again, frame(encode(r))...)
		}
		if !bytes.Equal(again, good[:size]) {
			t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want[:len(got)], got, compareRecords))
		}
	}
	check("nothing wrong", good, true)
	if got, _, _ := readFrames(bytes.NewReader(good), int64(len(good))); !cmp.Equal(want, got, compareRecords) { // so that equal bytes are equal records
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got, compareRecords))
	}
	tried := 0
	for i := range good {
		for bit := range 8 {
			bad := append([]byte{}, good...)
			bad[i] ^= 1 << bit
			check("flipped", bad, false)
			tried++
		}
		_, whole := ends[i]
		check("cut", good[:i], whole)
		check("zeros at the end", append(append([]byte{}, good[:i]...), make([]byte, 100)...), false)
		tried += 2
	}
	t.Logf("%d tried, %d held", tried, tried)
}

func TestOpenAfterDamage(t *testing.T) {
	var good []byte
	for _, r := range sampleRecords() {
		good = append(good, frame(encode(r))...)
	}
	first := len(frame(encode(sampleRecords()[0])))
	flipped := append([]byte{}, good...)
	flipped[first+20] ^= 1
	for _, c := range []struct {
		name   string
		data   []byte
		report string
		aside  bool
	}{
		{"torn", good[:first+5], "left out", false},
		{"damaged in the middle", flipped, logName + ".damaged-2", true},
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
			write(logName, c.data)
			write(logName+".new", []byte("of a rewrite that was cut short"))
			write(logName+".damaged-1", []byte("an earlier one"))
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
			kept, err := os.ReadFile(filepath.Join(dir, logName+".damaged-2"))
			if c.aside != (err == nil) || c.aside && !cmp.Equal(kept, c.data) {
				t.Errorf("set aside: %v, %d bytes", err, len(kept))
			}
		})
	}
}

// TestOpenForeign: a log of a version to come is left as it is, for that version.
func TestOpenForeign(t *testing.T) {
	good := frame(encode(sampleRecords()[0]))
	renamed := bytes.Clone(good)
	copy(renamed, "SPE2")
	binary.LittleEndian.PutUint32(renamed[12:], checksum(renamed[:12]))
	for _, c := range []struct {
		name string
		data []byte
		want bool
	}{
		{"another magic", renamed, true},
		{"another magic after records", slices.Concat(good, renamed), true},
		{"a record with more in it", slices.Concat(good, frame(append(encode(sampleRecords()[0]), 1, 2, 3))), true},
		{"the control: a damaged magic", append([]byte("SPE2"), good[4:]...), false},
		{"the control: nothing wrong", good, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, logName)
			if err := ownfile.WriteFile(name, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first gives the directory free
				l, _, _, err := openLog(dir, Options{Fail: never})
				if c.want != errors.Is(err, errForeign) || c.want == (err == nil) || c.want && !strings.Contains(err.Error(), "with that version") {
					t.Fatalf("it is opened with %v", err)
				}
				if err := l.close(); err != nil {
					t.Fatal(err)
				}
				if !c.want {
					return
				}
			}
			if left, err := os.ReadFile(name); err != nil || !bytes.Equal(left, c.data) {
				t.Errorf("it is changed: %d bytes, %v", len(left), err)
			}
			if aside, _ := filepath.Glob(filepath.Join(dir, "*.damaged-*")); aside != nil {
				t.Errorf("set aside: %q", aside)
			}
		})
	}
}

// TestNothingIsMadeByLooking: the directory comes with the first record, and
// who comes second then is told.
func TestNothingIsMadeByLooking(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a", "p")
	prepared := 0
	opts := Options{Fail: never, Prepare: func() error { prepared++; return nil }}
	open := func() *log {
		l, _, _, err := openLog(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first, second, third := open(), open(), open()
	if left, _ := os.ReadDir(top); len(left) != 0 || prepared != 0 {
		t.Fatalf("opening made %v", left)
	}
	if err := third.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.append("x", encode(sampleRecords()[0])); err != nil || prepared != 1 {
		t.Fatalf("first record: %v, prepared %d times", err, prepared)
	}
	if _, err := second.append("x", []byte("{}")); !errors.Is(err, ErrLocked) {
		t.Errorf("second writer: %v", err)
	}
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.append("x", []byte("{}")); !errors.Is(err, errOthers) {
		t.Errorf("second writer, later: %v", err)
	}
	refused := errors.New("not here")
	l, _, _, err := openLog(filepath.Join(top, "b"), Options{Fail: never, Prepare: func() error { return refused }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.append("x", []byte("{}")); !errors.Is(err, refused) {
		t.Errorf("a refusal: %v", err)
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	l, _, _, err := openLog(dir, Options{Fail: never})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := openLog(dir, Options{Fail: never}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "process "+strings.TrimSpace(readFile(t, filepath.Join(dir, lockName)))) {
		t.Errorf("second opener: %v", err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	l, _, _, err = openLog(dir, Options{Fail: never})
	if err != nil {
		t.Fatal(err)
	}
	l.close()
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestLinks puts symbolic links where the store has its files.
func TestLinks(t *testing.T) {
	for _, name := range []string{logName, lockName, ""} {
		dir := t.TempDir()
		target := filepath.Join(t.TempDir(), "target")
		state := filepath.Join(dir, "p")
		if name == "" {
			symlink.Make(t, filepath.Dir(target), state)
		} else {
			if err := ownfile.Mkdir(state, 0o700); err != nil {
				t.Fatal(err)
			}
			symlink.Make(t, target, filepath.Join(state, name))
		}
		if l, _, _, err := openLog(state, Options{Fail: never}); err == nil {
			l.close()
			t.Errorf("%q: opened through a link", name)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(target), "*")); left != nil {
			t.Errorf("%q: made %v behind a link", name, left)
		}
	}
}

// TestFailures has every step of the log fail once: an append that fails
// leaves nothing, and the log works again afterwards.
func TestFailures(t *testing.T) {
	failed := errors.New("no space")
	for _, point := range []string{"x.write", "x.written", "x.sync", "compact.create", "compact.written", "compact.rename", "compact.renamed"} {
		t.Run(point, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "p")
			armed := false
			l, _, _, err := openLog(dir, Options{Fail: func(p string) error {
				if armed && p == point {
					return failed
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			all := sampleRecords()
			step := func(r record) error {
				seq, err := l.append("x", encode(r))
				if err == nil {
					err = l.sync("x", seq)
				}
				return err
			}
			if err := step(all[0]); err != nil {
				t.Fatal(err)
			}
			armed = true
			if strings.HasPrefix(point, "compact") {
				err = l.rewrite([][]byte{encode(all[0])})
			} else {
				err = step(all[1])
			}
			if !errors.Is(err, failed) {
				t.Fatalf("error %v, want %v", err, failed)
			}
			armed = false
			want := []record{all[0], all[2]}
			if l.isBroken() {
				if err := l.rewrite([][]byte{encode(all[0])}); err != nil {
					t.Fatal(err)
				}
			}
			if err := step(all[2]); err != nil {
				t.Fatal(err)
			}
			l.close()
			l, got, reports, err := openLog(dir, Options{Fail: never})
			if err != nil || reports != nil {
				t.Fatal(err, reports)
			}
			defer l.close()
			if d := cmp.Diff(want, got, compareRecords); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); left != nil {
				t.Errorf("left behind: %v", left)
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

// openLog returns the log in dir, read.
func openLog(dir string, opts Options) (*log, []record, []string, error) {
	l := newLog(dir, opts)
	records, reports, _, err := l.open()
	return l, records, reports, err
}

// reporter hears what is wrong with the log.
type reporter struct {
	Nobody
	report func(text string)
}

func (r reporter) Report(text string) { r.report(text) }

// frame is a record as it is in the log.
func frame(payload []byte) []byte { return append(header(payload), payload...) }
