package shadow_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// unusual makes a repository with all kinds of files.
func unusual(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Write(
		"a.txt", "one\ntwo\nthree\n", "empty", "", "dir/b.go", "package b\n", "dir/sub/c.go", "package c\n", "dir/sub/d.md", "d\n",
		"dir-x", "before the slash\n", "dir.y", "also\n", ".hidden", "h\n", "sp ace/ü\n.txt", "newline\n", `back\slash`, "b\n", "q\"uote", "q\n",
		".gitignore", "*.log\n/build/\n!keep.log\n", "keep.log", "kept\n", "tracked.log", "ignored but tracked\n", "dir/.gitignore", "*.tmp\nsub/d.md\n",
		".ignore", "secret.md\n", "secret.md", "s\n", "build/out", "o\n", "deep/er/still/x", "x\n", "bin", "a\x00b", "run.sh", "#!/bin/sh\n",
	)
	decoy := filepath.Join(t.TempDir(), "decoy")
	if err := ownfile.WriteFile(decoy, []byte("decoy\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if data, err := os.ReadFile(decoy); err != nil || string(data) != "decoy\n" {
			t.Errorf("what the tree's link leads to has %q, %v", data, err)
		}
	})
	for link, to := range map[string]string{"to-file": "a.txt", "to-dir": "dir/sub", "dir/up": "../a.txt", "dangling": "nowhere/x", "out": decoy, "loop": "loop", "deep/link": "er/still"} {
		if err := ownfile.Symlink(to, r.Path(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.Chmod(r.Path("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.Git("add", "-f", ".")
	r.Git("commit", "-qm", "first")
	return r
}

// dirty edits the main tree in many ways.
func dirty(t *testing.T, r *gittest.Repo) {
	t.Helper()
	r.Write("a.txt", "MAIN was here\n", "dir/sub/d.md", "MAIN\n", "new-in-main", "MAIN\n", ".ignore", "*.go\n")
	r.Git("add", "a.txt", "new-in-main")
	for _, err := range []error{
		ownfile.Remove(r.Path("dir/b.go")), ownfile.RemoveAll(r.Path("deep")), ownfile.Remove(r.Path("to-file")),
		ownfile.Symlink("dir/b.go", r.Path("to-file")), ownfile.Remove(r.Path("keep.log")), ownfile.Mkdir(r.Path("keep.log"), 0o755),
		ownfile.Chmod(r.Path("secret.md"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// twins are a lazy shadow and one with all its files, of the same state.
type twins struct {
	*house
	r    *rand.Rand
	lazy workspace.View
	full workspace.View
}

func newTwins(t *testing.T, r *gittest.Repo, uncommitted bool) *twins {
	h := openHouse(t, r, shadow.Options{})
	w := &twins{house: h, r: rand.New(rand.NewPCG(1, 2))}
	h.create(shadow.CreateRequest{ID: "lazy", Lazy: true, IncludeUncommitted: uncommitted})
	h.create(shadow.CreateRequest{ID: "full", IncludeUncommitted: uncommitted})
	w.lazy, w.full = h.view("lazy"), h.view("full")
	return w
}

// view opens the files of a shadow.
func (h *house) view(id string) workspace.View {
	h.t.Helper()
	s, err := h.Get(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: s.Root}}, workspace.DiskOptions{StateDir: filepath.Join(h.t.TempDir(), "apply")})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { disk.Close() })
	v, err := h.View(context.Background(), id, disk)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// class is what matters about an error.
func class(err error) string {
	if err == nil {
		return ""
	}
	for _, is := range []error{fs.ErrNotExist, fs.ErrInvalid, syscall.EISDIR, syscall.ENOTDIR, syscall.ELOOP, workspace.ErrOutside, workspace.ErrConflict, workspace.ErrProtected, workspace.ErrSpecial} {
		if errors.Is(err, is) {
			return is.Error()
		}
	}
	return err.Error()
}

// told is all that a view says, as text.
func told(v workspace.View, names []string) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, name := range names {
		data, err := v.ReadFile(name)
		say("read %q: %q %s", name, data, class(err))
		real, err := v.RealName(name)
		say("real %q: %q %s", name, real, class(err))
		if given, err := v.Resolve(name); err != nil || given != name {
			say("resolve %q: %q %s", name, given, class(err))
		}
		say("ignored %q: %v %v", name, v.Ignored(name, false), v.Ignored(name, true))
		info, err := v.Stat(name)
		if err != nil {
			say("stat %q: %s", name, class(err))
		} else if info.IsDir() {
			say("stat %q: dir %s", name, info.Name())
		} else {
			say("stat %q: %s %v %d", name, info.Name(), info.Mode(), info.Size())
		}
		list, err := v.ReadDir(name)
		say("list %q: %s", name, class(err))
		for _, e := range list {
			say("list %q: %q %v", name, e.Name(), e.Type())
		}
		for _, o := range []workspace.WalkOptions{{}, {Hidden: true}, {IncludeIgnored: true, Hidden: true, Workers: 1}} {
			o.Dir = name
			var mu sync.Mutex
			var met []string
			err := v.Walk(context.Background(), o, func(e *workspace.Entry) error {
				data, err := e.Read(nil)
				mu.Lock()
				defer mu.Unlock()
				met = append(met, fmt.Sprintf("%q: %q %s", e.Path, data, class(err)))
				return nil
			})
			slices.Sort(met)
			say("walk %q %v %v: %s", name, o.Hidden, o.IncludeIgnored, class(err))
			for _, m := range met {
				say("walk %q %v %v: %s", name, o.Hidden, o.IncludeIgnored, m)
			}
		}
	}
	return out
}

// names are those of both views, and some that aren't there.
func (w *twins) names() []string {
	all := map[string]bool{".": true, "absent": true, "dir/absent": true, "a.txt/x": true, "to-dir/c.go": true, "to-dir/new": true, "dir/sub": true, "deep/link/x": true, "..": true}
	for _, v := range []workspace.View{w.lazy, w.full} {
		err := fs.WalkDir(v, ".", func(name string, _ fs.DirEntry, err error) error {
			all[name] = true
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	delete(all, ".git") // they differ in it
	return slices.Sorted(maps.Keys(all))
}

// same compares all that can be asked.
func (w *twins) same(when string) {
	w.t.Helper()
	names := w.names()
	w.equal(when, told(w.lazy, names), told(w.full, names))
	ctx := context.Background()
	d1, err1 := w.Diff(ctx, "lazy")
	d2, err2 := w.Diff(ctx, "full")
	if err1 != nil || err2 != nil {
		w.t.Fatal(err1, err2)
	}
	w.equal(when+": diff", strings.Split(d1.Text, "\n"), strings.Split(d2.Text, "\n"))
	if !reflect.DeepEqual(d1.Files, d2.Files) {
		w.t.Fatalf("%s: diff of %v, but %v", when, d1.Files, d2.Files)
	}
	m1, err1 := w.Merge(ctx, "lazy", w.main)
	m2, err2 := w.Merge(ctx, "full", w.main)
	if err1 != nil || err2 != nil || !reflect.DeepEqual(m1, m2) {
		w.t.Fatalf("%s: merge: %v %v\n%+v\n%+v", when, err1, err2, m1, m2)
	}
}

func (w *twins) equal(when string, got, want []string) {
	w.t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			w.t.Fatalf("%s: of %d and %d\nlazy: %q\nfull: %q", when, len(got), len(want), got[i:min(i+3, len(got))], want[i:min(i+3, len(want))])
		}
	}
}

// change makes up some changes.
func (w *twins) change() []workspace.Change {
	names := w.names()
	pick := func() string { return names[w.r.IntN(len(names))] }
	var list []workspace.Change
	for range 1 + w.r.IntN(3) {
		name := pick()
		before, err := w.full.ReadFile(name)
		if err != nil {
			before = nil
		} else if before == nil {
			before = []byte{}
		}
		c := workspace.Change{Path: name, Before: before}
		switch w.r.IntN(5) {
		case 0:
			c.After = []byte(fmt.Sprintf("text %d\n", w.r.IntN(100)))
		case 1: // gone
		case 2:
			c.Path, c.From = path.Join(path.Dir(pick()), fmt.Sprintf("moved%d.log", w.r.IntN(30))), name
		case 3:
			c.Path, c.Before, c.After = path.Join(pick(), fmt.Sprintf("n%d.tmp", w.r.IntN(30))), nil, []byte("new\n")
		case 4:
			c.After = bytes.ToUpper(append(before, "more\n"...))
		}
		list = append(list, c)
	}
	return list
}

var everything = flag.Bool("everything", false, "random steps from a fresh seed")

// disturb does something to the main tree, whatever comes of it.
func (w *twins) disturb(names []string) {
	pick := func() string { return w.main.Abs(names[w.r.IntN(len(names))]) }
	at := pick()
	if w.r.IntN(3) == 0 {
		at = filepath.Dir(at)
	}
	if at == w.Dir {
		return
	}
	replace := func(do func() error) {
		info, err := os.Lstat(at)
		if ownfile.RemoveAll(at) == nil && do() == nil && err == nil && w.r.IntN(2) == 0 {
			_ = ownfile.Chtimes(at, info.ModTime(), info.ModTime())
		}
	}
	switch w.r.IntN(8) {
	case 0: // another text of the same length, and the same time
		if data, err := os.ReadFile(at); err == nil {
			replace(func() error { return ownfile.WriteFile(at, bytes.Repeat([]byte("M"), len(data)), 0o644) })
		}
	case 1:
		if data, err := os.ReadFile(at); err == nil {
			_ = ownfile.WriteFile(at, bytes.Repeat([]byte("M"), len(data)), 0o644)
		}
	case 2:
		replace(func() error { return ownfile.Symlink(filepath.Base(pick()), at) })
	case 3:
		replace(func() error { return ownfile.MkdirAll(filepath.Join(at, "MAIN"), 0o755) })
	case 4:
		_ = ownfile.Rename(at, pick())
	case 5:
		_ = ownfile.Rename(at, at+".MAIN")
	case 6:
		_ = ownfile.Chmod(at, 0o755)
	case 7: // as it was
		rel, _ := filepath.Rel(w.Dir, at)
		w.Try("checkout", "-f", "HEAD", "--", rel)
	}
}

// TestLazyTwin: a lazy shadow and one with its files give the same answers to
// everything, whatever is done through their views; edits of the main tree
// don't show through; and once the files are made, git agrees.
func TestLazyTwin(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name   string
		before bool // the main tree is edited before, and that is included
		after  bool // the main tree is edited afterwards
		always bool // and all the time
	}{{"clean", false, false, false}, {"edited after", false, true, false}, {"uncommitted", true, false, false}, {"edited meanwhile", false, false, true}} {
		t.Run(c.name, func(t *testing.T) {
			r := unusual(t)
			if c.before {
				dirty(t, r)
			}
			w := newTwins(t, r, c.before)
			w.same("at first")
			if c.after {
				dirty(t, r)
				w.same("after edits of the main tree")
				if data, err := w.lazy.ReadFile("a.txt"); err != nil || strings.Contains(string(data), "MAIN") {
					t.Fatalf("%q %v", data, err)
				}
			}
			done, rounds := 0, 30
			if *everything {
				rounds = 300
				seed := uint64(time.Now().UnixNano())
				t.Logf("seed %d", seed)
				w.r = rand.New(rand.NewPCG(seed, 2))
			}
			tracked := strings.Split(strings.TrimSuffix(r.Git("ls-files", "-z"), "\x00"), "\x00")
			for i := range rounds {
				for n := w.r.IntN(3); c.always && n > 0; n-- {
					w.disturb(tracked)
				}
				changes := w.change()
				err1, err2 := w.lazy.Apply(context.Background(), changes...), w.full.Apply(context.Background(), changes...)
				if class(err1) != class(err2) {
					t.Fatalf("%d: %+v: %v, but %v", i, changes, err1, err2)
				}
				if err1 == nil {
					done++
				}
				if i%6 == 0 || i == rounds-1 {
					w.same(fmt.Sprintf("%d: %+v", i, changes))
				}
			}
			if done < 10 && !*everything {
				t.Fatalf("only %d changes could be made", done)
			}
			lazy, full := h2(w, "lazy"), h2(w, "full")
			if list := r.Git("worktree", "list"); !strings.Contains(list, lazy.Dir) {
				t.Errorf("git worktree list: %s", list)
			}
			if err := w.Materialize(context.Background(), "lazy"); err != nil {
				t.Fatal(err)
			}
			w.same("with its files")
			for _, args := range [][]string{{"status", "--porcelain", "--ignored"}, {"diff", "HEAD"}, {"ls-files", "-s"}} {
				if got, want := lazy.Git(args...), full.Git(args...); got != want {
					t.Errorf("git %v:\n%s\nbut\n%s", args, got, want)
				}
			}
			r.Git("fsck", "--no-dangling")
			if w.lazy = w.view("lazy"); reflect.TypeOf(w.lazy) != reflect.TypeOf(w.full) {
				t.Errorf("the view is still a %T", w.lazy)
			}
			w.same("seen again")
		})
	}
}

func h2(w *twins, id string) *gittest.Repo {
	s, err := w.Get(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.At(s.Path)
}

// TestLazyBelow: of a folder that is not the top of the repository the view is
// that folder in the shadow.
func TestLazyBelow(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", ".gitignore", "*.log\n", "top", "t\n", "sub/a", "1\n", "sub/b/c", "2\n", "sub-x", "x\n", "sub0", "0\n")
	r.Write("sub/.sidecar/.gitignore", "*\n")
	m, err := shadow.New(shadow.Options{Dir: r.Path("sub")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	h := &house{Repo: r, t: t, Manager: m}
	s, w := h.create(shadow.CreateRequest{ID: "x", Lazy: true})
	v := h.view("x")
	if err := v.Apply(t.Context(), workspace.Change{Path: "a", Before: []byte("1\n"), After: []byte("one\n")}); err != nil {
		t.Fatal(err)
	}
	if list, err := fs.ReadDir(v, "."); err != nil || len(list) != 2 || list[0].Name() != "a" || list[1].Name() != "b" {
		t.Errorf("%v %v", list, err)
	}
	if data, err := v.ReadFile("b/c"); err != nil || string(data) != "2\n" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := v.Resolve("../top"); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("%v", err)
	}
	if err := m.Materialize(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if out := w.Git("status", "--porcelain"); out != " M sub/a\n" || s.Root != filepath.Join(s.Path, "sub") {
		t.Errorf("%q %s", out, s.Root)
	}
}

// TestLazyConverted: where git writes other bytes than an object has, a view
// has those, and so have the files that are made.
func TestLazyConverted(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", ".gitattributes", "*.txt eol=crlf\n", "a.txt", "1\n2\n", "b.txt", "3\n", "c", "4\n")
	r.Git("rm", "-rq", "--cached", ".")
	r.Git("reset", "-q", "--hard")
	h := openHouse(t, r, shadow.Options{})
	_, w := h.create(shadow.CreateRequest{ID: "x", Lazy: true})
	r.Write("b.txt", "main\n")
	v := h.view("x")
	for name, want := range map[string]string{"a.txt": "1\r\n2\r\n", "b.txt": "3\r\n", "c": "4\n"} {
		if data, err := v.ReadFile(name); err != nil || string(data) != want {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	if err := v.Apply(t.Context(), workspace.Change{Path: "a.txt", Before: []byte("1\r\n2\r\n"), After: []byte("1\r\nzwei\r\n")}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"without files", "with files"} {
		if d, err := h.Diff(t.Context(), "x"); err != nil || len(d.Files) != 1 || !strings.Contains(d.Text, "-2\r\n+zwei\r\n") {
			t.Errorf("%s: %+v %v", when, d, err)
		}
		if err := h.Materialize(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, w, "b.txt"); got != "3\r\n" {
		t.Errorf("%q", got)
	}
	if out := w.Git("status", "--porcelain"); out != " M a.txt\n" {
		t.Errorf("%q", out)
	}
}

// TestLazyAtOnce: readers and writers see one state and then the next, while
// the files are made under them.
func TestLazyAtOnce(t *testing.T) {
	slow.Test(t)
	files := []string{"count", "0\n"}
	for i := range 300 {
		files = append(files, fmt.Sprintf("d%d/e%d/f%d", i%7, i%5, i), fmt.Sprintf("text %d\n", i))
	}
	h := newHouse(t, files...)
	h.create(shadow.CreateRequest{ID: "x", Lazy: true})
	v := h.view("x")
	done := make(chan struct{})
	var work sync.WaitGroup
	for range 3 {
		work.Go(func() {
			for stop := false; !stop; {
				select {
				case <-done:
					stop = true // once more
				default:
				}
				var n atomic.Int32
				err := v.Walk(context.Background(), workspace.WalkOptions{Dir: "."}, func(e *workspace.Entry) error {
					if data, err := e.Read(nil); err != nil || len(data) == 0 {
						return fmt.Errorf("%s: %q %w", e.Path, data, err)
					}
					n.Add(1)
					return nil
				})
				if err != nil || n.Load() != 301 {
					t.Errorf("%d files, %v", n.Load(), err)
					return
				}
			}
		})
	}
	work.Go(func() {
		for i := range 20 {
			err := v.Apply(context.Background(), workspace.Change{Path: "count", Before: fmt.Appendf(nil, "%d\n", i), After: fmt.Appendf(nil, "%d\n", i+1)})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 2 {
		work.Go(func() {
			if err := h.Materialize(context.Background(), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	if err := h.Materialize(context.Background(), "x"); err != nil {
		t.Error(err)
	}
	close(done)
	work.Wait()
	if data, err := v.ReadFile("count"); err != nil || string(data) != "20\n" {
		t.Errorf("%q %v", data, err)
	}
	if out := h.At(h.Path(".sidecar/shadows/x")).Git("status", "--porcelain"); out != " M count\n" {
		t.Errorf("%q", out)
	}
}
