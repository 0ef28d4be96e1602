package shadow_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// runs is a gate that notes what it is to run, and lets all of it go well.
type runs struct{ lines []string }

func (r *runs) run(_ context.Context, s shadow.Step) shadow.Ran {
	r.lines = append(r.lines, s.Run)
	return shadow.Ran{OK: true}
}

// ran fails unless just that was run since it was asked last.
func (r *runs) ran(t *testing.T, want ...string) {
	t.Helper()
	if strings.Join(r.lines, "|") != strings.Join(want, "|") {
		t.Errorf("it ran %q, want %q", r.lines, want)
	}
	r.lines = nil
}

// setupHouse is a repository whose shadows have a setup, and one of them.
func setupHouse(t *testing.T, o shadow.Options, steps ...shadow.Step) *house {
	t.Helper()
	r := gittest.New(t)
	r.Commit("first", "a.lock", "1\n", "b.lock", "1\n")
	o.Settings = settings{steps: steps}
	h := openHouse(t, r, o)
	if _, err := h.Create(t.Context(), shadow.CreateRequest{ID: "w"}); err != nil {
		t.Fatal(err)
	}
	return h
}

// is fails unless the list has the setup of w in that state.
func (h *house) is(state shadow.SetupState, why string) {
	h.t.Helper()
	list, err := h.List(h.t.Context())
	if err != nil || len(list) != 1 || list[0].Setup == nil || list[0].Setup.State != state || !strings.Contains(list[0].Setup.Why, why) {
		h.t.Errorf("%v: %+v, want %s, %q", err, list[0].Setup, state, why)
	}
}

