package workspace

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/crash"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

var everything = flag.Bool("everything", false, "kill at every point, and batches of 50 files too")

// batch is a batch of about n changes of all kinds, the files before, and what
// is there after. One file has a second name, made by linkBatch, as is a link.
func batch(n int) (changes []Change, files, after map[string]string) {
	files, after = map[string]string{}, map[string]string{}
	long := strings.Repeat("some text that is longer than one word\n", 200)
	for i := range n {
		name := fmt.Sprintf("d%d/f%d", i%3, i)
		old, now := fmt.Sprintf("old %d\n%s", i, long), fmt.Sprintf("new %d\n%s%s", i, long, long)
		switch i % 5 {
		case 0, 4:
			files[name] = old
			c := Change{Path: name, Before: text(old), After: text(now)}
			after[name] = now
			if i%5 == 4 {
				c.Mode, after[name] = 0o755, execMark+now
			}
			changes = append(changes, c)
		case 1:
			name = "new/" + name
			changes = append(changes, Change{Path: name, After: text(now)})
			after[name] = now
		case 2:
			files[name] = old
			changes = append(changes, Change{Path: name, Before: text(old)})
		case 3:
			files[name] = old
			changes = append(changes, Change{From: name, Path: name + ".moved", Before: text(old), After: text(now)})
			after[name+".moved"] = now
		}
	}
	if n > 1 && keepsExec { // elsewhere links are no matter of course
		files["linked"] = "short"
		changes = append(changes, Change{Path: "linked", Before: text("short"), After: text("longer than before"), Mode: 0o755},
			Change{Path: "symbolic", Before: text("linked"), BeforeLink: true, After: text("d0"), AfterLink: true},
			Change{Path: "new/symbolic", After: text("linked"), AfterLink: true})
		after["linked"], after["linked2"] = "x longer than before", "x longer than before"
		after["symbolic"], after["new/symbolic"] = "-> d0", "-> linked"
	}
	if n > 1 { // a file becomes a directory, and a directory a file
		files["t"], files["gives/f"], files["gives/sub/g"] = "T", "F", "G"
		changes = append(changes, Change{Path: "t/a/in", After: text("in")}, Change{Path: "t", Before: text("T")}, Change{Path: "gives", After: text("way")},
			Change{Path: "gives/f", Before: text("F")}, Change{Path: "gives/sub/g", Before: text("G")})
		after["t/a/in"], after["gives"] = "in", "way"
	}
	for _, m := range []map[string]string{files, after} {
		for name := range m {
			if strings.HasPrefix(name, "gives/") {
				continue
			}
			for p := path.Dir(name); p != "."; p = path.Dir(p) {
				after[p+"/"] = ""
			}
		}
	}
	return changes, files, after
}

func linkBatch(t testing.TB, dir string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(dir, "linked")); err != nil {
		return
	}
	if err := ownfile.Link(filepath.Join(dir, "linked"), filepath.Join(dir, "linked2")); err != nil {
		t.Fatal(err)
	}
	symlink.Make(t, "linked", filepath.Join(dir, "symbolic"))
}

// recordPoints returns the points that applying the changes passes.
func recordPoints(t testing.TB, files map[string]string, changes []Change) []string {
	t.Helper()
	var points []string
	d, dir := openTest(t, DiskOptions{StateDir: t.TempDir(), Fail: func(p string) error {
		points = append(points, p)
		return nil
	}}, files)
	linkBatch(t, dir)
	if err := d.Apply(t.Context(), changes...); err != nil {
		t.Fatal(err)
	}
	return points
}

const (
	crashEnv = "WORKSPACE_TEST_CRASH" // "apply|recover|rollback|naive|respell <files> <point> <dir> <state>"
)

// TestMain lets the test binary be the process that crashes.
func TestMain(m *testing.M) {
	if spec := os.Getenv(crashEnv); spec != "" {
		crashAt(spec)
		return
	}
	os.Exit(m.Run())
}

