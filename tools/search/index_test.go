//go:build linux

package search

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// world is a tree that others change, with buffers over it, and an index of it.
type world struct {
	t      *testing.T
	r      *rand.Rand
	dir    string
	disk   *workspace.Disk
	layer  *buffers
	files  workspace.Files
	index  *textindex.Index
	serial int
}

// buffers is a layer of texts that are not on the disk.
type buffers struct {
	mu    sync.Mutex
	texts map[string]*string // nil: deleted
}

func (b *buffers) Lookup(name string) (data []byte, deleted, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, ok := b.texts[name]
	if !ok || text == nil {
		return nil, ok, ok
	}
	return []byte(*text), false, true
}

func (b *buffers) Names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.texts))
}

// newWorld makes a tree. With two folders, one in the other, nothing can be
// watched, and the index has to look at everything.
func newWorld(t *testing.T, seed uint64, watched bool) *world {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir(), layer: &buffers{texts: map[string]*string{}}}
	w.must(ownfile.MkdirAll(filepath.Join(w.dir, "in"), 0o755))
	folders := []workspace.Folder{{Dir: w.dir}}
	if !watched {
		folders = []workspace.Folder{{Name: "all", Dir: w.dir}, {Name: "in", Dir: filepath.Join(w.dir, "in")}}
	}
	disk, err := workspace.OpenDisk(folders, workspace.DiskOptions{})
	w.must(err)
	t.Cleanup(func() { disk.Close() })
	watcher := watch.New(disk)
	t.Cleanup(func() { watcher.Close() })
	if s := watcher.State(); s.Watching != watched {
		t.Fatalf("%+v", s)
	}
	var o textindex.Options
	if watched { // then events tell of changes within a tick of the clock, too
		o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	}
	w.disk, w.index = disk, textindex.New(disk, watcher.Subscribe, o)
	w.files = struct{ workspace.Files }{workspace.Guard(workspace.NewOverlay(disk, w.layer), func(name string) bool { return strings.HasSuffix(name, "ok.pem") })}
	for range 60 {
		w.change()
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) pick(list ...string) string { return list[w.r.IntN(len(list))] }

