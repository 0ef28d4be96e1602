package checkpoint_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/checkpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/folded"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// house is a directory whose changes are noted.
type house struct {
	*testing.T
	dir  string
	disk *workspace.Disk
	path string // of the log
	log  *checkpoint.Log
	at   int64 // the latest event
}

func newHouse(t *testing.T, files map[string]string) *house {
	t.Helper()
	return newHouseIn(t, t.TempDir(), files)
}

func newHouseIn(t *testing.T, dir string, files map[string]string) *house {
	t.Helper()
	h := &house{T: t, dir: dir, path: filepath.Join(t.TempDir(), "run.before")}
	for name, text := range files {
		h.person(name, text)
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "main", Dir: h.dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = disk.Close() })
	h.disk = disk
	h.reopen()
	return h
}

func (h *house) reopen() {
	h.log = checkpoint.Open(h.path)
	h.Cleanup(func() { _ = h.log.Close() })
}

// person writes a file as somebody who is not noted.
func (h *house) person(name, text string) {
	h.Helper()
	path := filepath.Join(h.dir, name)
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(path), 0o755), ownfile.WriteFile(path, []byte(text), 0o644)); err != nil {
		h.Fatal(err)
	}
}

// view is the files, whose changes are noted after the next event.
func (h *house) view() workspace.View {
	h.at++
	at := h.at
	return checkpoint.Noted{View: h.disk, Making: func(files workspace.Files, changes []workspace.Change) error {
		return h.log.Add(at, files, changes)
	}}
}

// agent makes a change and returns the event before it.
func (h *house) agent(changes ...workspace.Change) (at int64) {
	h.Helper()
	at = h.at
	if err := h.view().Apply(h.Context(), changes...); err != nil {
		h.Fatal(err)
	}
	return at
}