// crashAt does what spec says, and kills its own process at the given point.
func crashAt(spec string) {
	var what, dir, state string
	var n, point int
	fmt.Sscan(spec, &what, &n, &point, &dir, &state)
	count := 0
	die := func(string) error {
		if count++; count == point {
			crash.Now()
		}
		return nil
	}
	changes, _, _ := batch(n)
	if what == "rollback" {
		inner, renames := die, 0
		die = func(at string) error {
			if at == "before file.rename" {
				renames++
			}
			if renames < n/2 {
				return nil
			}
			if at == "before file.rename" && renames == n/2 {
				return syscall.EIO
			}
			return inner(at)
		}
	}
	if what == "naive" {
		naive(dir, changes, die)
		return
	}
	o := DiskOptions{StateDir: state, Fail: die}
	if what == "respell" {
		changes, o.Folding = respelling(n), pretend(Folding{Case: true})
	}
	d, err := OpenDisk([]Folder{{Dir: dir}}, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	if what == "recover" {
		_, err = d.Recover(context.Background())
	} else {
		err = d.Apply(context.Background(), changes...)
	}
	if err != nil && what != "rollback" {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// naive applies changes as an editor would that knows no better.
func naive(dir string, changes []Change, step func(string) error) {
	for _, c := range changes {
		path := filepath.Join(dir, c.Path)
		ownfile.MkdirAll(filepath.Dir(path), 0o755)
		step("")
		if c.From != "" {
			ownfile.Rename(filepath.Join(dir, c.From), path)
			step("")
		}
		if c.After == nil {
			ownfile.Remove(path)
			step("")
			continue
		}
		if c.AfterLink {
			ownfile.Remove(path)
			step("")
			ownfile.Symlink(string(c.After), path)
			step("")
			continue
		}
		file, _ := ownfile.Create(path)
		step("")
		file.Write(c.After[:len(c.After)/2])
		step("")
		file.Write(c.After[len(c.After)/2:])
		step("")
		file.Close()
		if c.Mode != 0 {
			ownfile.Chmod(path, c.Mode)
		}
	}
}

// runCrash reports whether the child was killed at its point; it wasn't if it
// got to the end before.
func runCrash(t testing.TB, what string, n, point int, dir, state string) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+strings.Join([]string{what, strconv.Itoa(n), strconv.Itoa(point), dir, state}, " "))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if crash.Was(cmd) {
		return true
	}
	t.Fatalf("%s %d at %d: %v\n%s", what, n, point, err, out)
	return false
}

// memDir is a directory in memory, where there is one: what a killed process
// leaves does not depend on the device, and nobody has to wait for it.
func memDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "workspace-test-")
	if err != nil || !filepath.IsAbs(dir) {
		return t.TempDir()
	}
	t.Cleanup(func() { ownfile.RemoveAll(dir) })
	return dir
}

// crashTrial is one directory in which a process was killed.
func crashTrial(t testing.TB, what string, n, point int) (dir, state string, before map[string]string) {
	_, files, _ := batch(n)
	dir, state = memDir(t), memDir(t)
	writeFiles(t, dir, files)
	linkBatch(t, dir)
	before = tree(t, dir)
	if !runCrash(t, what, n, point, dir, state) {
		t.Errorf("%s of %d files: point %d was not reached", what, n, point)
	}
	return dir, state, before
}

// settleTree recovers and reports whether everything is old or everything new.
func settleTree(t testing.TB, n int, dir, state string, before map[string]string) string {
	t.Helper()
	d, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	report, err := d.Recover(t.Context())
	if err != nil || len(report.Conflicts)+len(report.Kept) > 0 {
		t.Errorf("recover: %+v, %v", report, err)
	}
	if left := tree(t, state); len(left) > 0 {
		t.Errorf("left in the state directory: %v", left)
	}
	_, _, after := batch(n)
	got := tree(t, dir)
	switch {
	case cmp.Equal(got, before):
		return "old"
	case cmp.Equal(got, after):
		return "new"
	}
	t.Logf("from old to it: %s\nfrom new: %s", cmp.Diff(before, got), cmp.Diff(after, got))
	return "mixed"
}

