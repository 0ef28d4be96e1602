package workspace

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/folded"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func TestSettled(t *testing.T) {
	fine, coarse := time.Date(2026, 1, 2, 3, 4, 5, 123_456_700, time.UTC), time.Date(2026, 1, 2, 3, 4, 5, 120_000_000, time.UTC)
	for _, c := range []struct {
		what     string
		modified time.Time
		after    time.Duration
		want     bool
	}{
		{"a fine clock, the same tick", fine, 15 * time.Millisecond, false},
		{"a fine clock, later", fine, 150 * time.Millisecond, true},
		{"the clock of exFAT or FAT, the same step", coarse, 1900 * time.Millisecond, false},
		{"the clock of exFAT or FAT, later", coarse, 2100 * time.Millisecond, true},
		{"read before it was changed", fine, -time.Hour, false},
	} {
		if got := (listing{modified: c.modified, read: c.modified.Add(c.after)}).settled(); got != c.want {
			t.Errorf("%s: settled is %v", c.what, got)
		}
	}
}

// spelledOn opens a directory as on a system, where names are nonetheless exact if they
// are here.
func spelledOn(t *testing.T, system string, files map[string]string) (*spellings, string) {
	t.Helper()
	d, dir := openTest(t, DiskOptions{}, files)
	return &spellings{root: d.folders[0].root, system: system}, dir
}

// TestListings counts how often a directory is listed for the names in it.
func TestListings(t *testing.T) {
	const many = 50
	files := map[string]string{}
	for i := range many {
		files[fmt.Sprintf("d/f%d.é", i)] = "x"
	}
	ago := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		what    string
		name    string // of a file, by its number
		settled int    // of the root and the directory
		most    int    // listings, where a directory can't be asked for one name
	}{
		{"new files", "d/n%d.go", 1, 0},
		{"new files in a new directory", "n/n%d.go", 0, 0},
		{"files of a directory that changed long ago", "d/f%d.é", 2, 1},
		{"control: files of one that changed just now", "d/f%d.é", 1, many},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, dir := spelledOn(t, "darwin", files)
			s.at("d") // what it does is tried out once
			for _, name := range []string{".", "d"}[:c.settled] {
				if err := ownfile.Chtimes(filepath.Join(dir, name), ago, ago); err != nil {
					t.Fatal(err)
				}
			}
			s.of("d")
			s.lists = 0
			for i := range many {
				name := fmt.Sprintf(c.name, i)
				if got := s.of(name); got != name {
					t.Errorf("%s is written %s", name, got)
				}
			}
			switch most := c.most; {
			case runtime.GOOS == "windows" && s.lists > 0:
				t.Errorf("%d names took %d listings of directories that can be asked", many, s.lists)
			case s.lists > most, runtime.GOOS != "windows" && most == many && s.lists < many:
				t.Errorf("%d names took %d listings, want %d at most", many, s.lists, most)
			}
		})
	}
}

// TestTriedOnce counts the listings for what a directory does with names, while names
// in it change.
func TestTriedOnce(t *testing.T) {
	for system, most := range map[string]int{"windows": 0, "darwin": 20} { // a Mac's may tell of forms yet
		s, dir := spelledOn(t, system, map[string]string{"a.go": "a"})
		s.at(".")
		s.lists = 0
		for i := range 20 {
			writeFiles(t, dir, map[string]string{fmt.Sprint(i): "x"})
			s.forget()
			s.at(".")
		}
		if s.lists > most || most > 0 && s.lists == 0 {
			t.Errorf("%s: 20 changes took %d listings, want %d at most", system, s.lists, most)
		}
	}
}

// TestTriedAgain puts another directory in the place of one that was tried out.
func TestTriedAgain(t *testing.T) {
	s, dir := spelledOn(t, "windows", map[string]string{"d/a.go": "a"})
	if got := s.at("d"); got.Case != folded.Is(t, dir) {
		t.Errorf("d: %+v", got)
	}
	if err := ownfile.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "was")); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"d/1": ""})
	// It is believed of the one that was tried.
	was := s.tried["d"]
	was.folding.Case = !was.folding.Case
	s.tried["d"] = was
	if got := s.at("d"); got.Case == was.folding.Case {
		t.Errorf("another directory in its place: %+v", got)
	}
	s.tried["was"] = was
	if got := s.at("was"); got.Case != was.folding.Case {
		t.Errorf("control: the same directory: %+v", got)
	}
}

// TestSomebodyElse renames a file by its spelling behind the back of who has looked
// at it just before, without and with some time in between.
func TestSomebodyElse(t *testing.T) {
	names := []string{"Dir/A.go", "DIR/A.go", "dir/A.GO", "dir/a.GO", "Dir/a.go", "Dir/A.go", "dIR/a.go", "diR/A.go", "Dir/A.GO"}
	renamed := func(t *testing.T, d *Disk, dir string, believed bool) (wrong int) {
		now := "Dir/a.go"
		for i, next := range names {
			if got, err := d.Resolve("dir/A.gO"); err != nil || got != now {
				wrong++
			}
			if i%3 == 2 {
				was := time.Now().Add(-150 * time.Millisecond) // as if that had passed since the last change
				for _, name := range []string{".", filepath.Dir(now)} {
					if err := ownfile.Chtimes(filepath.Join(dir, name), was, was); err != nil {
						t.Fatal(err)
					}
				}
				_, _ = d.Resolve("dir/A.gO")
			}
			if believed {
				s := d.folders[0].spelled
				for name, l := range s.listed {
					l.read = l.read.Add(time.Hour)
					s.listed[name] = l
				}
			}
			for _, r := range [][2]string{
				{filepath.Dir(now), "between"}, {"between", filepath.Dir(next)},
				{filepath.Join(filepath.Dir(next), filepath.Base(now)), "between"}, {"between", next},
			} {
				if err := ownfile.Rename(filepath.Join(dir, r[0]), filepath.Join(dir, r[1])); err != nil {
					t.Fatal(err)
				}
			}
			if now = next; believed { // a file system that counts in steps
				for _, name := range []string{".", filepath.Dir(now)} {
					l := d.folders[0].spelled.listed[name]
					if err := ownfile.Chtimes(filepath.Join(dir, name), l.modified, l.modified); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		return wrong
	}
	for kind, open := range map[string]func(t *testing.T) (*Disk, string){
		"said": func(t *testing.T) (*Disk, string) {
			return foldingDisk(t, Folding{Case: true}, map[string]string{"Dir/a.go": "a"})
		},
		"real": func(t *testing.T) (*Disk, string) {
			dir := folded.Dir(t)
			if runtime.GOOS == "linux" { // where the kernel goes on knowing a directory by its old name
				for i, name := range names {
					names[i] = "Dir/" + filepath.Base(name)
				}
			}
			writeFiles(t, dir, map[string]string{"Dir/a.go": "a"})
			return reopen(t, dir, t.TempDir()), dir
		},
	} {
		t.Run(kind, func(t *testing.T) {
			d, dir := open(t)
			if wrong := renamed(t, d, dir, false); wrong > 0 {
				t.Errorf("%d names are those of before", wrong)
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		d, dir := foldingDisk(t, Folding{Case: true}, map[string]string{"Dir/a.go": "a"})
		if wrong := renamed(t, d, dir, true); wrong == 0 {
			t.Error("what is remembered for too long is not noticed")
		}
	})
}