// name makes a name of a file; most of them come again.
func (w *world) name() string {
	var elems []string
	for range w.r.IntN(4) {
		elems = append(elems, w.pick("a", "b", "in", "out", ".hid", "deep", "x.d", "\xff"))
	}
	return strings.Join(append(elems, w.pick("f.go", "g.go", "h.txt", "i.log", "key.pem", "ok.pem", ".env", ".dot", "big", "k")), "/")
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

var vocabulary = []string{"mutex_lock", "interruptible", "Kernel", "kernel", "mask", "SKB", "return x", "foo.bar()", "été", "\u212aelvin", "zz", "needle",
	"func (s *T) String() string", "0x12ab", "\t\tif err != nil {", "a\rb", "tail\r", "\x80\xff", "ſhort"}

func (w *world) text() string {
	var b strings.Builder
	lines := w.r.IntN(30)
	if w.r.IntN(12) == 0 {
		lines = 20_000 // in pieces and blocks
	}
	for range lines {
		for range w.r.IntN(4) {
			b.WriteString(w.pick(vocabulary...))
			b.WriteString(w.pick("", " ", "_", "-"))
		}
		b.WriteString(w.pick("\n", "\n", "\n", "\r\n", fmt.Sprintf("%d\n", w.r.IntN(5000))))
	}
	text := b.String()
	switch w.r.IntN(16) {
	case 0:
		text = "\x00" + text
	case 1:
		text += "\x00"
	case 2:
		text = "\xef\xbb\xbf" + text
	case 3:
		var out []byte
		for _, u := range utf16.Encode([]rune(text)) {
			out = append(out, byte(u), byte(u>>8))
		}
		text = "\xff\xfe" + string(out)
	case 4:
		text += strings.Repeat("one long line needle ", 20_000)
	}
	return text
}

// change does one thing to the tree or to the buffers, whatever comes of it.
func (w *world) change() {
	name := w.name()
	p := w.path(name)
	w.serial++
	switch w.r.IntN(18) {
	default:
		_ = ownfile.MkdirAll(filepath.Dir(p), 0o755)
		_ = ownfile.WriteFile(p, []byte(w.text()), 0o644)
	case 1:
		if f, err := ownfile.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			f.WriteString(w.pick(vocabulary...) + "\n")
			f.Close()
		}
	case 2:
		temp := w.path(fmt.Sprintf("tmp%d", w.serial)) // as editors save
		_ = ownfile.WriteFile(temp, []byte(w.text()), 0o644)
		_ = ownfile.Rename(temp, p)
	case 3:
		_ = ownfile.Remove(p)
	case 4:
		_ = ownfile.Rename(p, w.path(w.name()))
	case 5:
		_ = ownfile.Rename(filepath.Dir(p), w.path(w.pick("a", "b", "moved", "a/deep", "out")))
	case 6:
		if filepath.Dir(name) != "." && w.r.IntN(3) == 0 {
			_ = ownfile.RemoveAll(filepath.Dir(p))
		}
	case 7:
		dir := w.path(w.pick(".", "a", "b", "in", "a/b"))
		rules := w.pick("out/\n", "*.log\n", "", "out/\n!.hid/\n", "/a/f.go\nh.txt\n", "deep\n", "!.dot\n")
		_ = ownfile.WriteFile(filepath.Join(dir, w.pick(".gitignore", ".ignore", ".sidecarignore")), []byte(rules), 0o644)
	case 8:
		dir := w.path(w.pick(".", "a") + "/.git/info")
		_ = ownfile.MkdirAll(dir, 0o755)
		_ = ownfile.WriteFile(filepath.Join(dir, "exclude"), []byte(w.pick("", "g.go\n", "in/\n")), 0o644)
	case 9:
		_ = ownfile.Symlink(w.path(w.name()), p)
	case 10:
		_ = ownfile.Link(p, w.path(w.name()))
	case 11, 12:
		text := w.text()
		w.layer.mu.Lock()
		name := w.view(name)
		if w.layer.texts[name] = &text; w.r.IntN(4) == 0 {
			w.layer.texts[name] = nil
		}
		w.layer.mu.Unlock()
	case 13:
		w.layer.mu.Lock()
		clear(w.layer.texts)
		w.layer.mu.Unlock()
	case 14: // a directory or a file becomes the other, or a link
		at := p
		if w.r.IntN(2) == 0 {
			at = filepath.Dir(p)
		}
		if at == w.dir || at == w.path("in") {
			return
		}
		_ = ownfile.RemoveAll(at)
		switch w.r.IntN(3) {
		case 0:
			_ = ownfile.WriteFile(at, []byte(w.text()), 0o644)
		case 1:
			_ = ownfile.Symlink(w.path(w.pick("a", "b", "in", w.name())), at)
		case 2:
			_ = ownfile.MkdirAll(at, 0o755)
			_ = ownfile.WriteFile(filepath.Join(at, "f.go"), []byte(w.text()), 0o644)
		}
	case 15: // a directory goes aside and comes back as another
		dir, aside := filepath.Dir(p), w.path("aside")
		if dir == w.dir || dir == w.path("in") {
			return
		}
		_ = ownfile.Rename(dir, aside)
		_ = ownfile.MkdirAll(dir, 0o755)
		_ = ownfile.WriteFile(p, []byte(w.text()), 0o644)
		_ = ownfile.Rename(aside, w.path(w.pick("moved", "a/deep", "b", "aside2")))
		_ = ownfile.RemoveAll(aside)
	}
}

// view returns a file's name in the view.
func (w *world) view(name string) string {
	if len(w.disk.Folders()) > 1 {
		return "all/" + strings.ToValidUTF8(name, "_")
	}
	return strings.ToValidUTF8(name, "_")
}