// TestCrash kills a process at the points of applying 1, 5 and 20 files: at each
// of the small batches, at each fourth of a large one.
func TestCrash(t *testing.T) {
	slow.Test(t)
	sizes := []int{1, 5, 20}
	if *everything {
		sizes = append(sizes, 50)
	}
	for _, n := range sizes {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			changes, files, _ := batch(n)
			points := recordPoints(t, files, changes)
			outcomes := map[string]int{}
			step := 1
			if n > 5 && !*everything {
				step = 4
			}
			kills := 0
			for point := 0; point < len(points); point += step {
				kills++
				dir, state, before := crashTrial(t, "apply", n, point+1)
				outcome := settleTree(t, n, dir, state, before)
				if outcomes[outcome]++; outcome == "mixed" {
					t.Errorf("killed %q (%d): mixed", points[point], point)
				}
			}
			t.Logf("%d kills at %d points: %v", kills, len(points), outcomes)
			if n > 1 && (outcomes["old"] == 0 || outcomes["new"] == 0) {
				t.Error("every kill had the same outcome")
			}
		})
	}
}

// TestCrashInRecovery kills a process in recovering, after a kill at each point
// that leaves it something to do.
func TestCrashInRecovery(t *testing.T) {
	slow.Test(t)
	n, kills, step := 3, 0, 9
	if *everything {
		n, step = 5, 1
	}
	changes, files, _ := batch(n)
	points := recordPoints(t, files, changes)
	for first := range points {
		if !strings.HasPrefix(points[first], "after file.") && points[first] != "before temp.create" {
			continue // elsewhere recovering does the same
		}
		for second := 1; ; second += step {
			dir, state, before := crashTrial(t, "apply", n, first+1)
			killed := runCrash(t, "recover", n, second, dir, state)
			if outcome := settleTree(t, n, dir, state, before); outcome != "new" {
				t.Errorf("killed %q, then at %d of recovering: %s", points[first], second, outcome)
			}
			if !killed {
				break
			}
			kills++
		}
	}
	t.Logf("%d kills in recovery", kills)
	if kills < 30 {
		t.Errorf("only %d kills", kills)
	}
}

// TestCrashInRollBack kills a process that puts files back after an error.
func TestCrashInRollBack(t *testing.T) {
	slow.Test(t) // it starts some hundred processes
	const n = 10
	_, files, _ := batch(n)
	outcomes := map[string]int{}
	for point := 1; ; point++ {
		dir, state := memDir(t), memDir(t)
		writeFiles(t, dir, files)
		linkBatch(t, dir)
		before := tree(t, dir)
		killed := runCrash(t, "rollback", n, point, dir, state)
		outcome := settleTree(t, n, dir, state, before)
		if !killed {
			if outcome != "old" {
				t.Errorf("rolled back to %s", outcome)
			}
			break
		}
		if outcomes[outcome]++; outcome == "mixed" {
			t.Errorf("killed at %d of rolling back: mixed", point)
		}
	}
	t.Logf("kills: %v", outcomes)
	if outcomes["new"] < 20 {
		t.Error("too few kills")
	}
}

// TestCrashControl shows that the trials find what they look for.
func TestCrashControl(t *testing.T) {
	mixed := 0
	for point := 2; point < 18; point += 3 {
		dir, _, before := crashTrial(t, "naive", 5, point)
		_, _, after := batch(5)
		if got := tree(t, dir); !cmp.Equal(got, before) && !cmp.Equal(got, after) {
			mixed++
		}
	}
	if mixed == 0 {
		t.Error("writing files one after the other was never caught in the middle")
	}
	t.Logf("%d of 6 mixed", mixed)
}

// TestApplyConcurrent lets many goroutines change one file: each change is
// made or refused.
func TestApplyConcurrent(t *testing.T) {
	d, dir := openTest(t, DiskOptions{StateDir: t.TempDir()}, map[string]string{"n": "0"})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for done := 0; done < 10; {
				data, err := d.ReadFile("n")
				if err != nil {
					t.Error(err)
					return
				}
				n, _ := strconv.Atoi(string(data))
				if d.Apply(t.Context(), Change{Path: "n", Before: data, After: strconv.AppendInt(nil, int64(n+1), 10)}) == nil {
					done++
				}
			}
		})
	}
	wg.Wait()
	if got := tree(t, dir)["n"]; got != "40" {
		t.Errorf("counted to %s", got)
	}
}
