//go:build linux

package watch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// tree is a directory whose files a test changes as other programs do.
type tree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T, files ...string) tree {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	d := tree{t, t.TempDir()}
	for _, name := range files {
		d.write(name)
	}
	return d
}

func (d tree) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d tree) write(name string, text ...string) {
	d.t.Helper()
	d.must(ownfile.MkdirAll(filepath.Dir(d.path(name)), 0o755))
	d.must(ownfile.WriteFile(d.path(name), []byte(strings.Join(text, "")), 0o644))
}

func (d tree) mkdir(name string)    { d.t.Helper(); d.must(ownfile.MkdirAll(d.path(name), 0o755)) }
func (d tree) remove(name string)   { d.t.Helper(); d.must(ownfile.RemoveAll(d.path(name))) }
func (d tree) move(from, to string) { d.t.Helper(); d.must(ownfile.Rename(d.path(from), d.path(to))) }
func (d tree) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d tree) disk() *workspace.Disk {
	d.t.Helper()
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: d.dir}}, workspace.DiskOptions{})
	d.must(err)
	d.t.Cleanup(func() { disk.Close() })
	return disk
}

func (d tree) watch() (*Watcher, *Feed) {
	d.t.Helper()
	w := New(d.disk())
	d.t.Cleanup(func() { w.Close() })
	if s := w.State(); !s.Watching {
		d.t.Fatalf("%+v", s)
	}
	return w, w.Subscribe()
}

func take(t *testing.T, f *Feed) Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := f.Sync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBatches(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(tree)
		want Batch
	}{
		"nothing":            {func(d tree) {}, Batch{}},
		"a file is made":     {func(d tree) { d.write("d/new") }, Batch{Names: []string{"d/new"}}},
		"a file is written":  {func(d tree) { d.write("d/f", "x") }, Batch{Names: []string{"d/f"}}},
		"a file is removed":  {func(d tree) { d.remove("d/f") }, Batch{Names: []string{"d/f"}}},
		"a file is moved":    {func(d tree) { d.move("d/f", "g") }, Batch{Names: []string{"d/f", "g"}}},
		"one takes its name": {func(d tree) { d.move("top", "d/f") }, Batch{Names: []string{"d/f", "top"}}},
		"its mode changes":   {func(d tree) { d.must(ownfile.Chmod(d.path("d/f"), 0o600)) }, Batch{Names: []string{"d/f"}}},
		"a hidden one":       {func(d tree) { d.write(".h/f", "x") }, Batch{Names: []string{".h/f"}}},
		"a directory":        {func(d tree) { d.mkdir("n/m") }, Batch{Names: []string{"n"}, Dirs: []string{"n"}}},
		"a directory with files": {func(d tree) { d.write("n/m/f"); d.write("n/g") },
			Batch{Names: []string{"n"}, Dirs: []string{"n"}}},
		"a directory is moved":      {func(d tree) { d.move("d", "e") }, Batch{Names: []string{"d", "e"}, Dirs: []string{"e"}}},
		"a directory is moved away": {func(d tree) { d.move("d", "../"+filepath.Base(d.t.TempDir())+"/x") }, Batch{Names: []string{"d"}}},
		"a link":                    {func(d tree) { d.must(ownfile.Symlink("d", d.path("l"))) }, Batch{Names: []string{"l"}}},
		"an ignored directory":      {func(d tree) { d.write("out/new") }, Batch{}},
		"a new ignored directory":   {func(d tree) { d.mkdir("d/out") }, Batch{Names: []string{"d/out"}}},
		"repository data":           {func(d tree) { d.write(".git/index", "x"); d.write(".git/objects/x") }, Batch{}},
		"the server's own":          {func(d tree) { d.write(".sidecar/cache/x") }, Batch{}},
		"ignore rules":              {func(d tree) { d.write("d/.gitignore", "x") }, Batch{Names: []string{"d/.gitignore"}, Dirs: []string{"d"}}},
		"rules at the top": {func(d tree) { d.write(".sidecarignore", "x") },
			Batch{Names: []string{".sidecarignore"}, Dirs: []string{"."}}},
		"rules of the repository": {func(d tree) { d.write(".git/info/exclude", "x") }, Batch{Dirs: []string{"."}}},
		"rules of the user": {func(d tree) {
			dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "git")
			d.must(ownfile.MkdirAll(dir, 0o755))
			d.must(ownfile.WriteFile(filepath.Join(dir, "ignore"), []byte("x"), 0o644))
		}, Batch{Dirs: []string{"."}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTree(t, "top", "d/f", "d/sub/f", ".h/f", "out/f", ".sidecar/cache/f")
			d.write(".gitignore", "out/\n")
			d.write(".git/info/exclude", "")
			d.mkdir(".git/objects")
			_, f := d.watch()
			c.do(d)
			got := take(t, f)
			// What is in a new directory may be told, too: it depends on who is faster.
			got.Names = slices.DeleteFunc(got.Names, func(n string) bool {
				return slices.ContainsFunc(c.want.Dirs, func(dir string) bool { return strings.HasPrefix(n, dir+"/") && !slices.Contains(c.want.Names, n) })
			})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if again := take(t, f); cmp.Diff(Batch{}, again) != "" {
				t.Errorf("told twice: %+v", again)
			}
		})
	}
}

