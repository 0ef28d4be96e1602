package pendingedits_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// What a process leaves that is killed at a point is what is in its files then:
// nothing else of it stays. So one run shows what all kills leave, as copies
// that are taken at its points; TestKilledIsLikeCopied kills real processes and
// compares. Points that leave the same need to be looked at only once.

// copied is what is in a directory.
type copied struct {
	files map[string]copiedFile // by path
	key   [sha256.Size]byte
}

type copiedFile struct {
	mode fs.FileMode
	text string // or target
}

func copyOf(dir string) (copied, error) {
	c := copied{files: map[string]copiedFile{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := copiedFile{mode: info.Mode()}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			f.text, err = os.Readlink(path)
		case !d.IsDir():
			var data []byte
			data, err = os.ReadFile(path)
			f.text = string(data)
		}
		rel, _ := filepath.Rel(dir, path)
		c.files[rel] = f
		return err
	})
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		f := c.files[name]
		for _, part := range []string{name, fmt.Sprint(f.mode), f.text} {
			h.Write(binary.AppendUvarint(nil, uint64(len(part))))
			h.Write([]byte(part))
		}
	}
	h.Sum(c.key[:0])
	return c, err
}

func (c copied) writeTo(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(c.files)) { // a directory comes before what is in it
		f, path := c.files[name], filepath.Join(dir, name)
		var err error
		switch {
		case name == ".":
		case f.mode.IsDir():
			err = ownfile.Mkdir(path, f.mode.Perm())
		case f.mode&fs.ModeSymlink != 0:
			err = ownfile.Symlink(f.text, path)
		default:
			err = ownfile.WriteFile(path, []byte(f.text), f.mode.Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep is a search through all that crashes leave.
type sweep struct {
	t       *testing.T
	n       int
	scratch string
	found   map[string]string // what is wrong, by what was looked at already
	led     map[string]int    // how many points recovering passed, by what from

	kills, again, states int
	mixed                int
}

// in does something in a directory that has c: always the same one, since
// journals name it.
func (s *sweep) in(c copied, do func(dir string)) {
	s.t.Helper()
	dir := filepath.Join(s.scratch, "trial")
	err := ownfile.Mkdir(dir, 0o700)
	if err == nil {
		err = c.writeTo(dir)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	do(dir)
	ownfile.RemoveAll(dir)
}

// run does what a process does, and returns what a kill leaves at each point.
func (s *sweep) run(c copied, what string, late bool) (left []copied) {
	s.t.Helper()
	s.in(c, func(dir string) {
		if err := act(what, s.n, late, dir, func(string) error {
			at, err := copyOf(dir)
			if err != nil {
				s.t.Fatal(err)
			}
			left = append(left, at)
			return nil
		}); err != nil {
			s.t.Errorf("%s of %d files: %v", what, s.n, err)
		}
	})
	return left
}

// problem says what is wrong with a workspace in which c was left.
func (s *sweep) problem(c copied, late bool) string {
	key := fmt.Sprint(late, c.key)
	p, known := s.found[key]
	if !known {
		s.states++
		s.in(c, func(dir string) { p = problemOf(s.t, dir, s.n, late) })
		s.found[key] = p
	}
	return p
}

// recoveries looks at what kills leave in recovering from c.
func (s *sweep) recoveries(c copied, late bool, stride int, where string) {
	key := fmt.Sprint(late, c.key)
	tried, known := s.led[key]
	if !known {
		left := s.run(c, "recover", late)
		for i := 0; i < len(left); i += stride {
			tried++
			if p := s.problem(left[i], late); p != "" {
				s.t.Errorf("%s, and at point %d of the recovery (late %v): %s", where, i, late, p)
			}
		}
		s.led[key] = tried
	}
	s.again += tried
}

// TestBatchCrashes crashes at the points of accepting a batch of files, links
// and modes and commits, and again at those of recovering from that. The server
// that is started again finds all of it old and pending, or all new; and each
// commit is made once. With -everything that is at every point of all sizes.
func TestBatchCrashes(t *testing.T) {
	slow.Test(t)
	for _, n := range []int{1, 5, 20, 50} {
		t.Run(fmt.Sprint(n, " files"), func(t *testing.T) {
			stride := 1
			if n > 5 && !*everything {
				stride = 2 * n
			}
			s := &sweep{t: t, n: n, scratch: memDir(t), found: map[string]string{}, led: map[string]int{}}
			fresh := memDir(t)
			if err := prepare(fresh, n); err != nil {
				t.Fatal(err)
			}
			begin, err := copyOf(fresh)
			if err != nil {
				t.Fatal(err)
			}
			points := s.run(begin, "accept", false)
			for i := 0; i < len(points); i += stride {
				s.kills++
				for _, late := range []bool{false, true} { // the editor tells of its documents at once, or later
					if p := s.problem(points[i], late); p != "" {
						t.Errorf("at point %d (late %v): %s", i, late, p)
					}
					s.recoveries(points[i], late, stride, fmt.Sprint("at point ", i))
				}
			}
			careless := s.run(begin, "naive", false)
			for i := 0; n > 1 && i < len(careless); i += stride {
				if strings.Contains(s.problem(careless[i], false), " old and ") {
					s.mixed++
				}
			}
			t.Logf("%d of %d points tried, and %d of recoveries, in %d states: none mixed, lost or doubled; one by one, %d of %d were mixed",
				s.kills, len(points), s.again, s.states, s.mixed, len(careless))
			if s.kills == 0 || n > 1 && s.mixed == 0 {
				t.Error("the control did not fail, so this test proves nothing")
			}
		})
	}
}

// act is what a process does with a trial.
func act(what string, n int, late bool, dir string, fail func(string) error) error {
	w, err := openTrial(dir, n, fail, late)
	if err != nil {
		return err
	}
	defer w.close()
	switch what {
	case "recover":
		w.editorBack()
	case "naive":
		// What a careless store would do: one file after the other.
		for i := range n {
			if err := w.desk.Apply(context.Background(), asChange(i)); err != nil {
				return err
			}
		}
	default:
		if res, err := w.store.Accept(context.Background(), pendingedits.Selection{}); err != nil || len(res.Accepted) != n {
			return fmt.Errorf("accepted %v, failed %v: %w", res.Accepted, res.Failed, err)
		}
	}
	return nil
}

// TestKilledIsLikeCopied kills processes with -9, and finds what the copies
// say, but for names and numbers that are random.
func TestKilledIsLikeCopied(t *testing.T) {
	slow.Test(t) // it starts a process for each point
	const n = 5
	s := &sweep{t: t, n: n, scratch: memDir(t)}
	fresh := memDir(t)
	if err := prepare(fresh, n); err != nil {
		t.Fatal(err)
	}
	begin, err := copyOf(fresh)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	compare := func(what string, from copied, late bool, stride int) {
		for i, want := range s.run(from, what, late) {
			if i%stride > 0 && !*everything {
				continue
			}
			s.in(from, func(dir string) {
				if killBatch(t, what, n, i+1, late, dir) {
					t.Errorf("%s was not killed at point %d", what, i)
				}
				got, err := copyOf(dir)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want.plain(), got.plain()); d != "" {
					t.Errorf("%s, killed at point %d (late %v) (-copied +killed):\n%s", what, i, late, d)
				}
				tried++
			})
		}
	}
	compare("accept", begin, false, 4)
	for i, left := range s.run(begin, "accept", false) {
		if i%20 == 10 {
			compare("recover", left, i%40 == 10, 8)
		}
	}
	t.Logf("%d kills left what the copies show", tried)
}

var random = regexp.MustCompile(`[0-9a-f]{16}`)

// plain is c without what is random, checksums of it, and who has the lock.
func (c copied) plain() map[string][]string {
	out := map[string][]string{}
	for name, f := range c.files {
		text := random.ReplaceAllString(f.text, "…")
		switch {
		case name == "pending/lock":
			text = ""
		case strings.HasPrefix(name, "disk/"):
			_, text, _ = strings.Cut(text, "\n")
		}
		name = random.ReplaceAllString(name, "…")
		out[name] = append(out[name], fmt.Sprint(f.mode, " ", text))
		slices.Sort(out[name])
	}
	return out
}
