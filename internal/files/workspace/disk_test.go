package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

func TestDiskFS(t *testing.T) {
	d, dir := openTest(t, DiskOptions{}, map[string]string{"a.txt": "a", "d/b.txt": "b", "d/e/c.txt": ""})
	symlink.Make(t, "d/b.txt", filepath.Join(dir, "link"))
	if err := fstest.TestFS(d, "a.txt", "d/b.txt", "d/e/c.txt"); err != nil {
		t.Error(err)
	}
}

func openTwo(t *testing.T) (*Disk, string) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"one/a.txt": "a", "two/b.txt": "b", "two/sub/c.txt": "c", "out.txt": "out"})
	d, err := OpenDisk([]Folder{{"left", filepath.Join(dir, "one")}, {"right", filepath.Join(dir, "two")}}, DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, dir
}

func TestSeveralRoots(t *testing.T) {
	d, dir := openTwo(t)
	if err := fstest.TestFS(d, "left/a.txt", "right/b.txt", "right/sub/c.txt"); err != nil {
		t.Error(err)
	}
	if got, want := d.Abs("right/sub/c.txt"), filepath.Join(dir, "two/sub/c.txt"); got != want {
		t.Errorf("abs %q, want %q", got, want)
	}
	change := Change{From: "left/a.txt", Path: "right/new/a.txt", Before: text("a")}
	if err := d.Apply(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if data, err := d.ReadFile("right/new/a.txt"); err != nil || string(data) != "a" {
		t.Errorf("after a move between roots: %q, %v", data, err)
	}
	for given, want := range map[string]string{"b.txt": "there is right/b.txt", "sub": "there is right/sub", "none.txt": "the name of a root (left, right)"} {
		if _, err := d.Resolve(given); !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s without its root: %v, want %q", given, err, want)
		}
	}
	for _, name := range []string{"left", "right", "."} {
		if err := d.Apply(t.Context(), Change{Path: name, After: text("x")}); err == nil {
			t.Errorf("a file in place of %s", name)
		}
	}
}

func TestOpenDiskRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, folders := range map[string][]Folder{
		"none":          nil,
		"relative":      {{"a", "."}},
		"same name":     {{"a", dir}, {"a", dir}},
		"nameless":      {{"a", dir}, {"", dir}},
		"two segments":  {{"a/b", dir}},
		"up":            {{"..", dir}},
		"missing":       {{"a", filepath.Join(dir, "missing")}},
		"not directory": {{"a", "/dev/null"}},
	} {
		if d, err := OpenDisk(folders, DiskOptions{}); err == nil {
			d.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

func TestResolve(t *testing.T) {
	one, dir := openTest(t, DiskOptions{}, map[string]string{"a.txt": "", `odd\name`: ""})
	two, base := openTwo(t)
	type resolve struct {
		disk  *Disk
		given string
		want  string // or
		err   error
	}
	tests := []resolve{
		{one, "a.txt", "a.txt", nil},
		{one, "./a.txt", "a.txt", nil},
		{one, "././a.txt", "a.txt", nil},
		{one, "d//e/", "d/e", nil},
		{one, "d/../a.txt", "a.txt", nil},
		{one, ".", ".", nil},
		{one, "./", ".", nil},
		{one, dir, ".", nil},
		{one, dir + "/", ".", nil},
		{one, dir + "//d/./a.txt", "d/a.txt", nil},
		{one, dir + "/../" + filepath.Base(dir) + "/a.txt", "a.txt", nil},
		{one, "%2e%2e/x", "%2e%2e/x", nil},
		{one, "..foo", "..foo", nil},
		{one, "~backup", "~backup", nil},
		{one, "$tmp", "$tmp", nil},
		{one, "", "", fs.ErrInvalid},
		{one, "..", "", ErrOutside},
		{one, "../a.txt", "", ErrOutside},
		{one, "d/../../a.txt", "", ErrOutside},
		{one, "/", "", ErrOutside},
		{one, "/etc/passwd", "", ErrOutside},
		{one, "//etc/passwd", "", ErrOutside},
		{one, dir + "-evil/a.txt", "", ErrOutside},
		{one, dir + "/../x", "", ErrOutside},
		{one, `..\a.txt`, "", ErrOutside},
		{one, "~/a.txt", "", ErrOutside},
		{one, "$HOME/a.txt", "", ErrOutside},
		{one, "a\x00b", "", fs.ErrInvalid},
		{one, "a\xffb", "", fs.ErrInvalid},
		{one, "file:///etc/passwd", "", fs.ErrInvalid},
		{one, "．．/a.txt", "", fs.ErrInvalid},
		{one, ".\u200b./a.txt", "", fs.ErrInvalid},
		{one, ".. /a.txt", "", fs.ErrInvalid},
		{one, strings.Repeat("a", 300), "", fs.ErrInvalid},
		{one, strings.Repeat("d/", 3000) + "a", "", fs.ErrInvalid},
		{two, "left/a.txt", "left/a.txt", nil},
		{two, "./right//b.txt", "right/b.txt", nil},
		{two, ".", ".", nil},
		{two, filepath.Join(base, "two/b.txt"), "right/b.txt", nil},
		{two, filepath.Join(base, "one"), "left", nil},
		{two, "left/../right/b.txt", "right/b.txt", nil},
		{two, "a.txt", "", fs.ErrInvalid},
		{two, "left/../../out.txt", "", ErrOutside},
		{two, filepath.Join(base, "out.txt"), "", ErrOutside},
	}
	if runtime.GOOS != "windows" { // see TestCheckSegments
		tests = append(tests, []resolve{
			{one, "...", "...", nil},
			{one, "a:b", "a:b", nil},
			{one, `odd\name`, `odd\name`, nil},
			{one, `d\a.txt`, "", fs.ErrInvalid},
		}...)
	}
	for _, test := range tests {
		got, err := test.disk.Resolve(test.given)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%.80q: %q, %v; want %q, %v", test.given, got, err, test.want, test.err)
		}
		if err == nil && !fs.ValidPath(got) {
			t.Errorf("%q: %q is not a valid name", test.given, got)
		}
	}
}

func TestResolveThroughLinkedRoot(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"real/a.txt": "a"})
	symlink.Make(t, "real", filepath.Join(dir, "link"))
	d, err := OpenDisk([]Folder{{Dir: filepath.Join(dir, "link")}}, DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, at := range []string{"link/a.txt", "real/a.txt"} {
		if got, err := d.Resolve(filepath.Join(dir, at)); got != "a.txt" {
			t.Errorf("%s: %q, %v", at, got, err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	d, dir := openTest(t, DiskOptions{}, map[string]string{"huge": "", "full": ""})
	if err := ownfile.Truncate(filepath.Join(dir, "huge"), 1<<40); err != nil {
		needs.Skip(t, needs.Mounts, "no sparse files here: ", err)
	}
	if err := ownfile.Truncate(filepath.Join(dir, "full"), MaxFileSize); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := d.ReadFile("huge"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated to say so", grown)
	}
	if data, err := d.ReadFile("full"); len(data) != MaxFileSize {
		t.Errorf("control: %d bytes, %v", len(data), err)
	}
	endless := strings.NewReader(strings.Repeat("x", MaxFileSize+1)) // grows while it is read
	if _, err := readBounded(endless, 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("growing file: %v", err)
	}
}

// Large files are read in two halves.
func TestLargeFiles(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<16)
	files := map[string]string{}
	for _, size := range []int{512<<10 - 2, 512<<10 - 1, 512 << 10, 512<<10 + 1, 1 << 20} {
		files[fmt.Sprint(size)] = text[:size]
	}
	d, _ := openTest(t, DiskOptions{}, files)
	for name, want := range files {
		if got, err := d.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestRootCanaries keeps an eye on what os.Root promises, each a past mistake
// of its: a change of the Go version must not bring one back.
func TestRootCanaries(t *testing.T) {
	base := t.TempDir()
	writeFiles(t, base, map[string]string{"ws/dir/in.txt": "in", "out/secret.txt": "CANARY-OUT"})
	for link, target := range map[string]string{
		"ws/out": "../out", "ws/dir/up": "../../out", "ws/self": "dir", "ws/file": "../out/secret.txt", "ws/new": "../out/new",
	} {
		symlink.Make(t, target, filepath.Join(base, link))
	}
	d, err := OpenDisk([]Folder{{Dir: filepath.Join(base, "ws")}}, DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	root := d.folders[0].root
	for name, try := range map[string]func() error{
		"read":              func() error { _, err := d.ReadFile("out/secret.txt"); return err },
		"read a link":       func() error { _, err := d.ReadFile("file"); return err },
		"stat":              func() error { _, err := d.Stat("out/secret.txt"); return err },
		"stat a link":       func() error { _, err := d.Stat("file"); return err },
		"list":              func() error { _, err := d.ReadDir("out"); return err },
		"open":              func() error { _, err := d.Open("out"); return err },
		"list below":        func() error { _, err := d.ReadDir("dir/up"); return err },
		"trailing slash":    func() error { _, err := root.Open("out/"); return err },
		"trailing dot":      func() error { _, err := root.Open("out/."); return err },
		"open root slash":   func() error { _, err := root.OpenRoot("out/"); return err },
		"make in link":      func() error { return root.Mkdir("out/x", 0o755) },
		"make all in link":  func() error { return root.MkdirAll("out/x/y", 0o755) },
		"create by link":    func() error { _, err := root.Create("new"); return err },
		"remove in link":    func() error { return root.Remove("out/secret.txt") },
		"remove all":        func() error { return root.RemoveAll("out/secret.txt") },
		"chmod link":        func() error { return root.Chmod("file", 0o777) },
		"rename out":        func() error { return root.Rename("dir/in.txt", "out/in.txt") },
		"rename in":         func() error { return root.Rename("out/secret.txt", "got.txt") },
		"hard link":         func() error { return root.Link("out/secret.txt", "got.txt") },
		"symlink in link":   func() error { return root.Symlink("x", "out/x") },
		"fs of root":        func() error { _, err := fs.ReadFile(root.FS(), "file"); return err },
		"walk below a link": func() error { _, err := fs.ReadDir(root.FS(), "out"); return err },
	} {
		if err := try(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := d.ReadFile("file"); !errors.Is(err, ErrOutside) {
		t.Errorf("what os.Root says of an escape is no longer known: %v", err)
	}
	if data, err := d.ReadFile("self/in.txt"); string(data) != "in" {
		t.Errorf("control: %q, %v", data, err)
	}
	want := []string{"out/", "out/secret.txt"}
	var got []string
	for name := range tree(t, base) {
		if strings.HasPrefix(name, "out") {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
