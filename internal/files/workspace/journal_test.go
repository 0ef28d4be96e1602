package workspace

import (
	"bytes"
	"errors"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// interrupted leaves a batch of five files with its journal, as a crash in the
// middle does.
func interrupted(t testing.TB) (dir, state, journal string) {
	t.Helper()
	changes, files, _ := batch(5)
	d, dir := openTest(t, DiskOptions{}, files)
	linkBatch(t, dir)
	plan, err := d.plan(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	state = t.TempDir()
	d.opts.StateDir = state
	j, err := d.writeJournal(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	j.disown() // as a crash does
	if err := d.stage(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	var dirs dirCache
	defer dirs.close()
	for _, e := range plan.entries[:2] {
		if err := d.install(t.Context(), &dirs, e, e.new, true); err != nil {
			t.Fatal(err)
		}
	}
	return dir, state, j.path
}

func reopen(t testing.TB, dir, state string) *Disk {
	t.Helper()
	d, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestRecover(t *testing.T) {
	dir, state, _ := interrupted(t)
	writeFiles(t, state, map[string]string{"apply-left.tmp": "half a jour", "other.file": "not ours"})
	report, err := reopen(t, dir, state).Recover(t.Context())
	_, _, after := batch(5)
	finished := 11
	if keepsExec {
		finished = 14 // with links
	}
	if err != nil || len(report.Finished) != finished || len(report.Conflicts)+len(report.Kept) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if diff := cmp.Diff(after, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"other.file": "not ours"}, tree(t, state)); diff != "" {
		t.Error(diff)
	}
	if report, err := reopen(t, dir, state).Recover(t.Context()); err != nil || !cmp.Equal(report, RecoverReport{}) {
		t.Errorf("again: %+v, %v", report, err)
	}
}

// TestRecoverConflict changes a file after the crash: nothing is touched, both
// versions are kept.
func TestRecoverConflict(t *testing.T) {
	dir, state, journal := interrupted(t)
	writeFiles(t, dir, map[string]string{"d1/f4": "theirs"})
	want := tree(t, dir)
	maps.DeleteFunc(want, func(name, _ string) bool { return strings.HasSuffix(name, ".tmp") })
	report, err := reopen(t, dir, state).Recover(t.Context())
	if diff := cmp.Diff(RecoverReport{Conflicts: []string{"d1/f4"}, Kept: []string{journal + ".conflict"}}, report); diff != "" || err != nil {
		t.Errorf("%v, report:\n%s", err, diff)
	}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	data, err := os.ReadFile(journal + ".conflict")
	if err != nil || !bytes.Contains(data, []byte("new 4")) {
		t.Errorf("the new text is lost: %v", err)
	}
}

// TestRecoverTorn leaves a file with two names half written.
func TestRecoverTorn(t *testing.T) {
	if !keepsExec {
		needs.Skip(t, needs.Mounts, "no file is written in place here")
	}
	for name, torn := range map[string]string{
		"first bytes": "longt", "overwritten": "longe", "all but the end": "longer than befo", "not reached the disk": "\x00\x00\x00\x00\x00\x00", "cut": "",
	} {
		dir, state, _ := interrupted(t)
		if err := ownfile.WriteFile(filepath.Join(dir, "linked"), []byte(torn), 0o644); err != nil {
			t.Fatal(err)
		}
		report, err := reopen(t, dir, state).Recover(t.Context())
		if err != nil || len(report.Conflicts) > 0 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		if got := tree(t, dir); got["linked"] != "x longer than before" || got["linked2"] != got["linked"] {
			t.Errorf("%s: %q, %q", name, got["linked"], got["linked2"])
		}
	}
}

// TestJournalDamage changes every byte and cuts at every place.
func TestJournalDamage(t *testing.T) {
	changes := []Change{{Path: "a", Before: text("old a"), After: text("new a")}, {Path: "b/c", After: text("new c")}}
	d, _ := openTest(t, DiskOptions{}, map[string]string{"a": "old a"})
	plan, err := d.plan(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := encodeJournal(&buf, plan); err != nil {
		t.Fatal(err)
	}
	whole := buf.Bytes()
	if _, err := decodeJournal(whole); err != nil {
		t.Fatal("control: ", err)
	}
	tried := 0
	check := func(what string, at int, data []byte) {
		if _, err := decodeJournal(data); !errors.Is(err, errDamaged) {
			t.Errorf("%s at %d: %v", what, at, err)
		}
		tried++
	}
	for i := range whole {
		check("cut", i, whole[:i])
		for _, flip := range []byte{1, 0x20, 0x80, 0xff} {
			data := bytes.Clone(whole)
			data[i] ^= flip
			check("flip", i, data)
		}
		check("byte lost", i, append(bytes.Clone(whole[:i]), whole[i+1:]...))
	}
	check("byte more", len(whole), append(bytes.Clone(whole), 'x'))
	t.Logf("%d damaged journals", tried)

	dir, state, journal := interrupted(t)
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := ownfile.WriteFile(journal, data, 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	report, err := reopen(t, dir, state).Recover(t.Context())
	if err != nil || !cmp.Equal(report, RecoverReport{Kept: []string{journal + ".damaged"}}) {
		t.Errorf("%+v, %v", report, err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("a damaged journal was applied:\n%s", diff)
	}
}

func FuzzDecodeJournal(f *testing.F) {
	f.Add([]byte("SCJ1 0 00000000\n"))
	f.Add([]byte("SCJ1 10 00000000\n00000002{}"))
	d, _ := openTest(f, DiskOptions{}, map[string]string{"a": "old"})
	if plan, err := d.plan(f.Context(), []Change{{Path: "a", Before: text("old"), After: text("new")}}); err == nil {
		var buf bytes.Buffer
		encodeJournal(&buf, plan)
		f.Add(buf.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := decodeJournal(data)
		if err != nil && !errors.Is(err, errDamaged) {
			t.Errorf("error %v", err)
		}
		if err == nil && len(j.texts) != 2*len(j.Entries) {
			t.Errorf("%d texts of %d entries", len(j.texts), len(j.Entries))
		}
		// The same bytes with a checksum that fits.
		if _, body, ok := bytes.Cut(data, []byte("\n")); ok {
			crc := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
			decodeJournal(append([]byte(journalLine(len(body), crc)+"\n"), body...))
		}
	})
}

// TestRecoverLeavesLivingBatchesAlone: a second server that starts while a
// first one applies a batch must not finish it for the first one.
func TestRecoverLeavesLivingBatchesAlone(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	second, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	looked := false
	first, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{StateDir: state, Fail: func(point string) error {
		if point == "before file.check" && !looked {
			looked = true
			report, err := second.Recover(t.Context())
			if err != nil || len(report.Finished) > 0 {
				t.Errorf("the second server: %+v, %v", report, err)
			}
			if data, _ := os.ReadFile(filepath.Join(dir, "b")); string(data) != "old" {
				t.Errorf("b = %q", data)
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	err = first.Apply(t.Context(), Change{Path: "a", Before: []byte("old"), After: []byte("new")}, Change{Path: "b", Before: []byte("old"), After: []byte("new")})
	if err != nil || !looked {
		t.Fatalf("apply: %v, looked %v", err, looked)
	}
}
