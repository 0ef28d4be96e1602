package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

func never(string) error { return nil }

// samples are records of several lengths.
var samples = [][]byte{[]byte("one"), {}, {0}, []byte(magic), bytes.Repeat([]byte("four "), 100), []byte("\n\xff")}

// keep takes records as they are read; one that ends with "!" is not known.
func keep(into *[][]byte) func([]byte) error {
	return func(r []byte) error {
		if bytes.HasSuffix(r, []byte("!")) {
			return errors.New("unknown")
		}
		*into = append(*into, r)
		return nil
	}
}

// openLog returns the log in dir, read.
func openLog(dir string, prepare func() error, fail func(string) error) (l *Log, records [][]byte, reports []string, err error) {
	l = New(dir, prepare, fail)
	found, err := l.Open(keep(&records))
	return l, records, found.Reports, err
}

// frame is a record as it is in the log.
func frame(record []byte) []byte { return append(header(record), record...) }

func TestRecordsSurvive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	l, _, _, err := openLog(dir, nil, never)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range samples {
		seq, err := l.Append("x", r)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Sync("x", seq); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{".": 0o700, Name: 0o600, LockName: 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	l, got, reports, err := openLog(dir, nil, never)
	if err != nil || reports != nil {
		t.Fatal(err, reports)
	}
	defer l.Close()
	if d := cmp.Diff(samples, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestDamage flips every bit and makes every cut. What comes back is always
// the beginning of what was written; only a cut between two records, which a
// crash can't make after a sync, goes without a report.
func TestDamage(t *testing.T) {
	want := samples
	var good []byte
	ends := map[int]int{0: 0} // bytes to records
	for i, r := range want {
		good = append(good, frame(r)...)
		ends[len(good)] = i + 1
	}
	check := func(what string, data []byte, silent bool) {
		t.Helper()
		var got [][]byte
		size, err := readFrames(bytes.NewReader(data), int64(len(data)), keep(&got))
		if err == nil != silent {
			t.Errorf("%s: error %v", what, err)
		}
		if n, ok := ends[int(size)]; !ok || n != len(got) {
			t.Errorf("%s: %d records, %d bytes", what, len(got), size)
		}
		var again []byte
		for _, r := range got {
			again = append(again, frame(r)...)
		}
		if !bytes.Equal(again, good[:size]) {
			t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want[:len(got)], got))
		}
	}
	check("nothing wrong", good, true)
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

// TestOpenForeign: a log of a version to come is left as it is, for that version.
func TestOpenForeign(t *testing.T) {
	good := frame(samples[0])
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
		{"a record that is not known", slices.Concat(good, frame([]byte("more!"))), true},
		{"the control: a damaged magic", append([]byte("SPE2"), good[4:]...), false},
		{"the control: nothing wrong", good, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, Name)
			if err := ownfile.WriteFile(name, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first gives the directory free
				l, _, _, err := openLog(dir, nil, never)
				if c.want != errors.Is(err, errForeign) || c.want == (err == nil) || c.want && !strings.Contains(err.Error(), "with that version") {
					t.Fatalf("it is opened with %v", err)
				}
				if err := l.Close(); err != nil {
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
	prepare := func() error { prepared++; return nil }
	open := func() *Log {
		l, _, _, err := openLog(dir, prepare, never)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first, second, third := open(), open(), open()
	if left, _ := os.ReadDir(top); len(left) != 0 || prepared != 0 {
		t.Fatalf("opening made %v", left)
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Append("x", samples[0]); err != nil || prepared != 1 {
		t.Fatalf("first record: %v, prepared %d times", err, prepared)
	}
	if _, err := second.Append("x", []byte("{}")); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("second writer: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Append("x", []byte("{}")); !errors.Is(err, ErrOthers) {
		t.Errorf("second writer, later: %v", err)
	}
	refused := errors.New("not here")
	l, _, _, err := openLog(filepath.Join(top, "b"), func() error { return refused }, never)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append("x", []byte("{}")); !errors.Is(err, refused) {
		t.Errorf("a refusal: %v", err)
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	l, _, _, err := openLog(dir, nil, never)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := openLog(dir, nil, never); !errors.Is(err, filelock.ErrLocked) || !strings.Contains(err.Error(), "process "+strings.TrimSpace(readFile(t, filepath.Join(dir, LockName)))) {
		t.Errorf("second opener: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, _, _, err = openLog(dir, nil, never)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
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
	for _, name := range []string{Name, LockName, ""} {
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
		if l, _, _, err := openLog(state, nil, never); err == nil {
			l.Close()
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
			l, _, _, err := openLog(dir, nil, func(p string) error {
				if armed && p == point {
					return failed
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			all := samples
			step := func(r []byte) error {
				seq, err := l.Append("x", r)
				if err == nil {
					err = l.Sync("x", seq)
				}
				return err
			}
			if err := step(all[0]); err != nil {
				t.Fatal(err)
			}
			armed = true
			if strings.HasPrefix(point, "compact") {
				err = l.Rewrite([][]byte{all[0]})
			} else {
				err = step(all[1])
			}
			if !errors.Is(err, failed) {
				t.Fatalf("error %v, want %v", err, failed)
			}
			armed = false
			want := [][]byte{all[0], all[2]}
			if l.IsBroken() {
				if err := l.Rewrite([][]byte{all[0]}); err != nil {
					t.Fatal(err)
				}
			}
			if err := step(all[2]); err != nil {
				t.Fatal(err)
			}
			l.Close()
			l, got, reports, err := openLog(dir, nil, never)
			if err != nil || reports != nil {
				t.Fatal(err, reports)
			}
			defer l.Close()
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
