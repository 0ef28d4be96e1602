package shadow_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// another is a second server, in a process of its own, on the folder dir.
func another(t *testing.T, dir, do string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), dieAt+"="+nowhere, "SHADOW_TEST_DO="+do)
	return cmd
}

// elsewhere has another process do something, and waits for its end.
func elsewhere(t *testing.T, dir, do string) {
	t.Helper()
	if out, err := another(t, dir, do).CombinedOutput(); err != nil {
		t.Errorf("%s in another process: %v\n%s", do, err, out)
	}
}

// TestDiscardedMeanwhile: a shadow that another server discards while it is
// looked at is unknown then, and does not look as if all in it was deleted.
func TestDiscardedMeanwhile(t *testing.T) {
	slow.Test(t)
	for _, point := range []string{"changes.found", "changes.known", "nowhere"} {
		for _, what := range []string{"diff", "merge", "list"} {
			for _, then := range []string{"discard", "discard and make again"} {
				if point == "nowhere" && then != "discard" {
					continue // it is the control
				}
				t.Run(point+" "+what+" "+then, func(t *testing.T) {
					r := gittest.New(t)
					r.Commit("first", "a", "1\n", "b/c", "2\n", "b/d", "3\n")
					once := sync.Once{}
					h := openHouse(t, r, shadow.Options{Fail: func(at string) error {
						if at == point {
							once.Do(func() {
								elsewhere(t, r.Dir, "discard")
								if then != "discard" {
									elsewhere(t, r.Dir, "create")
								}
							})
						}
						return nil
					}})
					_, w := h.create(shadow.CreateRequest{ID: "x"})
					w.Write("a", "changed\n")
					h.create(shadow.CreateRequest{ID: "y"})
					var err error
					n := 0
					switch what {
					case "diff":
						var d shadow.Diff
						d, err = h.Diff(t.Context(), "x")
						n = len(d.Files)
					case "merge":
						var m shadow.Merge
						m, err = h.Merge(t.Context(), "x", h.main)
						n = len(m.Changes) + len(m.Conflicts) + len(m.Skipped)
					case "list":
						list, lerr := h.List(t.Context())
						if lerr != nil {
							t.Error(lerr)
						}
						if point != "nowhere" {
							err = shadow.ErrUnknown
						}
						for _, s := range list {
							if s.ID == "x" {
								err, n = nil, s.Changed
							}
						}
					}
					if point == "nowhere" {
						if err != nil || n != 1 {
							t.Errorf("the control: %d, %v", n, err)
						}
					} else if !errors.Is(err, shadow.ErrUnknown) || n != 0 {
						t.Errorf("got %d, %v", n, err)
					}
				})
			}
		}
	}
}

