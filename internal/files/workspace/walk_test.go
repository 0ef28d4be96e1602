package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

func TestWalk(t *testing.T) {
	userIgnore(t, "")
	d := diskOf(t, map[string]string{
		".gitignore": "*.log\nout/\n", "a.go": "", "a.log": "", ".hid": "", "out/x.go": "", "out/y.log": "", "out/.h": "",
		"sub/.gitignore": "/b.go\n", "sub/b.go": "", "sub/c.go": "", "sub/.h/d.go": "", ".git/config": "", "sub/.git/x": "",
	})
	goFiles := func(name string, dir bool) bool { return dir || strings.HasSuffix(name, ".go") }
	for what, c := range map[string]struct {
		opts WalkOptions
		want string
	}{
		"all":                       {WalkOptions{}, "a.go sub/c.go"},
		"a dot for the root":        {WalkOptions{Dir: "."}, "a.go sub/c.go"},
		"one worker":                {WalkOptions{Workers: 1}, "a.go sub/c.go"},
		"hidden":                    {WalkOptions{Hidden: true}, ".gitignore .hid a.go sub/.gitignore sub/.h/d.go sub/c.go"},
		"ignored":                   {WalkOptions{IncludeIgnored: true}, "a.go a.log out/x.go out/y.log sub/b.go sub/c.go"},
		"a directory":               {WalkOptions{Dir: "sub"}, "sub/c.go"},
		"an ignored directory":      {WalkOptions{Dir: "out"}, "out/x.go"},
		"an ignored one, and all":   {WalkOptions{Dir: "out", IncludeIgnored: true}, "out/x.go out/y.log"},
		"a hidden directory":        {WalkOptions{Dir: "sub/.h"}, "sub/.h/d.go"},
		"a file":                    {WalkOptions{Dir: "a.go"}, "a.go"},
		"an ignored file":           {WalkOptions{Dir: "out/y.log"}, "out/y.log"},
		"kept files":                {WalkOptions{IncludeIgnored: true, Keep: goFiles}, "a.go out/x.go sub/b.go sub/c.go"},
		"kept directories":          {WalkOptions{Keep: func(n string, dir bool) bool { return n != "sub" }}, "a.go"},
		"a file that Keep rejects":  {WalkOptions{Dir: "a.log", Keep: goFiles}, ""},
		"what Keep would also hide": {WalkOptions{Dir: "sub", Keep: func(n string, dir bool) bool { return n != "sub" }}, "sub/c.go"},
	} {
		t.Run(what, func(t *testing.T) {
			if diff := cmp.Diff(c.want, strings.Join(walked(t, d, c.opts), " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A walk ends with its context, whatever its workers are at just then.
func TestWalkEndsAnyTime(t *testing.T) {
	userIgnore(t, "")
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("%d/%d/f", i%5, i)] = ""
	}
	d := diskOf(t, files)
	names := slices.Sorted(maps.Keys(files))
	for i := range 500 {
		ctx, cancel := context.WithCancel(t.Context())
		opts := WalkOptions{Workers: 4}
		if i%2 == 0 {
			opts.Names = names
		}
		go cancel()
		if err := d.Walk(ctx, opts, func(*Entry) error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestWalkSeveralRoots(t *testing.T) {
	userIgnore(t, "")
	one, two := diskOf(t, map[string]string{"a": "", ".gitignore": "x\n", "x": ""}), diskOf(t, map[string]string{"b/c": "", "x": ""})
	d, err := OpenDisk([]Folder{{Name: "one", Dir: one.Abs(".")}, {Name: "two", Dir: two.Abs(".")}}, DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct{ dir, want string }{
		{"", "one/a two/b/c two/x"},
		{"two", "two/b/c two/x"},
		{"two/b", "two/b/c"},
		{"one/x", "one/x"},
	} {
		if diff := cmp.Diff(c.want, strings.Join(walked(t, d, WalkOptions{Dir: c.dir}), " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.dir, diff)
		}
	}
}

func TestWalkEndsWithTheErrorOfVisit(t *testing.T) {
	userIgnore(t, "")
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = ""
	}
	d := diskOf(t, files)
	mine := errors.New("mine")
	ctx, cancel := context.WithCancel(context.Background())
	for what, c := range map[string]struct {
		visit func() error
		want  error
	}{
		"an error":  {func() error { return mine }, mine},
		"skip all":  {func() error { return fs.SkipAll }, nil},
		"cancelled": {func() error { cancel(); return nil }, context.Canceled},
	} {
		var visits atomic.Int32
		err := d.Walk(ctx, WalkOptions{Workers: 4}, func(*Entry) error {
			visits.Add(1)
			return c.visit()
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: Walk = %v, want %v", what, err, c.want)
		}
		if n := visits.Load(); what != "cancelled" && (n < 1 || n > 4) {
			t.Errorf("%s: %d visits, want one per worker at most", what, n)
		}
		if what == "cancelled" {
			ctx, cancel = context.WithCancel(context.Background())
		}
	}
	cancel()
	if err := d.Walk(ctx, WalkOptions{}, func(*Entry) error { t.Error("visited"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Walk = %v, want Canceled", err)
	}
	if err := d.Walk(context.Background(), WalkOptions{Dir: "nosuch"}, func(*Entry) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Walk = %v, want ErrNotExist", err)
	}
}

// Every entry can be read in both ways, whatever its size, and a file in a
// directory of thousands is visited once.
func TestWalkReads(t *testing.T) {
	userIgnore(t, "")
	files := map[string]string{"empty": "", "piece": strings.Repeat("x\n", 32), "long": strings.Repeat("0123456789\n", 40_000), "line": strings.Repeat("x", 300_000)}
	d := diskOf(t, files)
	write := func(name, text string) {
		if err := ownfile.WriteFile(d.Abs(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.Mkdir(d.Abs("many"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("many/.gitignore", "*.log\n") // first, the other one last: few file systems list both at once
	write("many/1.log", "")
	for i := range 3000 {
		name := fmt.Sprintf("many/%d %s", i, strings.Repeat("-", 60)) // more than is listed at a time
		files[name] = fmt.Sprint(i)
		write(name, files[name])
	}
	write("many/2.tmp", "")
	write("many/.ignore", "*.tmp\n")
	opts := WalkOptions{Workers: 3}
	got := make([]map[string]string, opts.Workers)
	bufs := make([][]byte, opts.Workers)
	err := d.Walk(context.Background(), opts, func(e *Entry) error {
		if got[e.Worker] == nil {
			got[e.Worker] = map[string]string{}
		}
		data, err := e.Read(bufs[e.Worker])
		bufs[e.Worker] = data
		got[e.Worker][e.Path] += string(data)
		if e.Scan == nil || len(e.Path) > 5 {
			return err
		}
		var pieces strings.Builder
		scanErr := e.Scan(make([]byte, 64), func(piece []byte, last bool) bool {
			if !last && (len(piece) == 0 || piece[len(piece)-1] != '\n') {
				t.Errorf("%s: a piece doesn't end with a line", e.Path)
			}
			pieces.Write(piece)
			return true
		})
		if e.Path == "line" {
			if scanErr == nil {
				t.Error("a line that is too long for a piece was scanned")
			}
		} else if pieces.String() != string(data) || scanErr != nil {
			t.Errorf("%s: Scan = %d bytes, %v; want %d", e.Path, pieces.Len(), scanErr, len(data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range got {
		for name, text := range m {
			all[name] += text
		}
	}
	if diff := cmp.Diff(files, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWalkTooLarge(t *testing.T) {
	d := diskOf(t, map[string]string{"ok": "x"})
	if err := ownfile.Truncate(d.Abs("ok"), MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	visits := 0
	err := d.Walk(context.Background(), WalkOptions{}, func(e *Entry) error {
		visits++
		_, err := e.Read(nil)
		return err
	})
	if !errors.Is(err, ErrTooLarge) || visits != 1 {
		t.Errorf("Walk = %v after %d visits, want ErrTooLarge", err, visits)
	}
}

// The Go distribution is listed as ripgrep lists it.
func TestWalkGoTree(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		needs.Skip(t, needs.Ripgrep, "rg is not here to compare with")
	}
	userIgnore(t, "")
	dir := filepath.Join(runtime.GOROOT(), "src")
	d, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	want := sortedLines(outputOf(t, dir, nil, rg, "--files", "--no-config", "--no-require-git", "--no-ignore-parent"))
	if diff := cmp.Diff(want, walked(t, d, WalkOptions{})); diff != "" {
		t.Errorf("(-rg +ours):\n%s", diff)
	}
}

func BenchmarkWalk(b *testing.B) {
	d, err := OpenDisk([]Folder{{Dir: runtime.GOROOT()}}, DiskOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for b.Loop() {
		if err := d.Walk(context.Background(), WalkOptions{}, func(*Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// A walk tells of directories before it lists them, and can do without files.
func TestWalkTellsOfDirectories(t *testing.T) {
	d, dir := openTest(t, DiskOptions{}, map[string]string{
		"f": "", "a/f": "", "a/b/f": "", "out/f": "", ".gitignore": "out/\n", ".h/f": "", "a/.git/HEAD": "", ".git/HEAD": "",
	})
	if err := ownfile.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		opts  WalkOptions
		dirs  []string
		repos []string
		files int
	}{
		"all":         {WalkOptions{}, []string{".", "a", "a/b", "empty"}, []string{".", "a"}, 3},
		"directories": {WalkOptions{DirsOnly: true}, []string{".", "a", "a/b", "empty"}, []string{".", "a"}, 0},
		"hidden":      {WalkOptions{DirsOnly: true, Hidden: true}, []string{".", ".h", "a", "a/b", "empty"}, []string{".", "a"}, 0},
		"below":       {WalkOptions{DirsOnly: true, Dir: "a"}, []string{"a", "a/b"}, []string{"a"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var dirs, repos []string
			files := 0
			c.opts.Enter = func(name string, _ bool) { mu.Lock(); dirs = append(dirs, name); mu.Unlock() }
			c.opts.Repository = func(name string) { mu.Lock(); repos = append(repos, name); mu.Unlock() }
			err := d.Walk(t.Context(), c.opts, func(*Entry) error { mu.Lock(); files++; mu.Unlock(); return nil })
			slices.Sort(dirs)
			slices.Sort(repos)
			if err != nil || !slices.Equal(dirs, c.dirs) || !slices.Equal(repos, c.repos) || files != c.files {
				t.Errorf("%v, %v, %d files, %v", dirs, repos, files, err)
			}
		})
	}
}

// A walk of names reads what a walk that lists reads, through every layer, and
// follows no link that came into the way.
func TestWalkNames(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/e%d/f%d", i%7, i%3, i)] = fmt.Sprint(i)
	}
	files["top"], files["d1/.env"] = "top", "secret"
	d, dir := openTest(t, DiskOptions{}, files)
	symlink.Make(t, "d1", filepath.Join(dir, "link"))
	view := Guard(NewOverlay(d, layer{"top": text("over"), "d1/e1/f1": nil, "new/f": text("new")}), nil)
	read := func(opts WalkOptions) map[string]string {
		var mu sync.Mutex
		got := map[string]string{}
		err := view.Walk(t.Context(), opts, func(e *Entry) error {
			data, err := e.Read(nil)
			if err != nil {
				return nil
			}
			if e.Stat != nil && opts.Names != nil && opts.Names[e.Number] != e.Path {
				t.Errorf("%s has the number %d", e.Path, e.Number)
			}
			if e.Stat != nil {
				if st, err := e.Stat(); err != nil || st.Size != int64(len(data)) || st.Mtime == 0 {
					t.Errorf("%s: %+v, %v", e.Path, st, err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if _, ok := got[e.Path]; ok {
				t.Errorf("%s comes twice", e.Path)
			}
			got[e.Path] = string(data)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	names := []string{"gone", "d1/gone/f", "link/e1/f1", "d1", "d1/.env", "top/f"}
	for name := range files {
		names = append(names, name)
	}
	want := read(WalkOptions{})
	if len(want) != 301 {
		t.Fatalf("%d files", len(want))
	}
	for range 3 { // in any order
		if diff := cmp.Diff(want, read(WalkOptions{Names: names})); diff != "" {
			t.Error(diff)
		}
		slices.Sort(names)
	}
	if diff := cmp.Diff(map[string]string{"top": "over", "d2/e2/f2": "2", "new/f": "new"}, read(WalkOptions{Names: []string{"d2/e2/f2"}, Keep: func(name string, dir bool) bool { return true }})); diff != "" {
		t.Error(diff)
	}
}