func (w *world) query() *Query {
	q := &Query{Pattern: w.pick(vocabulary...), Plain: true}
	switch w.r.IntN(8) {
	case 0:
		q.Pattern = fmt.Sprint(w.r.IntN(5000)) + w.pick("", "4", "77")
	case 1:
		q.Pattern, q.Plain = w.pick("mutex.*able", "(kernel|needle)$", "^\\s*if err", "interrupt\\w+", "[0-9]{3}", "mask|zz", "k.*k", "absent(e|es) at all", "x{FFFD}|\\x{FFFD}needle"), false
	case 2:
		q.Pattern = q.Pattern[:len(q.Pattern)/2]
	case 3:
		q.Pattern += w.pick(vocabulary...)
	}
	q.Pattern = strings.ToValidUTF8(q.Pattern, "?")
	if q.Pattern == "" {
		q.Pattern = "needle"
	}
	q.Fold = w.r.IntN(2) == 0
	q.Context, q.Limit = w.r.IntN(8)/5, []int{0, 1, 7, 200}[w.r.IntN(4)]
	q.Count, q.First = w.r.IntN(5) == 0, w.r.IntN(5) == 0
	switch w.r.IntN(6) {
	case 0:
		q.Walk.Dir = w.view(w.pick("a", "a/b", "in", "out", ".hid", "moved"))
	case 1:
		q.Walk.Keep = func(name string, dir bool) bool {
			return dir && !strings.HasSuffix(name, "/b") || strings.HasSuffix(name, ".go")
		}
	case 2:
		q.Walk.Hidden, q.Walk.IncludeIgnored = w.r.IntN(2) == 0, w.r.IntN(2) == 0
	}
	return q
}

// check asks with the index and without it.
func (w *world) check(q *Query, when string) {
	w.t.Helper()
	with := *q
	with.Index = w.index
	want, err1 := q.Run(w.t.Context(), w.files)
	got, err2 := with.Run(w.t.Context(), w.files)
	if (err1 == nil) != (err2 == nil) {
		w.t.Fatalf("%s: %+v: %v, with the index %v", when, q, err1, err2)
	}
	if err1 != nil {
		return
	}
	got.Swept = ""
	if !reflect.DeepEqual(want, got) {
		w.t.Fatalf("%s: %+v, over it %q (-scan +index):\n%.3000s", when, q, workspace.Overlaid(w.files), cmp.Diff(want, got, cmp.AllowUnexported(Matches{}, FileMatches{}, Line{})))
	}
}

func (w *world) checkNames(when string) {
	w.t.Helper()
	var g glob
	for g.text == "" {
		g, _ = parseGlob("pattern", w.pick("*.go", "**", "a/**", "**/deep/*", "*.pem", "in/*.txt", "**/[de]eep/*", "[ab].go"), &names{w.t.Context(), w.index, w.files})
	}
	opts := workspace.WalkOptions{}
	want, total, err1 := Files(w.t.Context(), nil, w.files, opts, 20, g.match)
	got, total2, err2 := Files(w.t.Context(), w.index, w.files, opts, 20, g.match)
	if !slices.Equal(want, got) || total != total2 || err1 != nil || err2 != nil {
		w.t.Fatalf("%s: %s: %d, %v, with the index %d, %v (-walk +index):\n%s", when, g.text, total, err1, total2, err2, cmp.Diff(want, got))
	}
}

var (
	everything = flag.Bool("everything", false, "ten times as many random steps, from fresh seeds")
	again      = flag.Uint64("seed", 0, "with -everything: one that failed")
)

// With and without the index the answers are the same, whatever happens to the
// files between one question and the next.
func TestIndexChangesNothing(t *testing.T) {
	slow.Test(t)
	rounds := 25
	if *everything {
		rounds = 500
	}
	for name, watched := range map[string]bool{"watched": true, "not watched": false} {
		for seed := range uint64(4) {
			if *everything {
				seed += uint64(time.Now().UnixNano())
			}
			if *again != 0 {
				seed = *again
			}
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				w := newWorld(t, seed, watched)
				for i := range rounds {
					when := fmt.Sprintf("seed %d, round %d", seed, i)
					for range w.r.IntN(4) {
						w.change()
					}
					for range 1 + w.r.IntN(3) {
						w.check(w.query(), when)
					}
					if i%3 == 0 {
						w.checkNames(when)
					}
				}
				if s := w.index.Stats(); s.Known == 0 || (s.Source == "") != watched {
					t.Errorf("the index was not in use: %+v", s)
				}
			})
		}
	}
}

