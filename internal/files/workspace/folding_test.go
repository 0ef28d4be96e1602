package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/folded"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

var folds = map[string]Folding{"mac": {Case: true, Forms: true}, "mac, case told apart": {Forms: true}, "windows": {Case: true}, "linux": {}}

func TestFoldingKey(t *testing.T) {
	for _, c := range []struct {
		a, b string
		on   string // the systems on which the two are one
	}{
		{"a.go", "a.go", "mac, mac case told apart, windows, linux"},
		{"a.go", "A.GO", "mac windows"},
		{"Straße/É.go", "straße/é.go", "mac windows"},
		{"é.go", "e\u0301.go", "mac told"},
		{"É.go", "e\u0301.go", "mac"},
		{"straße", "STRASSE", "mac"},
		{"ﬁle", "FILE", "mac"},
		{"\u212aey", "key", "mac"}, // the sign of kelvin
		{"ſet", "set", "mac"},
		{"ΣΑΣ", "σας", "mac windows"},
		{"a b", "a_b", ""},
		{"a.go", "a.g", ""},
		{"ı", "i", ""}, // no file system takes the letter without a dot for i
	} {
		for system, f := range folds {
			key := strings.Fields(system)
			want := c.a == c.b || strings.Contains(c.on, key[len(key)-1]) || system == "mac" && strings.Contains(c.on, "mac")
			if system == "mac, case told apart" {
				want = c.a == c.b || strings.Contains(c.on, "told")
			}
			if got := f.Same(c.a, c.b); got != want {
				t.Errorf("%s: %q and %q are one: %v, want %v (%q, %q)", system, c.a, c.b, got, want, f.Key(c.a), f.Key(c.b))
			}
		}
	}
}

func TestSpelled(t *testing.T) {
	names := []string{"New/Deep/x.go", "a.go", "b.go", "B.go", "new.txt"}
	gone := func(name string) bool { return name == "b.go" }
	for _, c := range []struct{ name, want, exact string }{
		{"A.go", "a.go", "A.go"},
		{"a.go", "a.go", "a.go"},
		{"new/deep/X.GO", "New/Deep/x.go", "new/deep/X.GO"},
		{"new/deep/y.go", "New/Deep/y.go", "new/deep/y.go"},
		{"new/other/y.go", "New/other/y.go", "new/other/y.go"},
		{"NEW.TXT", "new.txt", "NEW.TXT"},
		{"newer/x", "newer/x", "newer/x"},
		{"b.go", "B.go", "b.go"}, // it is called so from now on
		{"B.GO", "B.go", "B.GO"},
		{"new", "New", "new"},
		{"c", "c", "c"},
	} {
		if got := Spelled(c.name, names, gone, Folding{Case: true}); got != c.want {
			t.Errorf("%s is %s, want %s", c.name, got, c.want)
		}
		if got := Spelled(c.name, names, gone, Folding{}); got != c.exact {
			t.Errorf("where names are exact, %s is %s", c.name, got)
		}
	}
}

// foldingDisk opens files on a file system that does as f says.
func foldingDisk(t *testing.T, f Folding, files map[string]string) (*Disk, string) {
	t.Helper()
	return openTest(t, DiskOptions{StateDir: t.TempDir(), Folding: pretend(f)}, files)
}

func TestResolveSpelling(t *testing.T) {
	files := map[string]string{"Dir/a.go": "a", "É.txt": "e", "Both/x": "x"}
	for _, c := range []struct{ given, mac, windows string }{
		{"Dir/a.go", "Dir/a.go", "Dir/a.go"},
		{"dir/A.GO", "Dir/a.go", "Dir/a.go"},
		{"dir/new/B.go", "Dir/new/B.go", "Dir/new/B.go"},
		{"DIR", "Dir", "Dir"},
		{"e\u0301.TXT", "É.txt", "e\u0301.TXT"},
		{"é.txt", "É.txt", "É.txt"},
		{"none/A", "none/A", "none/A"},
	} {
		for system, want := range map[string]string{"mac": c.mac, "windows": c.windows, "linux": c.given} {
			d, _ := foldingDisk(t, folds[system], files)
			if got, err := d.Resolve(c.given); err != nil || got != want {
				t.Errorf("%s: %q resolves to %q, %v; want %q", system, c.given, got, err, want)
			}
			if got, err := d.RealName(c.given); err != nil || got != want {
				t.Errorf("%s: %q is really %q, %v; want %q", system, c.given, got, err, want)
			}
		}
	}
}