// TestSetUpSteps: each step runs until it has gone well, again when one of its own files
// changed, and all of them when a person asks for it once more.
func TestSetUpSteps(t *testing.T) {
	h := setupHouse(t, shadow.Options{}, shadow.Step{Run: "a", When: []string{"a.lock"}}, shadow.Step{Run: "b", When: []string{"b.lock", "none"}}, shadow.Step{Run: "c"})
	h.is(shadow.SetupNeeded, "it has not run")
	r := &runs{}
	up := func(run func(context.Context, shadow.Step) shadow.Ran) *shadow.Setup {
		t.Helper()
		s, err := shadow.SetUp(t.Context(), h.Manager, "w", run)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	code := 3
	if s := up(func(ctx context.Context, step shadow.Step) shadow.Ran {
		if step.Run == "b" {
			return shadow.Ran{Why: "exit code 3", ExitCode: &code, Output: strings.Repeat("x\n", 100) + "\x1b]0;title\x07last \u202e"}
		}
		return r.run(ctx, step)
	}); s.State != shadow.SetupFailed || s.Command != "b" || *s.ExitCode != 3 || !strings.HasSuffix(s.Output, "x\n]0;titlelast ") || strings.Count(s.Output, "\n") != 19 {
		t.Errorf("%+v", s)
	}
	r.ran(t, "a")
	h.is(shadow.SetupFailed, "exit code 3")
	up(r.run)
	r.ran(t, "b", "c")
	h.is(shadow.SetupDone, "")
	up(r.run)
	r.ran(t, "a", "b", "c")
	for name, want := range map[string]string{"a.lock": "a", "none": "b", "b.lock": "b"} {
		if err := ownfile.WriteFile(h.Path(".sidecar/shadows/w/"+name), []byte("2\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		h.is(shadow.SetupNeeded, name+" changed")
		up(r.run)
		r.ran(t, want)
		h.is(shadow.SetupDone, "")
	}
	if _, err := shadow.SetUp(t.Context(), h.Manager, "nobody", r.run); !errors.Is(err, shadow.ErrUnknown) {
		t.Error(err)
	}
	without := setupHouse(t, shadow.Options{})
	if s, err := shadow.SetUp(t.Context(), without.Manager, "w", r.run); s != nil || err != nil {
		t.Error(s, err)
	}
	r.ran(t)
}

// TestSetUpCrash: a process that dies in the middle leaves a setup that was interrupted, and
// that goes on with what had not gone well.
func TestSetUpCrash(t *testing.T) {
	died := errors.New("died")
	die := 2
	h := setupHouse(t, shadow.Options{Fail: func(point string) error {
		if point == "setup.begun" {
			if die--; die == 0 {
				return died
			}
		}
		return nil
	}}, shadow.Step{Run: "a"}, shadow.Step{Run: "b"})
	r := &runs{}
	if _, err := shadow.SetUp(t.Context(), h.Manager, "w", r.run); !errors.Is(err, died) {
		t.Fatal(err)
	}
	r.ran(t, "a")
	h.is(shadow.SetupInterrupted, "setup was interrupted")
	next := openHouse(t, h.Repo, shadow.Options{Settings: settings{steps: []shadow.Step{{Run: "a"}, {Run: "b"}}}})
	next.is(shadow.SetupInterrupted, "setup was interrupted")
	if s, err := shadow.SetUp(t.Context(), next.Manager, "w", r.run); err != nil || s.State != shadow.SetupDone {
		t.Error(s, err)
	}
	r.ran(t, "b")
}

// TestSetUpAlone: another process neither sets a shadow up meanwhile, nor discards it; who
// discards it in the same process ends the setup.
func TestSetUpAlone(t *testing.T) {
	steps := settings{steps: []shadow.Step{{Run: "endless"}}}
	h := setupHouse(t, shadow.Options{}, steps.steps...)
	begun, over := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := shadow.SetUp(t.Context(), h.Manager, "w", func(ctx context.Context, _ shadow.Step) shadow.Ran {
			close(begun)
			<-ctx.Done()
			return shadow.Ran{Why: ctx.Err().Error()}
		})
		over <- err
	}()
	<-begun
	other := openHouse(t, h.Repo, shadow.Options{Settings: steps})
	other.is(shadow.SetupRunning, "")
	r := &runs{}
	if _, err := shadow.SetUp(t.Context(), other.Manager, "w", r.run); !errors.Is(err, shadow.ErrBusy) {
		t.Error(err)
	}
	if _, err := other.Discard(t.Context(), "w"); !errors.Is(err, shadow.ErrBusy) {
		t.Error(err)
	}
	h.is(shadow.SetupRunning, "")
	if _, err := h.Discard(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if err := <-over; !errors.Is(err, shadow.ErrUnknown) {
		t.Error(err)
	}
	r.ran(t)
	if _, err := other.Create(t.Context(), shadow.CreateRequest{ID: "w"}); err != nil { // control: the name is free
		t.Error(err)
	}
	other.is(shadow.SetupNeeded, "it has not run")
}

// TestSetUpRecord: commands of a shadow can write what is kept of its setup. A link there is
// not followed, and what a person reads of it is plain.
func TestSetUpRecord(t *testing.T) {
	h := setupHouse(t, shadow.Options{}, shadow.Step{Run: "a"})
	own := h.Path(".git/worktrees/w/sidecar")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := ownfile.WriteFile(outside, []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink(outside, filepath.Join(own, "setup.json")); err != nil {
		t.Fatal(err)
	}
	r := &runs{}
	if s, err := shadow.SetUp(t.Context(), h.Manager, "w", r.run); err != nil || s.State != shadow.SetupDone {
		t.Error(s, err)
	}
	if data, _ := os.ReadFile(outside); string(data) != "mine\n" {
		t.Errorf("a link was followed: %q", data)
	}
	for text, state := range map[string]shadow.SetupState{
		`{"state": "failed", "command": "a", "why": "\u001b[2Jx", "next": "rm -rf /", "output": "\u001b]0;y\u0007"}`: shadow.SetupFailed,
		`{"state": "failed", "command": "not one of the settings"}`:                                                  shadow.SetupNeeded,
		`{"state": "running", "command": "a"}`:                                                                       shadow.SetupInterrupted,
		`{"state": "strange"}`:                                                                                       shadow.SetupNeeded,
		`{"state`:                                                                                                    shadow.SetupNeeded,
		`{"state": "done", "done": [{"run": "a"}]}`:                                                                  shadow.SetupDone, // control
	} {
		if err := ownfile.WriteFile(filepath.Join(own, "setup.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := shadow.SetupOf(t.Context(), h.Manager, "w")
		if err != nil || s.State != state || strings.ContainsAny(s.Why+s.Command+s.Output, "\x1b\x07") || strings.Contains(s.Next, "rm") {
			t.Errorf("%s: %+v, %v, want %s", text, s, err, state)
		}
	}
	if err := ownfile.RemoveAll(own); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink(filepath.Dir(outside), own); err != nil {
		t.Fatal(err)
	}
	if _, err := shadow.SetUp(t.Context(), h.Manager, "w", r.run); err == nil {
		t.Error("a directory of the record that leads out was used")
	}
	if left, _ := os.ReadDir(filepath.Dir(outside)); len(left) != 1 {
		t.Errorf("written outside: %v", left)
	}
}
