package workspace

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

// openTest opens a disk on a new directory with the given files.
func openTest(t testing.TB, opts DiskOptions, files map[string]string) (*Disk, string) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, files)
	d, err := OpenDisk([]Folder{{Dir: dir}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, dir
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// execMark is before the text of what can be executed, where files have such bits.
var execMark = map[bool]string{true: "x "}[keepsExec]

// tree reads everything below dir; directories end in a slash, links show
// their target, and what can be executed has execMark before its text.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		switch {
		case rel == ".":
		case e.IsDir():
			out[rel+"/"] = ""
		case e.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			out[rel] = "-> " + target
		default:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[rel] = string(data)
			if info, err := e.Info(); err == nil && IsExec(info.Mode()) {
				out[rel] = execMark + out[rel]
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func text(s string) []byte { return []byte(s) }

func TestApply(t *testing.T) {
	for _, test := range []struct {
		name    string
		files   map[string]string
		links   map[string]string
		changes []Change
		want    map[string]string // nil: as before
		err     error
	}{
		{
			name:    "modify",
			files:   map[string]string{"a": "old"},
			changes: []Change{{Path: "a", Before: text("old"), After: text("new")}},
			want:    map[string]string{"a": "new"},
		}, {
			name:    "create with its directories",
			changes: []Change{{Path: "x/y/a", After: text("new")}, {Path: "x/b", After: text("")}},
			want:    map[string]string{"x/": "", "x/y/": "", "x/y/a": "new", "x/b": ""},
		}, {
			name:    "delete",
			files:   map[string]string{"a": "old", "b": "b"},
			changes: []Change{{Path: "a", Before: text("old")}},
			want:    map[string]string{"b": "b"},
		}, {
			name:    "empty a file",
			files:   map[string]string{"a": "old"},
			changes: []Change{{Path: "a", Before: text("old"), After: text("")}},
			want:    map[string]string{"a": ""},
		}, {
			name:    "move and change",
			files:   map[string]string{"a": "old"},
			changes: []Change{{From: "a", Path: "d/b", Before: text("old"), After: text("new")}},
			want:    map[string]string{"d/": "", "d/b": "new"},
		}, {
			name:    "move as it is",
			files:   map[string]string{"a": "old"},
			changes: []Change{{From: "a", Path: "b", Before: text("old")}},
			want:    map[string]string{"b": "old"},
		}, {
			name:  "swap two files",
			files: map[string]string{"a": "A", "b": "B"},
			changes: []Change{
				{From: "a", Path: "t", Before: text("A")}, {From: "b", Path: "a", Before: text("B")}, {From: "t", Path: "b", Before: text("A")},
			},
			want: map[string]string{"a": "B", "b": "A"},
		}, {
			name:  "move away and put a new file in its place",
			files: map[string]string{"a": "A"},
			changes: []Change{
				{From: "a", Path: "b", Before: text("A")}, {Path: "a", After: text("new")},
			},
			want: map[string]string{"a": "new", "b": "A"},
		}, {
			name:  "the same file twice",
			files: map[string]string{"a": "1"},
			changes: []Change{
				{Path: "a", Before: text("1"), After: text("2")}, {Path: "a", Before: text("2"), After: text("3")},
			},
			want: map[string]string{"a": "3"},
		}, {
			name:    "another text",
			files:   map[string]string{"a": "theirs", "b": "b"},
			changes: []Change{{Path: "b", Before: text("b"), After: text("new")}, {Path: "a", Before: text("old"), After: text("new")}},
			err:     ErrConflict,
		}, {
			name:    "create what exists",
			files:   map[string]string{"a": ""},
			changes: []Change{{Path: "x/new", After: text("x")}, {Path: "a", After: text("new")}},
			err:     ErrConflict,
		}, {
			name:    "modify what is gone",
			changes: []Change{{Path: "a", Before: text("old"), After: text("new")}},
			err:     ErrConflict,
		}, {
			name:    "delete what is gone",
			changes: []Change{{Path: "a", Before: text("old")}},
			err:     ErrConflict,
		}, {
			name:    "move onto a file",
			files:   map[string]string{"a": "A", "b": "B"},
			changes: []Change{{From: "a", Path: "b", Before: text("A")}},
			err:     ErrConflict,
		}, {
			name:    "a file for a directory",
			files:   map[string]string{"d/a": "A"},
			changes: []Change{{Path: "d", After: text("x")}},
			err:     fs.ErrInvalid, // replaced below: EISDIR has no sentinel
		}, {
			name:    "nothing to do",
			files:   map[string]string{"a": "A"},
			changes: []Change{{Path: "a", Before: text("A"), After: text("A")}},
		}, {
			name:    "through a link",
			files:   map[string]string{"d/a": "old"},
			links:   map[string]string{"link": "d/a", "dir": "d"},
			changes: []Change{{Path: "link", Before: text("old"), After: text("new")}, {Path: "dir/b", After: text("b")}},
			want:    map[string]string{"d/": "", "d/a": "new", "d/b": "b", "link": "-> d/a", "dir": "-> d"},
		}, {
			name:    "through a dangling link",
			links:   map[string]string{"link": "d/a"},
			changes: []Change{{Path: "link", After: text("new")}},
			want:    map[string]string{"d/": "", "d/a": "new", "link": "-> d/a"},
		}, {
			name:    "delete a link, not its target",
			files:   map[string]string{"a": "A"},
			links:   map[string]string{"link": "a"},
			changes: []Change{{Path: "link", Before: text("A")}},
			want:    map[string]string{"a": "A"},
		}, {
			name:  "a file becomes a directory",
			files: map[string]string{"t": "T"},
			changes: []Change{
				{Path: "t/a/in", After: text("new")}, {Path: "t", Before: text("T")},
			},
			want: map[string]string{"t/": "", "t/a/": "", "t/a/in": "new"},
		}, {
			name:  "a directory becomes a file",
			files: map[string]string{"d/f": "F", "d/sub/g": "G"},
			changes: []Change{
				{Path: "d", After: text("new")}, {Path: "d/f", Before: text("F")}, {Path: "d/sub/g", Before: text("G")},
			},
			want: map[string]string{"d": "new"},
		}, {
			name:  "a file moves below its own name",
			files: map[string]string{"t": "T"},
			changes: []Change{
				{From: "t", Path: "t/in", Before: text("T"), After: text("T")},
			},
			want: map[string]string{"t/": "", "t/in": "T"},
		}, {
			name:    "move a link, not its target",
			files:   map[string]string{"a": "A"},
			links:   map[string]string{"link": "a"},
			changes: []Change{{From: "link", Path: "b", Before: text("A")}},
			want:    map[string]string{"a": "A", "b": "-> a"},
		}, {
			name:    "move a link and edit what it shows",
			files:   map[string]string{"a": "A"},
			links:   map[string]string{"link": "a"},
			changes: []Change{{From: "link", Path: "b", Before: text("A"), After: text("new")}},
			want:    map[string]string{"a": "new", "b": "-> a"},
		}, {
			name:    "a file in place of a link",
			files:   map[string]string{"a": "A"},
			links:   map[string]string{"link": "a"},
			changes: []Change{{Path: "link", Before: text("A")}, {Path: "link", After: text("new")}},
			want:    map[string]string{"a": "A", "link": "new"},
		}, {
			name:  "make a link, change one, delete one",
			files: map[string]string{"a": "A"},
			links: map[string]string{"link": "a", "gone": "a"},
			changes: []Change{
				{Path: "d/new", After: text("../a"), AfterLink: true},
				{Path: "link", Before: text("a"), BeforeLink: true, After: text("nowhere"), AfterLink: true},
				{Path: "gone", Before: text("a"), BeforeLink: true},
			},
			want: map[string]string{"a": "A", "d/new": "-> ../a", "link": "-> nowhere"},
		}, {
			name:  "a link in place of a file, and a file in place of a link itself",
			files: map[string]string{"a": "A", "b": "B"},
			links: map[string]string{"link": "a"},
			changes: []Change{
				{Path: "b", Before: text("B"), After: text("a"), AfterLink: true},
				{Path: "link", Before: text("a"), BeforeLink: true, After: text("new"), Mode: 0o755},
			},
			want: map[string]string{"a": "A", "b": "-> a", "link": "x new"},
		}, {
			name:  "a link that leads elsewhere by now",
			files: map[string]string{"a": "A"}, links: map[string]string{"link": "a"},
			changes: []Change{{Path: "a", Before: text("A"), After: text("B")}, {Path: "link", Before: text("b"), BeforeLink: true, After: text("c"), AfterLink: true}},
			err:     ErrConflict,
		}, {
			name: "a link where a file is", files: map[string]string{"a": "b"},
			changes: []Change{{Path: "a", Before: text("b"), BeforeLink: true, After: text("c"), AfterLink: true}},
			err:     ErrConflict,
		}, {
			name: "a link over what is there", files: map[string]string{"a": "A"},
			changes: []Change{{Path: "a", After: text("c"), AfterLink: true}},
			err:     ErrConflict,
		}, {
			name: "a link to nothing", changes: []Change{{Path: "a", After: []byte{}, AfterLink: true}},
			err: fs.ErrInvalid,
		}, {
			name: "a link among repository data", changes: []Change{{Path: ".git/hooks/x", After: text("c"), AfterLink: true}},
			err: ErrProtected,
		}, {
			name: "modes", files: map[string]string{"a": "A", "b": "B", "c": "C"},
			changes: []Change{
				{Path: "a", Before: text("A"), After: text("A"), Mode: 0o755},
				{Path: "b", Before: text("B"), After: text("BB"), Mode: 0o755},
				{From: "c", Path: "d", Before: text("C"), After: text("C"), Mode: 0o755},
				{Path: "a", Before: text("A"), After: text("AA")},
			},
			want: map[string]string{"a": execMark + "AA", "b": execMark + "BB", "d": execMark + "C"},
		}, {
			name: "a mode that the file has", files: map[string]string{"a": "A"},
			changes: []Change{{Path: "a", Before: text("A"), After: text("A"), Mode: 0o644}},
		}, {
			name:    "a link to repository data",
			files:   map[string]string{".git/config": "c"},
			links:   map[string]string{"link": ".git"},
			changes: []Change{{Path: "link/hooks/x", After: text("evil")}},
			err:     ErrProtected,
		}, {
			name:    "repository data",
			files:   map[string]string{"sub/.GIT/config": "c"},
			changes: []Change{{Path: "sub/.GIT/config", Before: text("c"), After: text("x")}},
			err:     ErrProtected,
		}, {
			name:    "no change at all",
			changes: []Change{{Path: "a"}},
			err:     fs.ErrInvalid,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := t.TempDir()
			d, dir := openTest(t, DiskOptions{StateDir: state}, test.files)
			for link, target := range test.links {
				symlink.Make(t, target, filepath.Join(dir, link))
			}
			before := tree(t, dir)
			err := d.Apply(t.Context(), test.changes...)
			switch {
			case test.name == "a file for a directory":
				if err == nil {
					t.Error("no error")
				}
			case !errors.Is(err, test.err):
				t.Errorf("error %v, want %v", err, test.err)
			}
			want := test.want
			if want == nil {
				want = before
			}
			for name := range want { // directories of files given by name
				for p := path.Dir(name); p != "."; p = path.Dir(p) {
					want[p+"/"] = ""
				}
			}
			if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if left := tree(t, state); len(left) > 0 {
				t.Errorf("left in the state directory: %v", left)
			}
		})
	}
}

func TestApplyCancelled(t *testing.T) {
	d, dir := openTest(t, DiskOptions{StateDir: t.TempDir()}, map[string]string{"a": "A"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Apply(ctx, Change{Path: "a", Before: text("A"), After: text("B")}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := tree(t, dir)["a"]; got != "A" {
		t.Errorf("the file is %q", got)
	}
}

// TestApplyErrors fails every step once: the files are as before, nothing is
// left behind, and only a batch that did all reports success.
func TestApplyErrors(t *testing.T) {
	slow.Test(t)
	changes, files, after := batch(5)
	points := recordPoints(t, files, changes)
	if len(points) < 40 {
		t.Fatalf("only %d points", len(points))
	}
	broken := errors.New("broken")
	for n, point := range points {
		count, state := 0, t.TempDir()
		d, dir := openTest(t, DiskOptions{StateDir: state, Fail: func(string) error {
			if count++; count == n+1 {
				return broken
			}
			return nil
		}}, files)
		linkBatch(t, dir)
		before := tree(t, dir)
		err := d.Apply(t.Context(), changes...)
		want := before
		if err == nil {
			want = after
			if !strings.Contains(point, "journal") {
				t.Errorf("%d %s: no error", n, point)
			}
		}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("%d %s: error %v, files (-want +got):\n%s", n, point, err, diff)
		}
		left := tree(t, state)
		maps.DeleteFunc(left, func(_, text string) bool { return point == "before journal.remove" && text == "" })
		if len(left) > 0 { // a journal that can't be removed is emptied
			t.Errorf("%d %s: left in the state directory: %v", n, point, left)
		}
	}
	t.Logf("%d points tried", len(points))
}