// edit is the change of a file, as it is now, to a text.
func (h *house) edit(name, text string) (at int64) {
	h.Helper()
	before, err := os.ReadFile(filepath.Join(h.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		before = nil
	} else if before == nil {
		before = []byte{}
	}
	return h.agent(workspace.Change{Path: name, Before: before, After: []byte(text)})
}

// back takes back what was changed after an event.
func (h *house) back(at int64) (files []string, left []checkpoint.Left) {
	h.Helper()
	changes, err := h.log.After(at)
	if err != nil {
		h.Fatal(err)
	}
	files, left, err = checkpoint.Back(h.Context(), h.view(), changes)
	if err != nil {
		h.Fatal(err)
	}
	return files, left
}

// has checks all files: their texts, a link as "-> target", what can be executed with "x " before it.
func (h *house) has(want map[string]string) {
	h.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(h.dir, path)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			got[name] = "-> " + target
			return err
		}
		data, err := os.ReadFile(path)
		got[name] = string(data)
		if info, _ := d.Info(); info != nil && info.Mode()&0o100 != 0 {
			got[name] = "x " + got[name]
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	for name := range want {
		if got[name] != want[name] {
			h.Errorf("%s is %q, want %q", name, got[name], want[name])
		}
		delete(got, name)
	}
	if len(got) > 0 {
		h.Errorf("there is also %q", got)
	}
}

// TestBack: every kind of change is taken back, that is taken back again, and so on.
func TestBack(t *testing.T) {
	first := map[string]string{"edited": "1\n", "deleted": "2\n", "moved": "3\n", "empty": "", "kept": "k\n"}
	h := newHouse(t, first)
	if err := ownfile.Symlink("kept", filepath.Join(h.dir, "link")); err != nil {
		needs.Skip(t, needs.Links, err)
	}
	if err := ownfile.Chmod(filepath.Join(h.dir, "deleted"), 0o755); err != nil {
		t.Fatal(err)
	}
	first["link"], first["deleted"] = "-> kept", "x 2\n"

	start := h.edit("edited", "1\none\n")
	h.edit("edited", "1\none\nmore\n")
	h.edit("dir/created", "new\n")
	h.edit("dir/created", "newer\n")
	h.agent(
		workspace.Change{Path: "deleted", Before: []byte("2\n")},
		workspace.Change{Path: "link", Before: []byte("kept"), BeforeLink: true, After: []byte("edited"), AfterLink: true},
		workspace.Change{Path: "new link", After: []byte("kept"), AfterLink: true},
	)
	h.agent(workspace.Change{Path: "there", From: "moved", Before: []byte("3\n"), After: []byte("3\nthree\n")})
	middle := h.agent(workspace.Change{Path: "empty", Before: []byte{}})
	h.agent(workspace.Change{Path: "kept", Before: []byte("k\n"), After: []byte("k\n"), Mode: 0o755})
	last := map[string]string{"edited": "1\none\nmore\n", "dir/created": "newer\n", "link": "-> edited", "new link": "-> kept", "there": "3\nthree\n", "kept": "x k\n"}
	h.has(last)

	h.reopen() // it is all in the file
	undo := h.at
	if files, left := h.back(middle); !slices.Equal(files, []string{"empty", "kept"}) || left != nil {
		t.Errorf("changed back: %q; left: %v", files, left)
	}
	delete(last, "kept")
	last["empty"], last["kept"] = "", "k\n"
	h.has(last)
	if _, left := h.back(start); left != nil {
		t.Errorf("left: %v", left)
	}
	h.has(first)
	if _, left := h.back(undo); left != nil {
		t.Errorf("left: %v", left)
	}
	last["kept"] = "x k\n"
	delete(last, "empty")
	h.has(last)
	if files, left := h.back(h.at); files != nil || left != nil {
		t.Errorf("nothing was changed, and back are %q, left %v", files, left)
	}
}

// TestBackToAnotherSpelling takes a rename back that changed the spelling alone.
func TestBackToAnotherSpelling(t *testing.T) {
	h := newHouseIn(t, folded.Dir(t), map[string]string{"a.go": "1\n"})
	listed := func(want string) {
		t.Helper()
		entries, err := os.ReadDir(h.dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != want {
			t.Errorf("there is no %s: %v, %v", want, entries, err)
		}
	}
	start := h.agent(workspace.Change{Path: "A.go", From: "a.go", Before: []byte("1\n"), After: []byte("2\n")})
	listed("A.go")
	undo := h.at
	for _, c := range []struct {
		to   int64
		name string
	}{{start, "a.go"}, {undo, "A.go"}, {start, "a.go"}} {
		if _, left := h.back(c.to); left != nil {
			t.Errorf("left: %v", left)
		}
		listed(c.name)
	}
}

// TestBackBesideOthers: what others changed meanwhile stays.
func TestBackBesideOthers(t *testing.T) {
	lines := "a\nb\nc\nd\ne\nf\ng\nh\n"
	h := newHouse(t, map[string]string{"apart": lines, "same": lines, "gone": lines, "moved": lines, "moved on": lines, "taken": lines, "bytes": "\x00a", "mine": "mine\n"})
	start := h.edit("apart", strings.Replace(lines, "b", "B", 1))
	h.edit("same", strings.Replace(lines, "a", "A", 1))
	h.edit("same", strings.Replace(lines, "c", "C", 1))
	h.edit("gone", "short\n")
	h.edit("bytes", "\x00b")
	h.edit("created", "made\n")
	h.edit("made and gone", "made\n")
	h.agent(workspace.Change{Path: "away", From: "moved", Before: []byte(lines), After: []byte(lines)})
	h.agent(workspace.Change{Path: "further", From: "moved on", Before: []byte(lines), After: []byte(lines)})
	h.agent(workspace.Change{Path: "other", From: "taken", Before: []byte(lines), After: []byte(lines)})

	h.person("apart", strings.Replace(strings.Replace(lines, "b", "B", 1), "g", "person", 1))
	h.person("same", strings.Replace(lines, "c", "person", 1))
	h.person("bytes", "\x00person")
	h.person("created", "made\nperson\n")
	h.person("away", strings.Replace(lines, "d", "person", 1))
	h.person("taken", "person\n")
	h.person("mine", "person\n")
	for _, name := range []string{"gone", "made and gone", "further"} {
		if err := ownfile.Remove(filepath.Join(h.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	files, left := h.back(start)
	if want := []string{"apart", "moved"}; !slices.Equal(files, want) {
		t.Errorf("changed back: %q, want %q", files, want)
	}
	why := map[string]string{}
	for _, l := range left {
		why[l.Path] = l.Why
	}
	for name, want := range map[string]string{
		"same": "same places", "bytes": "same places", "created": "same places", "gone": "deleted or moved",
		"further": "deleted or moved", "other": "another file is at taken",
	} {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s is left because %q, want %q", name, why[name], want)
		}
		delete(why, name)
	}
	if len(why) > 0 {
		t.Errorf("left are also %q", why)
	}
	h.has(map[string]string{
		"apart": strings.Replace(lines, "g", "person", 1), "same": strings.Replace(lines, "c", "person", 1),
		"bytes": "\x00person", "created": "made\nperson\n", "moved": strings.Replace(lines, "d", "person", 1),
		"other": lines, "taken": "person\n", "mine": "person\n",
	})
}

// TestNotMade: a change that was noted and then not made is not taken back.
func TestNotMade(t *testing.T) {
	h := newHouse(t, map[string]string{"a": "a\n", "b": "b\n"})
	err := h.view().Apply(t.Context(),
		workspace.Change{Path: "a", Before: []byte("wrong"), After: []byte("x")},
		workspace.Change{Path: "b", Before: []byte("b\n")},
		workspace.Change{Path: "c", After: []byte("c")})
	if !errors.Is(err, workspace.ErrConflict) {
		t.Fatalf("it was made: %v", err)
	}
	if files, _ := h.back(0); files != nil {
		t.Errorf("changed back: %q", files)
	}
	h.has(map[string]string{"a": "a\n", "b": "b\n"})
}

// TestTooLong: of a text that is too long for the log, it is said that it can't be taken back.
func TestTooLong(t *testing.T) {
	h := newHouse(t, map[string]string{"long": strings.Repeat("x\n", 3<<20), "short": "s\n"})
	h.edit("long", "cut\n")
	h.edit("short", "t\n")
	files, left := h.back(0)
	if !slices.Equal(files, []string{"short"}) || len(left) != 1 || left[0].Path != "long" || !strings.Contains(left[0].Why, "too long") {
		t.Errorf("changed back: %q; left: %v", files, left)
	}
	h.has(map[string]string{"long": "cut\n", "short": "s\n"})
}

// TestTorn: a line that was not written whole is no line; the next one comes where it began.
func TestTorn(t *testing.T) {
	h := newHouse(t, map[string]string{"a": "1\n"})
	h.edit("a", "2\n")
	whole, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	h.edit("a", "3\n")
	all, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(whole); cut < len(all); cut += 7 {
		if err := errors.Join(h.log.Close(), ownfile.WriteFile(h.path, all[:cut], 0o600)); err != nil {
			t.Fatal(err)
		}
		h.person("a", "2\n")
		h.reopen()
		h.edit("a", "4\n")
		changes, err := h.log.After(0)
		if err != nil || len(changes) != 2 || string(changes[0].Before) != "1\n" || string(changes[1].After) != "4\n" {
			t.Fatalf("cut at %d: %v %v", cut, changes, err)
		}
	}
}

// TestDamaged: a damaged log is said to be one; nothing is changed by it, and it is kept.
func TestDamaged(t *testing.T) {
	h := newHouse(t, map[string]string{"a": "1\n"})
	h.edit("a", "2\n")
	data, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	data[1] = 0
	if err := errors.Join(h.log.Close(), ownfile.WriteFile(h.path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.log.After(0); err == nil || !strings.Contains(err.Error(), "damaged in line 1") {
		t.Errorf("it is read: %v", err)
	}
	if err := h.view().Apply(t.Context(), workspace.Change{Path: "a", Before: []byte("2\n"), After: []byte("3\n")}); err == nil {
		t.Error("a change that can't be noted was made")
	}
	h.has(map[string]string{"a": "2\n"})
	if now, err := os.ReadFile(h.path); err != nil || string(now) != string(data) {
		t.Errorf("it has changed: %v", err)
	}
}