// TestSpellingFollowsTheDisk renames a file behind the back of what is remembered.
func TestSpellingFollowsTheDisk(t *testing.T) {
	d, dir := foldingDisk(t, Folding{Case: true}, map[string]string{"a.go": "a"})
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{"a.go", "A.go", "b.go"} {
		if name != "a.go" {
			was, _ := d.Resolve("A.GO")
			for _, r := range [][2]string{{was, "between"}, {"between", name}} { // to another spelling at once does not always do it
				if err := ownfile.Rename(filepath.Join(dir, r[0]), filepath.Join(dir, r[1])); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := ownfile.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
		long = long.Add(time.Minute) // it is another directory by its time
		want := name
		if name == "b.go" {
			want = "A.GO"
		}
		for range 2 {
			if got, err := d.Resolve("A.GO"); err != nil || got != want {
				t.Errorf("it resolves to %q, %v; want %q", got, err, want)
			}
		}
	}
}

// TestSpellingAfterApply is on a volume whose directories keep their time.
func TestSpellingAfterApply(t *testing.T) {
	d, dir := foldingDisk(t, Folding{Case: true}, map[string]string{"a.go": "old"})
	long := time.Now().Add(-time.Hour)
	for _, want := range []string{"a.go", "A.go", "a.GO"} {
		if want != "a.go" {
			was, _ := d.Resolve("A.GO")
			if err := d.Apply(t.Context(), Change{From: was, Path: want, Before: text("old"), After: text("old")}); err != nil {
				t.Fatal(err)
			}
		}
		if err := ownfile.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Resolve("A.GO"); err != nil || got != want {
			t.Errorf("it resolves to %q, %v; want %q", got, err, want)
		}
	}
}

func TestOverlaySpelling(t *testing.T) {
	for _, exact := range []bool{false, true} {
		d, _ := foldingDisk(t, Folding{Case: !exact}, map[string]string{"a.go": "old", "b.go": "b", "Dir/x": "x"})
		layer := texts{"a.go": text("unsaved"), "New/n.go": text("new"), "b.go": nil, "B.go": text("renamed")}
		o := NewOverlay(d, layer)
		for _, c := range []struct{ given, want, data string }{
			{"a.go", "a.go", "unsaved"},
			{"A.GO", "a.go", "unsaved"},
			{"new/N.go", "New/n.go", "new"},
			{"b.go", "B.go", "renamed"},
			{"B.GO", "B.go", "renamed"},
			{"dir/X", "Dir/x", "x"},
		} {
			name, err := o.Resolve(c.given)
			if exact {
				if name != c.given {
					t.Errorf("where names are exact, %s resolves to %s", c.given, name)
				}
				continue
			}
			if err != nil || name != c.want {
				t.Errorf("%s resolves to %s, %v; want %s", c.given, name, err, c.want)
			}
			for _, n := range []string{c.given, name} {
				if real, err := o.RealName(n); err != nil || real != c.want {
					t.Errorf("%s is really %s, %v; want %s", n, real, err, c.want)
				}
			}
			if data, err := o.ReadFile(c.given); c.data != "x" && (err != nil || string(data) != c.data) {
				t.Errorf("%s reads as %q, %v", c.given, data, err)
			}
		}
		if exact {
			if data, _ := o.ReadFile("b.go"); data != nil {
				t.Errorf("the old name reads as %q", data)
			}
			if _, err := o.ReadFile("A.GO"); !errors.Is(err, fs.ErrNotExist) && !folded.Is(t, t.TempDir()) {
				t.Errorf("another file: %v", err)
			}
		}
	}
}

// TestRespell renames files by their spelling alone.
func TestRespell(t *testing.T) {
	for name, changes := range map[string][]Change{
		"alone":       {{From: "a.go", Path: "A.go", Before: text("old"), After: text("old")}},
		"with a text": {{From: "a.go", Path: "A.go", Before: text("old"), After: text("new")}},
		"and edited":  {{From: "a.go", Path: "A.go", Before: text("old"), After: text("old")}, {Path: "A.go", Before: text("old"), After: text("new")}},
		"twice":       {{From: "a.go", Path: "A.go", Before: text("old"), After: text("old")}, {From: "A.go", Path: "a.GO", Before: text("old"), After: text("new")}},
		"as it is":    {{From: "a.go", Path: "A.go", Before: text("old"), After: text("old")}, {From: "A.go", Path: "a.go", Before: text("old"), After: text("old")}},
		"made":        {{Path: "n.go", After: text("n")}, {From: "n.go", Path: "N.go", Before: text("n"), After: text("n")}},
	} {
		want := map[string]map[string]string{
			"alone": {"A.go": "old"}, "with a text": {"A.go": "new"}, "and edited": {"A.go": "new"}, "twice": {"a.GO": "new"},
			"as it is": {"a.go": "old"}, "made": {"a.go": "old", "N.go": "n"},
		}[name]
		t.Run(name, func(t *testing.T) {
			d, dir := foldingDisk(t, Folding{Case: true}, map[string]string{"a.go": "old"})
			if err := d.Apply(t.Context(), changes...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("one file made twice", func(t *testing.T) {
		twice := []Change{{Path: "n.go", After: text("1")}, {Path: "N.go", After: text("2")}}
		d, _ := foldingDisk(t, Folding{Case: true}, nil)
		if err := d.Apply(t.Context(), twice...); !errors.Is(err, ErrConflict) {
			t.Errorf("error %v", err)
		}
		if runtime.GOOS != "linux" {
			needs.Skip(t, needs.ExactNames, "names are not exact here")
		}
		d, dir := foldingDisk(t, Folding{}, nil)
		if err := d.Apply(t.Context(), twice...); err != nil || len(tree(t, dir)) != 2 {
			t.Errorf("control: %v, %v", err, tree(t, dir))
		}
	})
}

// respelling renames a file by its spelling, with n > 0 changes its text, and with
// n > 1 another file.
func respelling(n int) []Change {
	after := "old"
	if n > 0 {
		after = "new"
	}
	changes := []Change{{From: "a.go", Path: "A.go", Before: text("old"), After: text(after)}}
	if n > 1 {
		changes = append(changes, Change{Path: "other", Before: text("x"), After: text("y")})
	}
	return changes
}

// pretend is a file system that does as f says everywhere.
func pretend(f Folding) func(string) Folding { return func(string) Folding { return f } }

// TestRespellCrash kills a process at every step of renaming a file by its spelling,
// and recovers.
func TestRespellCrash(t *testing.T) {
	for n, after := range []string{"old", "new"} {
		for point := 1; ; point++ {
			dir, state := t.TempDir(), t.TempDir()
			writeFiles(t, dir, map[string]string{"a.go": "old", "other": "x"})
			killed := runCrash(t, "respell", n, point, dir, state)
			d, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{StateDir: state, Folding: pretend(Folding{Case: true})})
			if err != nil {
				t.Fatal(err)
			}
			report, err := d.Recover(t.Context())
			d.Close()
			got := tree(t, dir)
			isOld, isNew := cmp.Equal(got, map[string]string{"a.go": "old", "other": "x"}), cmp.Equal(got, map[string]string{"A.go": after, "other": "x"})
			if err != nil || len(report.Conflicts) > 0 || !isNew && (!isOld || !killed) {
				t.Errorf("killed at point %d (%v): %v, %+v, files %v", point, killed, err, report, got)
			}
			if !killed {
				break
			}
		}
	}
}

// TestRespellRecovery recovers in vain where a process was killed, and once more; and
// where somebody has changed the files meanwhile.
func TestRespellRecovery(t *testing.T) {
	recovered := func(dir, state string, fail func(string) error) (RecoverReport, error) {
		d, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{StateDir: state, Folding: pretend(Folding{Case: true}), Fail: fail})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		return d.Recover(t.Context())
	}
	parked := 0 // kills while the file has neither of its names
	for point := 1; ; point++ {
		killed := func() (dir, state string, ok bool) {
			dir, state = t.TempDir(), t.TempDir()
			writeFiles(t, dir, map[string]string{"a.go": "old", "other": "x"})
			return dir, state, runCrash(t, "respell", 2, point, dir, state)
		}
		dir, state, ok := killed()
		if !ok {
			break
		}
		now := tree(t, dir)
		if _, there := now["a.go"]; there {
			if err := ownfile.Remove(filepath.Join(dir, "a.go")); err != nil {
				t.Fatal(err)
			}
			_, err := recovered(dir, state, nil)
			if got := tree(t, dir); err != nil || got["A.go"] != "" || got["a.go"] != "" {
				t.Errorf("killed at point %d, then deleted: %v, files %v", point, err, got)
			}
			continue
		}
		if now["A.go"] != "" {
			continue
		}
		parked++
		writeFiles(t, dir, map[string]string{"other": "theirs"})
		report, err := recovered(dir, state, nil)
		if got := tree(t, dir); err != nil || !cmp.Equal(report.Conflicts, []string{"other"}) || !cmp.Equal(got, map[string]string{"a.go": "new", "other": "theirs"}) {
			t.Errorf("killed at point %d, then changed: %v, %+v, files %v", point, err, report, got)
		}
		for n, at := 1, "x"; at != ""; n++ {
			dir, state, _ := killed()
			count := 0
			at = ""
			_, err := recovered(dir, state, func(p string) error {
				if count++; count < n {
					return nil
				}
				at = p
				return errors.New("planned")
			})
			report, again := recovered(dir, state, nil)
			if got := tree(t, dir); again != nil || len(report.Conflicts) > 0 || !cmp.Equal(got, map[string]string{"A.go": "new", "other": "y"}) {
				t.Errorf("killed at point %d, recovering failed at %q (%v): %v, %+v, files %v", point, at, err, again, report, got)
			}
		}
	}
	if parked == 0 {
		t.Error("nothing was killed while names were exchanged")
	}
}

// TestRespellFails makes every step fail: the file has its old name and text again.
func TestRespellFails(t *testing.T) {
	change := Change{From: "a.go", Path: "A.go", Before: text("old"), After: text("new")}
	for n := 0; ; n++ {
		count, at := 0, ""
		fail := func(point string) error {
			if count++; count == n+1 {
				at = point
				return errors.New("planned")
			}
			return nil
		}
		d, dir := openTest(t, DiskOptions{StateDir: t.TempDir(), Fail: fail, Folding: pretend(Folding{Case: true})}, map[string]string{"a.go": "old"})
		err := d.Apply(t.Context(), change)
		if at == "" {
			return
		}
		got := tree(t, dir)
		if err == nil && got["A.go"] != "new" || err != nil && !cmp.Equal(got, map[string]string{"a.go": "old"}) {
			t.Errorf("failing %s: %v, files %v", at, err, got)
		}
	}
}

// TestTriedOut opens a disk on what this system has.
func TestTriedOut(t *testing.T) {
	d, dir := openTest(t, DiskOptions{}, map[string]string{"Dir/a.go": "a"})
	_, err := os.Lstat(filepath.Join(dir, "DIR"))
	if got := d.Folding("."); got.Case != (err == nil) {
		t.Errorf("it is said that %+v, and DIR: %v", got, err)
	}
	if runtime.GOOS == "linux" && err != nil && !d.folders[0].spelled.exact.Load() {
		t.Error("the root is looked at more than once")
	}
	// A file that is gone since it was listed tells nothing.
	if leads, certain := d.folders[0].spelled.leads(".", "GONE", "gone"); leads || certain {
		t.Error("a file that is gone decides")
	}
}

// TestTriedOutByPairs opens a directory of a Mac whose volume tells letter case apart:
// that it has a name in both cases tells.
func TestTriedOutByPairs(t *testing.T) {
	d, dir := openTest(t, DiskOptions{}, map[string]string{"README": "1", "readme": "22"})
	if len(tree(t, dir)) < 2 {
		needs.Skip(t, needs.FoldedNames, "letter case makes no difference here")
	}
	s := &spellings{root: d.folders[0].root, system: "darwin"}
	if got := s.at("."); got.Case {
		t.Errorf("README and readme are one: %+v", got)
	}
	if err := ownfile.Rename(filepath.Join(dir, "readme"), filepath.Join(dir, "1")); err != nil {
		t.Fatal(err)
	}
	if _, certain := s.tells(".", "readme", "README", []string{"readme"}); certain {
		t.Error("a file that is gone decides")
	}
}

// TestNestedRoots finds a root by a path that does not begin as its own does.
func TestNestedRoots(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"outer/inner/a.go": "a", "outer/b.go": "b"})
	symlink.Make(t, "outer", filepath.Join(dir, "other"))
	folders := []Folder{{Name: "outer", Dir: filepath.Join(dir, "outer")}, {Name: "inner", Dir: filepath.Join(dir, "outer", "inner")}}
	d, err := OpenDisk(folders, DiskOptions{Folding: pretend(Folding{Case: true})})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for given, want := range map[string]string{"outer/inner/a.go": "inner/a.go", "other/inner/a.go": "inner/a.go", "other/b.go": "outer/b.go"} {
		if got, err := d.Resolve(filepath.Join(dir, given)); err != nil || got != want {
			t.Errorf("%s resolves to %s, %v; want %s", given, got, err, want)
		}
	}
}

// TestFoldedVolume is about a directory in which the file system takes two spellings
// for one file.
func TestFoldedVolume(t *testing.T) {
	dir := folded.Dir(t)
	writeFiles(t, dir, map[string]string{"Dir/a.go": "old", "b.go": "b"})
	d := reopen(t, dir, t.TempDir())
	for given, want := range map[string]string{
		"Dir/a.go": "Dir/a.go", "dir/A.GO": "Dir/a.go", "DIR/New.go": "Dir/New.go", "B.go": "b.go", "none": "none",
		filepath.Join(dir, "B.GO"): "b.go",
	} {
		if got, err := d.Resolve(given); err != nil || got != want {
			t.Errorf("%s resolves to %s, %v; want %s", given, got, err, want)
		}
	}
	if runtime.GOOS != "linux" { // there the root's own path is on another volume
		if got, err := d.Resolve(filepath.Join(strings.ToUpper(dir), "B.GO")); err != nil || got != "b.go" {
			t.Errorf("by another spelling of the root it is %s, %v", got, err)
		}
	}
	for _, c := range []Change{
		{Path: "dir/A.GO", Before: text("old"), After: text("new")},
		{From: "Dir/a.go", Path: "Dir/A.go", Before: text("new"), After: text("newer")},
		{From: "b.go", Path: "dir/B.go", Before: text("b"), After: text("b")},
		{Path: "N.go", After: text("n")},
	} {
		if err := d.Apply(t.Context(), c); err != nil {
			t.Errorf("%s: %v", c.Path, err)
		}
	}
	if err := d.Apply(t.Context(), Change{Path: "n.go", After: text("2")}); !errors.Is(err, ErrConflict) {
		t.Errorf("one file made twice: %v", err)
	}
	if err := d.Apply(t.Context(), Change{From: "N.go", Path: "DIR/a.GO", Before: text("n")}); !errors.Is(err, ErrConflict) {
		t.Errorf("moved over a file: %v", err)
	}
	got := tree(t, dir)
	for name, text := range got {
		got[name] = strings.TrimPrefix(text, "x ") // there may be no execute bits, or nothing else
	}
	if diff := cmp.Diff(map[string]string{"Dir/": "", "Dir/A.go": "newer", "Dir/B.go": "b", "N.go": "n"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// lowerFiles is a Lower of names alone, sorted. One of them may be a link to Dir.
type lowerFiles []string

func (l lowerFiles) Len() int                               { return len(l) }
func (l lowerFiles) Name(i int) string                      { return l[i] }
func (l lowerFiles) Info(int) (int64, time.Time, error)     { return 1, time.Time{}, nil }
func (l lowerFiles) Readlink(int) (string, error)           { return "Dir", nil }
func (l lowerFiles) Reader() LowerReader                    { return l }
func (l lowerFiles) Read(i int, buf []byte) ([]byte, error) { return append(buf[:0], l[i]...), nil }
func (l lowerFiles) Close()                                 {}
func (l lowerFiles) Names() (map[string]bool, bool, error)  { return nil, true, nil }
func (l lowerFiles) Take([]string) error                    { return nil }
func (l lowerFiles) Lock(context.Context) (func(), error)   { return func() {}, nil }

func (l lowerFiles) Mode(i int) fs.FileMode {
	if l[i] == "link" {
		return fs.ModeSymlink
	}
	return 0o644
}

// TestCopyOnWriteSpelling finds files of a shadow workspace that are not on disk yet.
func TestCopyOnWriteSpelling(t *testing.T) {
	lower := lowerFiles{"Dir/a.go", "b.go"}
	for system, f := range folds {
		d, _ := foldingDisk(t, f, map[string]string{"c.go": "c"})
		v := NewCopyOnWrite(d, lower, func() (Lower, error) { return lower, nil })
		for given, want := range map[string]string{"dir/A.GO": "Dir/a.go", "B.go": "b.go", "C.GO": "c.go", "DIR/new": "Dir/new", "b.go": "b.go"} {
			if !f.Case {
				want = given
			}
			name, err := v.Resolve(given)
			real, err2 := v.RealName(given)
			if err = errors.Join(err, err2); err != nil || name != want || real != want {
				t.Errorf("%s: %s resolves to %s, is really %s, %v; want %s", system, given, name, real, err, want)
			}
		}
	}
}

// TestCopyOnWriteListings finds names of lower without a look at the directory, which
// is asked for the others alone.
func TestCopyOnWriteListings(t *testing.T) {
	var lower lowerFiles
	for i := range 9 {
		lower = append(lower, fmt.Sprintf("Dir/f%d", i))
	}
	lower = append(lower, "README", "b.go", "link", "readme")
	d, _ := foldingDisk(t, Folding{Case: true}, map[string]string{"B.GO": "not seen", "c.go": "c"})
	v := NewCopyOnWrite(d, lower, func() (Lower, error) { return lower, nil })
	for _, c := range []struct {
		given, want string
		asks        bool
	}{
		{"dir/F1", "Dir/f1", false},
		{"Dir/f8", "Dir/f8", false},
		{"README", "README", false},
		{"readme", "readme", false},
		{"ReadMe", "README", false},
		{"B.go", "b.go", false}, // what the directory has under its name does not count yet
		{"B.GO", "b.go", false},
		{"C.GO", "c.go", true}, // the control of what counts listings
		{"dir/new", "Dir/new", false},
		{"None/x", "None/x", true},
		{"LINK/F1", "link/f1", false}, // through a link
	} {
		s := d.folders[0].spelled
		s.lists = 0
		if got := v.spelled(c.given); got != c.want {
			t.Errorf("%s is %s, want %s", c.given, got, c.want)
		}
		if asks := s.lists > 0; asks != c.asks {
			t.Errorf("%s: the directory was listed %d times", c.given, s.lists)
		}
		s.forget()
	}
}
