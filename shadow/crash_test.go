package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/crash"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

const (
	dieAt   = "SHADOW_TEST_DIE_AT"
	nowhere = "nowhere"
	atMost  = "SHADOW_TEST_AT_MOST"
)

// TestMain is also the process that dies: it does something about the shadow x
// in the current directory and kills itself at a point.
func TestMain(m *testing.M) {
	point := os.Getenv(dieAt)
	if point == "" {
		os.Exit(m.Run())
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	o := shadow.Options{Dir: dir, Fail: func(at string) error {
		if at == point {
			crash.Now()
		}
		return nil
	}}
	if most, err := strconv.Atoi(os.Getenv(atMost)); err == nil {
		o.Settings = limits(shadow.Limits{Shadows: most})
	}
	mgr, err := shadow.New(o)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	switch os.Getenv("SHADOW_TEST_DO") {
	case "crowd":
		err = crowd(ctx, mgr)
	case "create y":
		_, err = mgr.Create(ctx, shadow.CreateRequest{ID: "y", Lazy: true})
	case "start":
	case "churn":
		err = churn(ctx, mgr, dir)
	case "discard":
		_, err = mgr.Discard(ctx, "x")
		mgr.Close()
	case "lazy":
		_, err = mgr.Create(ctx, shadow.CreateRequest{ID: "x", Lazy: true})
	case "materialize":
		err = mgr.Materialize(ctx, "x")
	case "apply":
		err = applyAndDie(ctx, mgr, point)
	default:
		_, err = mgr.Create(ctx, shadow.CreateRequest{ID: "x", IncludeUncommitted: true})
	}
	if err == nil {
		_, err = mgr.List(ctx) // it has tidied up then
	}
	if mgr.Close(); point == nowhere {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "it did not die:", err)
	os.Exit(3)
}

// die runs this test binary until it dies at a point.
func (h *house) die(point, do string) {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(h.t.Context(), self)
	cmd.Dir = h.Dir
	cmd.Env = append(os.Environ(), dieAt+"="+point, "SHADOW_TEST_DO="+do)
	out, err := cmd.CombinedOutput()
	if err == nil || !crash.Was(cmd) {
		h.t.Fatalf("%s: it did not die: %v\n%s", point, err, out)
	}
}

// TestKilled: wherever a server dies, git finds all as it should be, and the
// next start leaves either the whole shadow or nothing.
func TestKilled(t *testing.T) {
	slow.Test(t)
	create := []string{"create.dir", "create.copied", "create.begun", "create.staged", "create.filled", "create.moved", "create.published"}
	reuse := append([]string{"create.reused"}, create[1:]...)
	lazy := []string{"create.dir", "create.begun", "create.staged", "create.filled", "create.moved", "create.published"}
	discard := []string{"discard.moved", "discard.kept", "discard.unregistered", "discard.cleaned", "discard.pooling"}
	for _, c := range []struct {
		what   string
		points []string
		stays  []string // points after which the shadow is there
	}{
		{"create", create, []string{"create.moved", "create.published"}},
		{"reuse", reuse, []string{"create.moved", "create.published"}},
		{"discard", discard, nil},
		{"lazy", lazy, []string{"create.moved", "create.published"}},
	} {
		for _, point := range c.points {
			t.Run(c.what+" "+point, func(t *testing.T) {
				h := newHouse(t, "a", "1\n", "b/c", "2\n")
				h.Git("worktree", "add", "-q", "--detach", "../theirs")
				switch c.what {
				case "discard":
					h.create(shadow.CreateRequest{ID: "x"})
				case "reuse":
					h.create(shadow.CreateRequest{ID: "x"})
					if _, err := h.Discard(context.Background(), "x"); err != nil {
						t.Fatal(err)
					}
					h.Close()
				}
				h.die(point, c.what)
				h.sound()
				// The next start.
				again := openHouse(t, h.Repo, shadow.Options{Settings: limits(shadow.Limits{Pool: -1})})
				list, err := again.List(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if stays := slices.Contains(c.stays, point); stays != (len(list) == 1) {
					t.Errorf("shadows: %+v", list)
				}
				for _, s := range list {
					if err := again.Materialize(context.Background(), s.ID); err != nil {
						t.Error(err)
					}
					if out := h.At(s.Path).Git("status", "--porcelain"); out != "" {
						t.Errorf("git status in the shadow: %s", out)
					}
					if d, err := again.Diff(context.Background(), s.ID); err != nil || len(d.Files) > 0 {
						t.Errorf("diff: %+v %v", d, err)
					}
					if _, err := again.Discard(context.Background(), s.ID); err != nil {
						t.Error(err)
					}
					again.Close()
				}
				h.sound()
				h.clean()
				again.create(shadow.CreateRequest{ID: "x"})
				h.sound()
			})
		}
	}
}

// TestFailure: an error at any point leaves nothing, and the next attempt
// succeeds.
func TestFailure(t *testing.T) {
	for _, point := range []string{"create.dir", "create.copied", "create.begun", "create.staged", "create.filled", "create.moved"} {
		t.Run(point, func(t *testing.T) {
			r := gittest.New(t)
			r.Commit("first", "a", "1\n", "b/c", "2\n")
			broken := errors.New("broken")
			fail := true
			h := openHouse(t, r, shadow.Options{Fail: func(at string) error {
				if fail && at == point {
					return broken
				}
				return nil
			}})
			before := h.everything()
			if _, err := h.Create(context.Background(), shadow.CreateRequest{ID: "x"}); !errors.Is(err, broken) {
				t.Fatalf("got %v", err)
			}
			if after := h.everything(); after != before {
				t.Errorf("something was left:\n%s", after)
			}
			h.sound()
			fail = false
			h.create(shadow.CreateRequest{ID: "x"})
		})
	}
}

// TestBaseIsKept: the commit that a shadow began with stays in the repository,
// whatever becomes of the branches and of the shadow's HEAD.
func TestBaseIsKept(t *testing.T) {
	h := newHouse(t, "a", "1\n")
	h.Commit("second", "a", "2\n")
	s, w := h.create(shadow.CreateRequest{})
	w.Write("a", "3\n")
	h.Git("reset", "-q", "--hard", "HEAD~1")
	w.Git("checkout", "-q", "--orphan", "elsewhere")
	w.Git("commit", "-qam", "elsewhere")
	h.Git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "refs/heads/main", "HEAD")
	h.Git("gc", "-q", "--prune=now")
	if d, err := h.Diff(context.Background(), s.ID); err != nil || !strings.Contains(d.Text, "-2\n+3\n") {
		t.Errorf("%+v %v", d, err)
	}
}

// clean makes sure that nothing is left of any shadow.
func (h *house) clean() {
	h.t.Helper()
	if list := h.Git("worktree", "list"); strings.Count(list, "\n") != 2 || strings.Contains(list, "prunable") {
		h.t.Errorf("git worktree list: %s", list)
	}
	for _, pattern := range []string{".sidecar/shadows/*", ".sidecar/shadows/.[nolbk]*", ".git/sidecar/*", ".sidecar/state/shadows/*"} {
		if left, _ := filepath.Glob(h.Path(pattern)); len(left) > 0 {
			h.t.Errorf("left: %q", left)
		}
	}
}

// TestKilledCareless is the control: a worktree that is registered first and
// filled then, without a sweep, is found half made.
func TestKilledCareless(t *testing.T) {
	h := newHouse(t, "a", "1\n", "b/c", "2\n")
	dir := h.Path(".sidecar/shadows/x")
	h.Git("worktree", "add", "-q", "--no-checkout", "--detach", dir) // and here it dies
	if out := h.At(dir).Git("status", "--porcelain"); out == "" {
		t.Error("a half made worktree passes for a whole one, so the test above proves nothing")
	}
}

// TestSweepKeepsWork: what has no registration is set aside with all that is in
// it, and what is somebody else's stays where it is.
func TestSweepKeepsWork(t *testing.T) {
	h := newHouse(t, "a", "1\n")
	s, w := h.create(shadow.CreateRequest{ID: "x"})
	w.Write("work", "precious\n")
	h.Git("worktree", "add", "-q", "--detach", ".sidecar/shadows/byhand")
	if err := ownfile.RemoveAll(h.Path(".git/worktrees/x")); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Mkdir(h.Path(".sidecar/shadows/empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	openHouse(t, h.Repo, shadow.Options{})
	if _, err := os.Lstat(s.Path); err == nil {
		t.Error("it is still there")
	}
	lost, _ := filepath.Glob(h.Path(".sidecar/shadows/.lost-*-x/work"))
	if len(lost) != 1 {
		t.Fatalf("lost: %q", lost)
	}
	if data, err := os.ReadFile(lost[0]); err != nil || string(data) != "precious\n" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := os.Lstat(h.Path(".sidecar/shadows/empty")); err == nil {
		t.Error("an empty directory is still there")
	}
	if _, err := os.Lstat(h.Path(".sidecar/shadows/byhand/a")); err != nil {
		t.Error(err)
	}
	h.create(shadow.CreateRequest{ID: "x"})
}

// TestSweepOfACopy: a copy of the project has shadows of its own, and leaves those
// of the first one alone.
func TestSweepOfACopy(t *testing.T) {
	h := newHouse(t, "a", "1\n")
	s, w := h.create(shadow.CreateRequest{ID: "x"})
	w.Write("work", "precious\n")
	to := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", h.Dir, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m, err := shadow.New(shadow.Options{Dir: to})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if data, err := os.ReadFile(filepath.Join(to, ".sidecar/shadows/x/work")); err != nil || string(data) != "precious\n" {
		t.Errorf("%q %v", data, err)
	}
	if list, err := m.List(context.Background()); err != nil || len(list) != 1 || list[0].Root == s.Root {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := m.Discard(context.Background(), "x"); err != nil {
		t.Error(err)
	}
	if read(t, w, "work") != "precious\n" {
		t.Error("the first one's work is gone")
	}
	if list, err := h.List(context.Background()); err != nil || len(list) != 1 || list[0].ID != s.ID {
		t.Errorf("%+v %v", list, err)
	}
}

// TestTwoServers: managers on one repository make and discard shadows at the
// same time, some of the same name, and start again all the while.
func TestTwoServers(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a", "1\n", "b/c", "2\n", "b/d", "3\n")
	first := openHouse(t, r, shadow.Options{})
	managers := []*shadow.Manager{first.Manager, openHouse(t, r, shadow.Options{}).Manager}
	var work sync.WaitGroup
	ctx := context.Background()
	for i, m := range managers {
		for j := range 2 {
			work.Go(func() {
				for k := range 8 {
					own, shared := fmt.Sprintf("own-%d-%d-%d", i, j, k), fmt.Sprintf("shared-%d", k%2)
					if _, err := m.Create(ctx, shadow.CreateRequest{ID: own}); err != nil {
						t.Errorf("create %s: %v", own, err)
					}
					_, err := m.Create(ctx, shadow.CreateRequest{ID: shared})
					if err != nil && !errors.Is(err, shadow.ErrExists) {
						t.Errorf("create %s: %v", shared, err)
					}
					if _, err := m.Discard(ctx, own); err != nil {
						t.Errorf("discard %s: %v", own, err)
					}
					_, err = m.Discard(ctx, shared)
					if err != nil && !errors.Is(err, shadow.ErrUnknown) && !errors.Is(err, os.ErrNotExist) {
						t.Errorf("discard %s: %v", shared, err)
					}
				}
			})
		}
	}
	work.Go(func() {
		for range 10 {
			m, err := shadow.New(shadow.Options{Dir: r.Dir})
			if err != nil {
				t.Error(err)
				return
			}
			m.Close()
		}
	})
	work.Wait()
	for _, m := range managers {
		m.Close()
	}
	again := openHouse(t, r, shadow.Options{})
	list, err := again.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if out := r.At(s.Path).Git("status", "--porcelain"); out != "" {
			t.Errorf("%s: %s", s.ID, out)
		}
		if _, err := again.Discard(ctx, s.ID); err != nil {
			t.Error(err)
		}
	}
	again.sound()
	if lost, _ := filepath.Glob(r.Path(".sidecar/shadows/.lost-*")); len(lost) > 0 {
		t.Errorf("set aside: %q", lost)
	}
}