// After every change the watcher follows: what happens in new and moved
// directories is told, and under their new names.
func TestFollows(t *testing.T) {
	d := newTree(t, "a/b/c/f")
	w, f := d.watch()
	look := func(what, want string) {
		t.Helper()
		if b := take(t, f); b.Lost || !slices.Contains(b.Names, want) {
			t.Errorf("%s: %+v, want %s", what, b, want)
		}
	}
	d.mkdir("new/deep/er")
	take(t, f)
	d.write("new/deep/er/f")
	look("a new directory", "new/deep/er/f")
	d.move("a", "z")
	take(t, f)
	d.write("z/b/c/f", "x")
	look("a moved directory", "z/b/c/f")
	d.mkdir("a/b/c")
	take(t, f)
	d.write("a/b/c/f", "x")
	look("one in its old place", "a/b/c/f")
	d.move("z/b", "a/b/b")
	take(t, f)
	d.write("a/b/b/c/f", "y")
	look("moved elsewhere", "a/b/b/c/f")
	d.write(".gitignore", "a/\n")
	take(t, f)
	d.write("a/b/c/f", "z")
	if b := take(t, f); len(b.Names) > 0 {
		t.Errorf("ignored since: %+v", b)
	}
	d.write(".gitignore", "")
	take(t, f)
	d.write("a/b/c/f", "z")
	look("not ignored any more", "a/b/c/f")
	d.remove("a")
	d.remove("z")
	d.remove("new")
	take(t, f)
	if s := w.State(); s.Dirs != 1 {
		t.Errorf("%+v: only the root is left", s)
	}
	d.mkdir(".git/info")
	take(t, f)
	d.write(".git/info/exclude", "x")
	if b := take(t, f); !slices.Contains(b.Dirs, ".") {
		t.Errorf("a new repository's rules: %+v", b)
	}
}

// Every change by anybody is in the batch that is asked for after it.
func TestSyncIsABarrier(t *testing.T) {
	d := newTree(t)
	_, f := d.watch()
	r := rand.New(rand.NewPCG(1, 2))
	dirs := []string{"."}
	for i := range 300 {
		dir := dirs[r.IntN(len(dirs))]
		name := filepath.Join(dir, fmt.Sprint(i))
		if r.IntN(5) == 0 {
			d.mkdir(name)
			dirs = append(dirs, name)
		} else {
			d.write(name)
		}
		b := take(t, f)
		if !slices.Contains(b.Names, name) {
			t.Fatalf("%d: %s is not in %+v", i, name, b)
		}
	}
}

func TestFeedsAreIndependent(t *testing.T) {
	d := newTree(t)
	w, f := d.watch()
	g := w.Subscribe()
	d.write("x")
	<-g.Ready()
	if b := take(t, f); !slices.Equal(b.Names, []string{"x"}) {
		t.Errorf("%+v", b)
	}
	if b := take(t, g); !slices.Equal(b.Names, []string{"x"}) {
		t.Errorf("the other: %+v", b)
	}
	g.Close()
	d.write("y")
	if b := take(t, f); !slices.Equal(b.Names, []string{"y"}) {
		t.Errorf("%+v", b)
	}
}