// A directory that takes the place of another one has other files, although
// nobody tells of each.
func TestIndexReplacedDirectory(t *testing.T) {
	w := newWorld(t, 8, true)
	out := t.TempDir()
	for dir, text := range map[string]string{w.path("swapped/in"): "it was the one before\n", filepath.Join(out, "next/in"): "it is another directory\n"} {
		w.must(ownfile.MkdirAll(dir, 0o755))
		w.must(ownfile.WriteFile(filepath.Join(dir, "f.txt"), []byte(text), 0o644))
	}
	found := func(text string) int {
		q := &Query{Pattern: text, Plain: true}
		w.check(q, text)
		m, err := q.Run(t.Context(), w.files)
		w.must(err)
		return m.Found
	}
	for range 2 { // the first one reads it
		if n := found("it was the one before"); n != 1 {
			t.Fatalf("found in %d files", n)
		}
	}
	w.must(ownfile.Rename(w.path("swapped"), filepath.Join(out, "aside")))
	w.must(ownfile.Rename(filepath.Join(out, "next"), w.path("swapped")))
	if n, before := found("it is another directory"), found("it was the one before"); n != 1 || before != 0 {
		t.Errorf("what is there is found in %d files, what was in %d", n, before)
	}
}

// What is written through another name of a file is found under each of them.
func TestIndexHardLinks(t *testing.T) {
	w := newWorld(t, 7, true)
	one, other := w.path("linked.txt"), w.path(".linked")
	q := &Query{Pattern: "written through the other", Plain: true}
	for i, step := range []func() error{
		func() error { return ownfile.WriteFile(one, []byte("text\n"), 0o644) },
		func() error { return ownfile.Link(one, other) },
		func() error { return ownfile.WriteFile(other, []byte("written through the other\n"), 0o644) },
	} {
		w.must(step())
		w.check(q, fmt.Sprint("step ", i))
	}
	if m, err := q.Run(t.Context(), w.files); err != nil || m.Found != 1 {
		t.Errorf("the control: %+v %v", m, err)
	}
}

