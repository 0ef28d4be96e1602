package pendingedits_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/crash"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

const crashDir, crashAt = "PENDINGEDITS_CRASH_DIR", "PENDINGEDITS_CRASH_AT"

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if spec := os.Getenv(batchCrash); spec != "" {
		if err := crashBatch(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(crashDir); dir != "" {
		at, err := strconv.Atoi(os.Getenv(crashAt))
		if err == nil {
			err = dieAt(dir, at)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// world is a workspace, its store, and the process's way to die in it.
type world struct {
	root  string
	disk  *workspace.Disk
	store *pendingedits.Store
}

func openWorld(dir string, fail func(string) error) (*world, error) {
	w := &world{root: filepath.Join(dir, "root")}
	var err error
	w.disk, err = workspace.OpenDisk([]workspace.Folder{{Name: "root", Dir: w.root}},
		workspace.DiskOptions{StateDir: filepath.Join(dir, "disk"), Fail: fail})
	if err != nil {
		return nil, err
	}
	if _, err := w.disk.Recover(context.Background()); err != nil {
		return nil, err
	}
	w.store, err = pendingedits.Open(filepath.Join(dir, "pending"), w.disk, pendingedits.Options{Fail: fail})
	return w, err
}

func (w *world) close() { w.store.Close(); w.disk.Close() }

var crashFiles = map[string]string{"a": ten, "c": "c\n", "d": "d\n", "big": strings.Repeat("a long line\n", 20_000)}

func (w *world) edit(name, after string) error {
	view := w.store.For(agent)
	return view.Apply(context.Background(), workspace.Change{Path: name, Before: bytesOf(text(view, name)), After: bytesOf(after)})
}

func (w *world) accept(hunks ...string) error {
	res, err := w.store.Accept(context.Background(), pendingedits.Selection{Hunks: hunks})
	if err == nil && len(res.Failed) > 0 {
		err = res.Failed[0].Err
	}
	return err
}

func (w *world) undo() error {
	res, err := w.store.Undo(context.Background())
	if err == nil && len(res.Failed) > 0 {
		err = res.Failed[0].Err
	}
	return err
}

func (w *world) hunk() string { return w.store.List("").Edits[0].Hunks[0].ID }

// steps are what a session does; each is acknowledged when it returns.
var steps = []func(*world) error{
	func(w *world) error { return w.edit("a", replace(ten, "2\n", "two\n", "5\n", "", "8\n", "8\n8½\n")) },
	func(w *world) error {
		view := w.store.For(agent)
		return view.Apply(context.Background(),
			workspace.Change{Path: "new/b", After: []byte("b\n")},
			workspace.Change{Path: "c", Before: []byte("c\n")},
			workspace.Change{Path: "e", From: "d", Before: []byte("d\n"), After: []byte("d\nand e\n")})
	},
	func(w *world) error { return w.accept(w.hunk()) },
	func(w *world) error {
		_, err := w.store.Reject(context.Background(), pendingedits.Selection{Hunks: []string{w.hunk()}}, "")
		return err
	},
	func(w *world) error { return w.accept() },
	func(w *world) error { return w.undo() },
	func(w *world) error { return w.undo() },
	func(w *world) error { return w.undo() },
	func(w *world) error {
		return w.store.Propose(context.Background(), "a", []byte(replace(ten, "9\n", "neun\n")))
	},
	func(w *world) error { return w.edit("big", crashFiles["big"]+"1\n") },
	func(w *world) error { return w.edit("big", crashFiles["big"]+"2\n") },
	func(w *world) error { return w.edit("big", crashFiles["big"]+"3\n") },
	func(w *world) error { return w.edit("big", crashFiles["big"]+"4\n") },
	func(w *world) error { return w.edit("big", crashFiles["big"]+"5\n") },
	func(w *world) error { return w.accept() },
}

// state is everything there is to see of a world.
func (w *world) state() (string, error) {
	names := map[string]bool{}
	for name := range crashFiles {
		names[name] = true
	}
	err := filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(w.root, path)
			names[filepath.ToSlash(rel)] = true
		}
		return err
	})
	var out []string
	list := w.store.List("")
	for _, e := range list.Edits {
		names[e.Name] = true
		line := fmt.Sprintf("pending %s %s→%s %s", e.Kind, e.From, e.Name, e.State)
		for _, h := range e.Hunks {
			line += fmt.Sprintf(" %d,%d %q", h.OldStart, h.OldLines, h.Text)
		}
		out = append(out, line)
	}
	for name := range names {
		out = append(out, fmt.Sprintf("file %s %q seen %q", name, short(text(w.disk, name)), short(text(w.store.For(agent), name))))
	}
	sort.Strings(out)
	return strings.Join(out, "\n"), err
}

// short keeps states readable.
func short(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("%d…%s", len(s), s[len(s)-20:])
	}
	return s
}

