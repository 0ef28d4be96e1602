package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

func fill(t *testing.T, dir string, o Options, n int) {
	t.Helper()
	l := New(dir, o)
	for i := range n {
		if err := l.Append(Record{Session: "default", Tool: fmt.Sprintf("tool_%d", i%3), CallID: fmt.Sprint(i), Outcome: "allow", By: "mode", OK: true, Arguments: json.RawMessage(`{"path":"a.go"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, dir string) Report {
	t.Helper()
	rep, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestAppendAndFind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if rep := verify(t, dir); rep.Records != 0 || len(rep.Faults) != 0 {
		t.Errorf("no log: %+v", rep)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := Options{MaxBytes: 2000, Now: func() time.Time { at = at.Add(time.Second); return at }}
	fill(t, dir, o, 20)
	fill(t, dir, o, 10) // a second process goes on
	rep := verify(t, dir)
	if rep.Records != 30 || rep.Files < 3 || rep.Torn != 0 || len(rep.Faults) != 0 || rep.Last == "" {
		t.Fatalf("%+v", rep)
	}
	all, err := Find(dir, Query{})
	if err != nil || len(all) != 30 || all[29].Seq != 30 || all[29].Hash != rep.Last {
		t.Fatalf("%d records, %v", len(all), err)
	}
	some, _ := Find(dir, Query{Tool: "tool_1", Limit: 2, Since: all[5].Time})
	if len(some) != 2 || some[1].Tool != "tool_1" || some[0].Seq >= some[1].Seq {
		t.Errorf("%+v", some)
	}
	if none, _ := Find(dir, Query{Path: "a.go"}); len(none) != 0 {
		t.Errorf("%+v", none)
	}
}

// Each single change of a log shows: every byte, every line taken out, doubled
// or moved.
func TestTampering(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	fill(t, dir, Options{}, 6)
	name := filepath.Join(dir, fileName(1))
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if rep := verify(t, dir); len(rep.Faults) != 0 {
		t.Fatalf("control: %+v", rep)
	}
	caught := func(what string, data []byte) {
		t.Helper()
		if err := ownfile.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if rep := verify(t, dir); len(rep.Faults) == 0 && rep.Torn == 0 {
			t.Errorf("%s is not noticed: %+v", what, rep)
		}
	}
	for i := range good {
		for _, flip := range []byte{1, 0x20} {
			bad := slices.Clone(good)
			bad[i] ^= flip
			caught(fmt.Sprintf("byte %d changed", i), bad)
		}
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(good), "\n"), "\n")
	lines[5] += "\n"
	for i := range 5 {
		caught(fmt.Sprintf("line %d taken out", i+1), []byte(strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")))
		caught(fmt.Sprintf("line %d doubled", i+1), []byte(strings.Join(slices.Insert(slices.Clone(lines), i, lines[i]), "")))
		moved := slices.Clone(lines)
		moved[i], moved[i+1] = moved[i+1], moved[i]
		caught(fmt.Sprintf("line %d moved", i+1), []byte(strings.Join(moved, "")))
		// Written again with a hash of its own, which only the next line knows better.
		r, ok := decode([]byte(strings.TrimSuffix(lines[i], "\n")))
		if !ok {
			t.Fatalf("line %d: %s", i+1, lines[i])
		}
		r.Tool += " of somebody else"
		line, _, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		forged := slices.Clone(lines)
		forged[i] = string(line)
		caught(fmt.Sprintf("line %d forged", i+1), []byte(strings.Join(forged, "")))
	}
}

// A line that a crash cut short stays to be seen; the next record follows the
// last good one.
func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, Options{}, 3)
	name := filepath.Join(dir, fileName(1))
	f, err := ownfile.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":4,"time":"2026`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	fill(t, dir, Options{}, 2)
	if rep := verify(t, dir); rep.Records != 5 || rep.Torn != 1 || len(rep.Faults) != 0 {
		t.Errorf("%+v", rep)
	}
}

// Several writers at once, as two servers of one workspace are.
func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		l := New(dir, Options{MaxBytes: 20_000, Failed: func(err error) { t.Error(err) }})
		for range 5 {
			wg.Go(func() {
				for i := range 20 {
					if i%2 == 0 {
						l.Add(func() Record { return Record{Tool: "read_file"} })
					} else if err := l.Append(Record{Tool: "write_file"}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		defer l.Close()
	}
	wg.Wait()
	// What was only added may still be on its way; an appended record comes after.
	if rep := verify(t, dir); len(rep.Faults) != 0 || rep.Records < 200 {
		t.Errorf("%+v", rep)
	}
}

func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	if err := ownfile.WriteFile(filepath.Join(dir, "logs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]*Log{
		"a file":  New(filepath.Join(dir, "logs"), Options{}),
		"refused": New(filepath.Join(dir, "x"), Options{Prepare: func() error { return errors.New("no") }}),
	} {
		if err := l.Append(Record{}); err == nil || !strings.Contains(err.Error(), "audit log: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	outside := filepath.Join(dir, "outside")
	if err := ownfile.WriteFile(outside, []byte("keep\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	logs := filepath.Join(dir, "linked")
	if err := ownfile.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	symlink.Make(t, outside, filepath.Join(logs, fileName(1)))
	if err := New(logs, Options{}).Append(Record{}); err == nil {
		t.Error("a link was followed")
	}
	if data, _ := os.ReadFile(outside); string(data) != "keep\n" {
		t.Errorf("the linked file is %q", data)
	}
	l := New(filepath.Join(dir, "closed"), Options{})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(Record{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed log: %v", err)
	}
}

func BenchmarkAdd(b *testing.B) {
	l := New(b.TempDir(), Options{})
	defer l.Close()
	b.ReportAllocs()
	for b.Loop() {
		l.Add(func() Record {
			return Record{Session: "default", CallID: "call_0123456789abcdef", Tool: "read_file", Access: "read", Arguments: json.RawMessage(`{"path":"a.go"}`), Outcome: "allow", By: "mode", Rule: "mode.cautious.reads", OK: true}
		})
	}
}

// TestAddAtTheEnd: records that come while the log is closed are written or told to be
// lost; what came before is written.
func TestAddAtTheEnd(t *testing.T) {
	for range 50 {
		dir := t.TempDir()
		var lost atomic.Int64
		l := New(dir, Options{Failed: func(err error) {
			if !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
			lost.Add(1)
		}})
		l.Add(func() Record { return Record{Tool: "before"} })
		var adding sync.WaitGroup
		for range 4 {
			adding.Go(func() { l.Add(func() Record { return Record{Tool: "late"} }) })
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		adding.Wait()
		if err := l.Append(Record{Tool: "after"}); !errors.Is(err, ErrClosed) {
			t.Errorf("appended after the end: %v", err)
		}
		names, err := files(dir)
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		data, err := os.ReadFile(filepath.Join(dir, names[0]))
		if err != nil {
			t.Fatal(err)
		}
		late := int64(strings.Count(string(data), `"late"`))
		if !strings.Contains(string(data), `"before"`) || late+lost.Load() != 4 {
			t.Errorf("%d are written and %d lost:\n%s", late, lost.Load(), data)
		}
	}
}