// The index finds what ripgrep finds, after each of many changes.
func TestIndexEqualsRipgrep(t *testing.T) {
	slow.Test(t)
	rg, err := exec.LookPath("rg")
	if err != nil {
		needs.Skip(t, needs.Ripgrep, "rg is not here to compare with")
	}
	w := newWorld(t, 99, true)
	for range 30 {
		w.change()
		clear(w.layer.texts)
		for _, pattern := range []string{"needle", "mutex_lock", "absent_everywhere", "interrupt[a-z]+e"} {
			m, err := (&Query{Pattern: pattern, Index: w.index}).Run(t.Context(), w.disk)
			w.must(err)
			got := grepLines(m)
			for i := range got {
				got[i] = strings.TrimRight(got[i], "\r")
			}
			slices.Sort(got)
			want := slices.DeleteFunc(ripgrep(t, rg, w.dir, "-e", pattern, "."), func(line string) bool {
				return strings.Contains(line, "\xff/") // names that aren't UTF-8 are none of a view
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q (-rg +ours):\n%.3000s", pattern, diff)
			}
		}
	}
}

// Files without the text are left alone: the index is not a scan in disguise.
func TestIndexReadsLittle(t *testing.T) {
	files := map[string]string{"there": "a needle_in_a_haystack\n"}
	for i := range 500 {
		files[fmt.Sprintf("d%d/f%d", i%9, i)] = strings.Repeat(fmt.Sprintf("line %d of nothing\n", i), 20)
	}
	d := project(t, files)
	watcher := watch.New(d)
	defer watcher.Close()
	x := textindex.New(d, watcher.Subscribe, textindex.Options{})
	read := func() int {
		n := &counted{Files: d}
		m, err := (&Query{Pattern: "needle_in_a_haystack", Index: x}).Run(t.Context(), n)
		if err != nil || m.Found != 1 || m.Searched != 501 {
			t.Fatalf("%+v, %v", m, err)
		}
		return n.files
	}
	if n := read(); n != 501 {
		t.Errorf("the first search reads %d files", n)
	}
	if n := read(); n > 3 {
		t.Errorf("the second one reads %d files", n)
	}
	for i := range 5 {
		if err := ownfile.WriteFile(d.Abs(fmt.Sprintf("d%d/f%d", i, i)), []byte("other"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := read(); n < 6 || n > 8 {
		t.Errorf("after five changes %d files are read", n)
	}
	if s := x.Stats(); s.Known != 501 || s.Bytes == 0 {
		t.Errorf("%+v", s)
	}
	names, err := x.Containing(t.Context(), d, []string{"haystack"}, func(name string) bool { return name == "d0/f0" })
	if err != nil || len(names) > 4 || !slices.Contains(names, "there") || !slices.Contains(names, "d0/f0") {
		t.Errorf("%v, %v", names, err)
	}
	x.Close()
	q := Query{Pattern: "needle", Index: x, Walk: workspace.WalkOptions{Dir: "d1"}}
	if _, err := q.Run(t.Context(), d); err != nil || x.Stats().Files != 0 {
		t.Errorf("one directory makes it know %+v, %v", x.Stats(), err)
	}
	if n := read(); n != 501 {
		t.Errorf("a closed index begins again: %d", n)
	}
}

// Several sessions ask while others change files; when all is quiet, nothing
// has gone wrong.
func TestIndexIsShared(t *testing.T) {
	w := newWorld(t, 7, true)
	changes, done := make(chan struct{}), make(chan error)
	go func() {
		defer close(changes)
		for range 300 {
			w.change()
		}
	}()
	for i := range 4 {
		go func() {
			var err error
			for n := 0; err == nil; n++ {
				select {
				case <-changes:
					done <- nil
					return
				default:
				}
				q := Query{Pattern: vocabulary[(n+i)%4], Index: w.index, Fold: n%2 == 0}
				if _, err = q.Run(t.Context(), w.files); err == nil {
					_, _, err = Files(t.Context(), w.index, w.files, workspace.WalkOptions{}, 20, func(string) bool { return true })
				}
			}
			done <- err
			<-changes
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for range 30 {
		w.check(w.query(), "afterwards")
		w.checkNames("afterwards")
	}
}

// Of a long file only what may have the text is read, and files for which
// there is no memory are read in full: with the same result.
func TestIndexReadsParts(t *testing.T) {
	var long strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&long, "line %d of nothing at all\n", i)
		if i == 20_000 {
			long.WriteString("a needle_in_a_haystack\n")
		}
	}
	d := project(t, map[string]string{"long": long.String(), "nul": long.String() + "\x00", "bom": "\ufeff" + long.String(), "short": "x\n"})
	watcher := watch.New(d)
	defer watcher.Close()
	future := func() time.Time { return time.Now().Add(time.Hour) }
	past := func() time.Time { return time.Now().Add(-time.Hour) }
	for name, c := range map[string]struct {
		o      textindex.Options
		partly int
	}{"in parts": {textindex.Options{Now: future}, 1}, "too new": {textindex.Options{Now: past}, 0}, "no memory": {textindex.Options{MaxBytes: 1, Now: future}, 0}} {
		x := textindex.New(d, watcher.Subscribe, c.o)
		q := Query{Pattern: "needle_in_a_haystack", Index: x}
		for round := range 2 {
			n := &counted{Files: d}
			m, err := q.Run(t.Context(), n)
			if err != nil || m.Found != 2 || m.Searched != 4 || m.Binary != 1 || m.Files[1].Lines[0].Number != 20_002 {
				t.Fatalf("%s: %+v, %v", name, m, err)
			}
			if round == 1 && n.partly != c.partly {
				t.Errorf("%s: %d files were read in parts, want %d", name, n.partly, c.partly)
			}
		}
		x.Close()
	}
}

// What is written through another name of a file is found, though no event
// tells of it.
func TestIndexAndLinks(t *testing.T) {
	d := project(t, map[string]string{"a": "nothing here\n", "b": "nothing here\n"})
	watcher := watch.New(d)
	defer watcher.Close()
	x := textindex.New(d, watcher.Subscribe, textindex.Options{})
	outside := filepath.Join(t.TempDir(), "a")
	if err := ownfile.Link(d.Abs("a"), outside); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m, err := (&Query{Pattern: "written_elsewhere", Index: x}).Run(t.Context(), d)
		if err != nil || m.Searched != 2 {
			t.Fatalf("%+v, %v", m, err)
		}
		if err := ownfile.WriteFile(outside, []byte("written_elsewhere\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if m.Found > 0 {
			return
		}
	}
	t.Error("it is not found")
}

// Letters with a third form are found in it.
func TestIndexFolds(t *testing.T) {
	d := project(t, map[string]string{"a": "\u212aernel_mode\n", "b": "KERNEL_MODE\n", "c": "fa\u017ft_path\n", "d": "\u00c9T\u00c9_long\n",
		"e": "TA\u017fK_S\u212aip_K\u017f\n", "f": "\u0130x_name\n"})
	watcher := watch.New(d)
	defer watcher.Close()
	x := textindex.New(d, watcher.Subscribe, textindex.Options{})
	for _, plain := range []bool{true, false} {
		for pattern, want := range map[string]int{"kernel_mode": 2, "fast_path": 1, "\u00e9t\u00e9_long": 1, "task_skip_ks": 1, "skip": 1,
			"\u0130x_name": 1, "nothing_at_all": 0} {
			for range 2 {
				m, err := (&Query{Pattern: pattern, Plain: plain, Fold: true, Index: x}).Run(t.Context(), d)
				if err != nil || m.Found != want {
					t.Errorf("%s: %d files, %v", pattern, m.Found, err)
				}
			}
		}
	}
}

// A file that changes while it is read is read again.
func TestIndexAndChangesMeanwhile(t *testing.T) {
	d := project(t, map[string]string{"a": "nothing here\n", "b": "nothing here\n"})
	watcher := watch.New(d)
	defer watcher.Close()
	x := textindex.New(d, watcher.Subscribe, textindex.Options{})
	run := func(files workspace.Files) int {
		m, err := (&Query{Pattern: "written_meanwhile", Index: x, Walk: workspace.WalkOptions{Workers: 1}}).Run(t.Context(), files)
		if err != nil || m.Searched != 2 {
			t.Fatalf("%+v, %v", m, err)
		}
		return m.Found
	}
	if n := run(meanwhile{d, func() {
		if err := ownfile.WriteFile(d.Abs("a"), []byte("written_meanwhile\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, n, err := Files(t.Context(), x, d, workspace.WalkOptions{}, 9, func(string) bool { return true }) // takes the event
		if n != 2 || err != nil {
			t.Errorf("in between: %d, %v", n, err)
		}
	}}); n != 0 {
		t.Fatalf("%d: the change came too early", n)
	}
	if n := run(d); n != 1 {
		t.Errorf("afterwards: %d", n)
	}
}

// meanwhile does something after the file a was read.
type meanwhile struct {
	workspace.Files
	do func()
}

func (m meanwhile) Walk(ctx context.Context, opts workspace.WalkOptions, visit func(*workspace.Entry) error) error {
	return m.Files.Walk(ctx, opts, func(e *workspace.Entry) error {
		if e.Path != "a" {
			return visit(e)
		}
		once := *e
		once.Scan = nil
		once.Read = func(buf []byte) ([]byte, error) {
			data, err := e.Read(buf)
			data = slices.Clone(data)
			m.do()
			return data, err
		}
		return visit(&once)
	})
}

// counted counts the files that a walk visits.
type counted struct {
	workspace.Files
	files  int
	partly int // of which parts were read
}

func (c *counted) Walk(ctx context.Context, opts workspace.WalkOptions, visit func(*workspace.Entry) error) error {
	var mu sync.Mutex
	return c.Files.Walk(ctx, opts, func(e *workspace.Entry) error {
		mu.Lock()
		c.files++
		mu.Unlock()
		once, first := *e, true
		if e.ReadAt != nil {
			once.ReadAt = func(buf []byte, off int64) error {
				mu.Lock()
				if first {
					c.partly++
				}
				first = false
				mu.Unlock()
				return e.ReadAt(buf, off)
			}
		}
		return visit(&once)
	})
}