// goThrough does the steps, calling done after each; naive is how a careless
// store would do one of them.
func goThrough(dir string, naive bool, fail func(string) error, done func(i int)) error {
	w, err := openWorld(dir, fail)
	if err != nil {
		return err
	}
	for i, step := range steps {
		if naive && i == 4 {
			// Forget the edits, then apply them.
			view := w.store.For(agent)
			data := []byte(text(view, "a"))
			live := []byte(text(w.disk, "a"))
			if _, err := w.store.Reject(context.Background(), pendingedits.Selection{}, ""); err != nil {
				return err
			}
			if err := w.disk.Apply(context.Background(), workspace.Change{Path: "a", Before: live, After: data}); err != nil {
				return err
			}
		} else if err := step(w); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		done(i + 1)
	}
	w.close()
	return nil
}

// dieAt goes through the steps, says after which it is, and dies at a point.
func dieAt(dir string, at int) error {
	n := 0
	return goThrough(dir, false, func(point string) error {
		if n++; n == at {
			fmt.Println("killed", point)
			crash.Now()
		}
		return nil
	}, func(i int) { fmt.Println("done", i) })
}

func newWorldDir(t *testing.T) string {
	dir := memDir(t)
	for name, text := range crashFiles {
		if err := ownfile.MkdirAll(filepath.Join(dir, "root"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(filepath.Join(dir, "root", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestKilled looks at what a kill -9 leaves at every point of the store's and the
// disk's work; at some, or with -everything at all, a process is killed. What is there afterwards is what was there before or
// after the step it died in: in the files, and in the queue.
func TestKilled(t *testing.T) {
	slow.Test(t)
	// What the state is after each step when nothing goes wrong.
	w, err := openWorld(newWorldDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	states := make([]string, 0, len(steps)+1)
	note := func() {
		s, err := w.state()
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, s)
	}
	note()
	for i, step := range steps {
		if err := step(w); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		note()
	}
	w.close()

	sweep := &sweep{t: t, scratch: memDir(t)}
	fresh, err := copyOf(newWorldDir(t))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[32]byte]string{} // states after opening what was left
	after := func(c copied) string {
		if _, ok := seen[c.key]; !ok {
			sweep.in(c, func(dir string) { seen[c.key] = reopened(t, dir) })
		}
		return seen[c.key]
	}
	// each goes through the steps, and looks at what a kill at each point leaves.
	each := func(naive bool, look func(at int, point string, acked int, left copied)) {
		type leftAt struct {
			at    int
			point string
			acked int
			left  copied
		}
		var leftBehind []leftAt
		acked, at := 0, 0
		sweep.in(fresh, func(dir string) {
			err := goThrough(dir, naive, func(point string) error {
				left, err := copyOf(dir)
				at++
				if err != nil {
					t.Fatal(err)
				}
				leftBehind = append(leftBehind, leftAt{at, point, acked, left})
				return nil
			}, func(i int) { acked = i })
			if err != nil {
				t.Fatal(err)
			}
		})
		for _, l := range leftBehind {
			look(l.at, l.point, l.acked, l.left)
		}
	}
	points := map[string]bool{}
	tried, killed := 0, 0
	each(false, func(at int, point string, acked int, left copied) {
		tried++
		points[point] = true
		got := after(left)
		if got != states[acked] && (acked+1 >= len(states) || got != states[acked+1]) {
			t.Errorf("killed at %s (point %d) in step %d: neither the old nor the new state (-old +got):\n%s", point, at, acked, cmp.Diff(states[acked], got))
		}
		if at%16 != 5 && !*everything {
			return
		}
		sweep.in(fresh, func(dir string) {
			killed++
			ackedThen, pointThen, finished := kill(t, dir, at)
			if finished || ackedThen != acked || pointThen != point || reopened(t, dir) != got {
				t.Errorf("point %d, %s: a process that is really killed leaves something else", at, point)
			}
		})
	})
	naive := 0
	each(true, func(_ int, _ string, acked int, left copied) {
		if got := after(left); acked == 4 && got != states[4] && got != states[5] {
			naive++
		}
	})
	t.Logf("%d tried, %d held, at %d kinds of points, of which %d with a process that was killed; the careless order failed at %d", tried, tried, len(points), killed, naive)
	if naive == 0 {
		t.Error("the control did not fail, so this test proves nothing")
	}
	for _, p := range []string{
		"record.write", "record.written", "record.sync", "record.synced", "accept.intent.synced", "accept.apply", "accept.applied", "accept.synced",
		"reject.written", "propose.synced", "undo.intent.synced", "undo.apply", "undo.applied", "undo.synced",
		"compact.create", "compact.written", "compact.rename", "compact.renamed", "compact.synced",
	} {
		if !points[p] {
			t.Errorf("nothing was killed at %s", p)
		}
	}
}

// kill runs the steps in a process that dies at a point.
func kill(t *testing.T, dir string, at int) (acked int, point string, finished bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("%s=%d", crashAt, at))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil && !crash.Was(cmd) {
		t.Fatalf("point %d: %v\n%s", at, err, out)
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "killed "); ok {
			point = rest
		} else if rest, ok := strings.CutPrefix(lines.Text(), "done "); ok {
			acked, _ = strconv.Atoi(rest)
		}
	}
	return acked, point, err == nil
}

func reopened(t *testing.T, dir string) string {
	t.Helper()
	w, err := openWorld(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	state, err := w.state()
	if err != nil {
		t.Fatal(err)
	}
	return state
}