// TestRetiredInPeace: a server that starts while another one cleans what was
// discarded leaves it alone, and it gets into the pool.
func TestRetiredInPeace(t *testing.T) {
	for _, point := range []string{"discard.moved", "discard.kept", "discard.unregistered", "discard.cleaned", "discard.pooling"} {
		t.Run(point, func(t *testing.T) {
			r := gittest.New(t)
			r.Commit("first", "a", "1\n", "b/c", "2\n", "b/d", "3\n")
			h := openHouse(t, r, shadow.Options{Fail: func(at string) error {
				if at == point {
					elsewhere(t, r.Dir, "start")
				}
				return nil
			}})
			h.create(shadow.CreateRequest{ID: "x"})
			if _, err := h.Discard(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
			h.Close()
			for _, name := range []string{"base", "tree/a", "tree/b/c", "tree/b/d"} {
				if got, _ := filepath.Glob(h.Path(".sidecar/shadows/.pool-*/" + name)); len(got) != 1 {
					t.Errorf("%s in the pool: %q", name, got)
				}
			}
			_, w := h.create(shadow.CreateRequest{ID: "x"})
			if out := w.Git("status", "--porcelain"); out != "" {
				t.Errorf("git status in the next one: %s", out)
			}
			h.sound()
		})
	}
}

// TestHalfStaged: what a server was stopped at just after it began belongs to
// the folder that it was begun for.
func TestHalfStaged(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a", "1\n", "b/c", "2\n")
	top := openHouse(t, r, shadow.Options{})
	below := openHouse(t, r.At(r.Path("b")), shadow.Options{})
	staged := func() []string {
		list, err := filepath.Glob(r.Path(".git/sidecar/x.*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	below.die("create.begun", "create")
	if got := staged(); len(got) != 1 {
		t.Fatalf("there is %q, so this shows nothing", got)
	}
	elsewhere(t, top.Dir, "start")
	if got := staged(); len(got) != 1 {
		t.Errorf("another folder's server took it: %q", got)
	}
	elsewhere(t, below.Dir, "start")
	if got := staged(); len(got) != 0 {
		t.Errorf("it was not taken back: %q", got)
	}
	// A server that is about it is left alone, by its own folder's too.
	for _, dir := range []string{top.Dir, below.Dir} {
		m, err := shadow.New(shadow.Options{Dir: below.Dir, Fail: func(at string) error {
			if at == "create.begun" {
				elsewhere(t, dir, "start")
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Create(t.Context(), shadow.CreateRequest{ID: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if out := r.At(s.Path).Git("status", "--porcelain"); out != "" {
			t.Errorf("git status in the shadow: %s", out)
		}
		if _, err := m.Discard(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		m.Close()
	}
	top.sound()
}

// churn makes shadows, looks at them, works in them, and discards them.
func churn(ctx context.Context, m *shadow.Manager, dir string) error {
	main, err := workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		return err
	}
	defer main.Close()
	for i := range 6 {
		s, err := m.Create(ctx, shadow.CreateRequest{Lazy: i%3 == 2})
		if err != nil {
			return fmt.Errorf("create: %w", err)
		}
		if err := m.Materialize(ctx, s.ID); err != nil {
			return fmt.Errorf("materialize: %w", err)
		}
		fmt.Println(s.ID)
		git := exec.CommandContext(ctx, "git", "status", "--porcelain")
		git.Dir = s.Path
		if out, err := git.CombinedOutput(); err != nil || len(out) > 0 {
			return fmt.Errorf("git status in a new shadow: %w\n%s", err, out)
		}
		if err := ownfile.WriteFile(filepath.Join(s.Path, "new"), []byte(s.ID), 0o644); err != nil {
			return err
		}
		if _, err := m.List(ctx); err != nil {
			return fmt.Errorf("list: %w", err)
		}
		if g, err := m.Merge(ctx, s.ID, main); err != nil || len(g.Changes) != 1 || string(g.Changes[0].After) != s.ID {
			return fmt.Errorf("merge: %w, %+v", err, g)
		}
		if _, err := m.Discard(ctx, s.ID); err != nil {
			return fmt.Errorf("discard: %w", err)
		}
	}
	return nil
}

// TestProcesses: servers in processes of their own make, merge and discard
// shadows of one repository, while others are killed in the midst of that.
func TestProcesses(t *testing.T) {
	slow.Test(t)
	h := newHouse(t, "a", "1\n", "b/c", "2\n", "b/d", "3\n", "e/f/g", "4\n")
	h.Git("worktree", "add", "-q", "--detach", "../theirs")
	h.die("materialize.filled", "churn") // one is killed when a shadow has no files yet
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() { elsewhere(t, h.Dir, "churn") })
	}
	work.Go(func() {
		for n := range 4 {
			victim := another(t, h.Dir, "churn")
			out, err := victim.StdoutPipe()
			if err != nil {
				t.Error(err)
				return
			}
			if err := victim.Start(); err != nil {
				t.Error(err)
				return
			}
			lines := bufio.NewScanner(out)
			for range n + 1 {
				lines.Scan() // a shadow is made
			}
			if err := victim.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = victim.Wait() // it was killed
		}
	})
	work.Wait()
	again := openHouse(t, h.Repo, shadow.Options{Settings: limits(shadow.Limits{Pool: -1})})
	list, err := again.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list { // those of the killed
		if err := again.Materialize(t.Context(), s.ID); err != nil { // it may have no files yet
			t.Error(err)
		}
		if out := h.At(s.Path).Git("status", "--porcelain"); out != "" && strings.Trim(out, "\n") != "?? new" {
			t.Errorf("%s: %s", s.ID, out)
		}
		if _, err := again.Discard(t.Context(), s.ID); err != nil {
			t.Error(err)
		}
	}
	again.Close()
	h.sound()
	h.clean()
}