func TestManyReadersAtOnce(t *testing.T) {
	d := newTree(t)
	w, _ := d.watch()
	errs := make(chan error)
	for i := range 8 {
		f := w.Subscribe()
		go func() {
			for j := range 50 {
				name := fmt.Sprintf("%d-%d", i, j)
				if err := ownfile.WriteFile(d.path(name), nil, 0o644); err != nil {
					errs <- err
					return
				}
				ctx, cancel := context.WithCancel(context.Background())
				if j%7 == 0 {
					cancel()
				}
				b, err := f.Sync(ctx)
				cancel()
				if errors.Is(err, context.Canceled) {
					b, err = f.Sync(context.Background())
				}
				if err != nil || !slices.Contains(b.Names, name) {
					errs <- fmt.Errorf("%s: %v, %w", name, b, err)
					return
				}
			}
			errs <- nil
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// When the queue overflows, that is said, and nothing is missed afterwards.
func TestOverflow(t *testing.T) {
	d := newTree(t, "d/f", "x", "y")
	w, f := d.watch()
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	d.must(err)
	var max int
	fmt.Sscan(string(limit), &max)
	if max > 1<<16 {
		needs.Skip(t, needs.Kernel, fmt.Sprintf("the queue is too long here: %d", max))
	}
	w.mu.Lock() // events are not taken
	d.move("d", "e")
	for i := range max + 3*queued + 4096 {
		d.must(ownfile.Chmod(d.path([]string{"x", "y"}[i%2]), 0o644)) // one event, if it is not like the last
	}
	w.mu.Unlock()
	if b := take(t, f); !b.Lost || w.State().Lost == 0 || !w.State().Watching {
		t.Fatalf("%+v, %+v", b, w.State())
	}
	d.write("e/f", "x")
	if b := take(t, f); b.Lost || !slices.Equal(b.Names, []string{"e/f"}) {
		t.Errorf("after it: %+v", b)
	}
}

func TestTooManyNamesAreLost(t *testing.T) {
	d := newTree(t)
	w, f := d.watch()
	w.mu.Lock()
	for i := range maxNames + 1 {
		f.add(fmt.Sprint(i))
	}
	w.mu.Unlock()
	if b := take(t, f); !b.Lost || len(b.Names) > 0 {
		t.Errorf("%v, %d names", b.Lost, len(b.Names))
	}
	if b := take(t, f); b.Lost {
		t.Error("it stays lost")
	}
}

// When a limit of the system is met, that is said, and every batch is lost.
func TestLimit(t *testing.T) {
	d := newTree(t, "a/f", "b/f")
	for name, limit := range map[string]int{"at once": 2, "later": 4} {
		t.Run(name, func(t *testing.T) {
			n := 0
			w := start(d.disk(), func(q *fsnotify.Watcher, dir string) error {
				if n++; n > limit {
					return syscall.ENOSPC
				}
				return q.Add(dir)
			})
			defer w.Close()
			f := w.Subscribe()
			if limit > 3 {
				if b := take(t, f); b.Lost {
					t.Errorf("too early: %+v", b)
				}
				d.mkdir("c/d/e")
			}
			for range 2 {
				if b := take(t, f); !b.Lost {
					t.Errorf("%+v", b)
				}
			}
			if s := w.State(); s.Watching || !strings.Contains(s.Why, "max_user_watches") {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestRoots(t *testing.T) {
	d := newTree(t, "a/f", "b/f", "b/c/f")
	open := func(dirs ...string) *Watcher {
		var folders []workspace.Folder
		for _, dir := range dirs {
			folders = append(folders, workspace.Folder{Name: strings.ToUpper(filepath.Base(dir)), Dir: d.path(dir)})
		}
		disk, err := workspace.OpenDisk(folders, workspace.DiskOptions{})
		d.must(err)
		t.Cleanup(func() { disk.Close() })
		w := New(disk)
		t.Cleanup(func() { w.Close() })
		return w
	}
	w := open("a", "b")
	f := w.Subscribe()
	d.write("a/f", "x")
	d.write("b/c/f", "x")
	if b := take(t, f); !slices.Equal(b.Names, []string{"A/f", "B/c/f"}) {
		t.Errorf("%+v", b)
	}
	if s := open("b", "b/c").State(); s.Watching || !strings.Contains(s.Why, "in another") {
		t.Errorf("%+v", s)
	}
	d.move("a", "z")
	if b := take(t, f); !b.Lost || w.State().Watching {
		t.Errorf("a root is elsewhere: %+v, %+v", b, w.State())
	}
}

// Nothing is left of a closed watcher, and nobody waits for it.
func TestClose(t *testing.T) {
	d := newTree(t, "a/f")
	disk := d.disk()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		d.must(err)
		return len(list)
	}
	goroutines, open := runtime.NumGoroutine(), descriptors()
	w := New(disk)
	f := w.Subscribe()
	take(t, f)
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("a file is there: %v", left)
	}
	d.must(w.Close())
	<-f.Ready()
	if _, err := f.Sync(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("err = %v", err)
	}
	d.must(w.Close())
	if n := descriptors(); n != open {
		t.Errorf("%d descriptors, before %d", n, open)
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), goroutines)
		}
	}
}

func BenchmarkSync(b *testing.B) {
	dir := b.TempDir()
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer disk.Close()
	w := New(disk)
	defer w.Close()
	f := w.Subscribe()
	for b.Loop() {
		if _, err := f.Sync(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
