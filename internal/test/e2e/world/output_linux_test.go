package world_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestReviewOutput: output waits until a person decides, over LSP or on the command line, and
// the audit log has what they decided.
func TestReviewOutput(t *testing.T) {
	type held struct {
		Entries  []workspace.Held
		Accepted int
	}
	for _, what := range []string{"accept", "drop"} {
		for _, by := range []string{"editor", "command line"} {
			t.Run(what+", "+by, func(t *testing.T) {
				r := e2e.WorldRig(t, "overlay", map[string]string{".gitignore": "build/\n", "a.txt": "a\n"})
				r.Ran("mkdir build; echo made > build/out", "Output held for review: 1 file in build")
				on := func() bool { _, err := os.Stat(filepath.Join(r.Dir, "build/out")); return err == nil }
				list := e2e.Command[held](r, "sidecar.review.output", e2e.Object{"action": "list"})
				if len(list.Entries) != 1 || list.Entries[0].Session != "default" || list.Entries[0].Files != 1 || on() {
					t.Fatalf("held: %+v; on the disk: %v", list, on())
				}
				if err := r.ExecuteCommand(t.Context(), "sidecar.review.output", e2e.Object{"action": "keep"}, nil); err == nil {
					t.Error("there is no such action")
				}
				if by == "editor" {
					e2e.Command[held](r, "sidecar.review.output", e2e.Object{"action": what})
				} else if out, errs, code := e2e.RunCLI(t, "", "review", "--root", r.Dir, "output", what, "default"); code != 0 {
					t.Errorf("%s %s", out, errs)
				}
				if on() != (what == "accept") {
					t.Errorf("on the disk: %v", on())
				}
				if list := e2e.Command[held](r, "sidecar.review.output", e2e.Object{"action": "list"}); len(list.Entries) != 0 {
					t.Errorf("held then: %+v", list)
				}
				out, _, _ := e2e.RunCLI(t, "", "audit", "--root", r.Dir, "list", "--json")
				if want := map[string]string{"accept": "applied", "drop": "dropped"}[what]; strings.Count(out, `"sidecar.review.output"`) != 1 || !strings.Contains(out, want) || !strings.Contains(out, `"build`) {
					t.Errorf("the audit log: %s", out)
				}
			})
		}
	}
}

// TestWritableAround: a directory around the workspace that commands may write puts nothing of
// the workspace past the review.
func TestWritableAround(t *testing.T) {
	for _, kind := range []string{"overlay", "copy"} {
		t.Run(kind, func(t *testing.T) {
			outer, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(outer, "w")
			e2e.Write(t, filepath.Join(dir, "a.txt"), "a\n")
			e2e.WorldProject(t, kind, nil, e2e.Object{"sandbox.writable": []string{outer}})
			r := e2e.WorldIn(t, dir)
			r.Ran("echo b > a.txt; echo new > new.txt; echo out > ../beside.txt; cd ..; mv w other || true; mkdir -p w/.sidecar; true", "Changed, and held for review: a.txt +1 −1, new.txt new +1")
			if r.File("a.txt") != "a\n" {
				t.Errorf("the disk has %q", r.File("a.txt"))
			}
			names, err := os.ReadDir(dir)
			for _, e := range names {
				if e.Name() != "a.txt" && e.Name() != ".sidecar" {
					t.Errorf("the workspace has %s", e.Name())
				}
			}
			if _, err2 := os.Stat(filepath.Join(outer, "other")); err != nil || err2 == nil {
				t.Errorf("the workspace was moved: %v", err)
			}
			// Control: what the setting is for.
			if data, err := os.ReadFile(filepath.Join(outer, "beside.txt")); err != nil || string(data) != "out\n" {
				t.Errorf("beside the workspace: %q, %v", data, err)
			}
		})
	}
}

// TestOutputAllowed: data of directories that the user has named comes through by itself, in
// the modes that hold output; a project names none.
func TestOutputAllowed(t *testing.T) {
	const line = "mkdir -p build/reports; echo 1 > build/reports/a.csv; echo '#!/bin/sh' > build/reports/run; echo 2 > build/out"
	on := func(r *e2e.Rig, name string) bool { _, err := os.Stat(filepath.Join(r.Dir, name)); return err == nil }
	allow := e2e.Object{"output.allow": []string{"build/reports"}}
	for _, mode := range []string{"review", "audit"} {
		t.Run("the user, "+mode, func(t *testing.T) {
			r := e2e.WorldRig(t, "overlay", map[string]string{".gitignore": "build/\n"}, allow)
			r.Mode(mode)
			r.Ran(line, "Moved to the workspace, as sidecar.output.allow says: 1 file in build/reports.", "build/reports/run: it is a program", "Output held for review: 2 files in build")
			if r.File("build/reports/a.csv") != "1\n" || on(r, "build/reports/run") || on(r, "build/out") {
				t.Error("the disk has not what was let through, or more")
			}
		})
	}
	t.Run("the project", func(t *testing.T) {
		r := e2e.WorldRig(t, "overlay", map[string]string{".gitignore": "build/\n", ".sidecar/settings.json": `{"output": {"allow": ["build/reports"]}}`})
		r.Ran(line, "Output held for review: 3 files in build")
		if on(r, "build/reports/a.csv") {
			t.Error("a project lets its own output through")
		}
	})
}

// TestOutputBuild: what an agent built is built again from the accepted text, by a person's
// command, and that is taken. A build that fails takes nothing.
func TestOutputBuild(t *testing.T) {
	type reply struct {
		Entries  []workspace.Held
		Accepted int
		Built    *struct {
			OK       bool
			ExitCode int
			Output   string
		}
	}
	for _, by := range []string{"editor", "command line"} {
		t.Run(by, func(t *testing.T) {
			r := e2e.WorldRig(t, "overlay", map[string]string{".gitignore": "build/\n", "a.txt": "a\n"})
			r.Ran("mkdir build; echo evil > build/out; echo more > build/more; echo b > a.txt", "Output held for review: 2 files in build")
			build := func(command string) (got reply) {
				t.Helper()
				if by == "editor" {
					return e2e.Command[reply](r, "sidecar.review.output", e2e.Object{"action": "build", "command": command})
				}
				out, errs, _ := e2e.RunCLI(t, "", "review", "--root", r.Dir, "--json", "--build", command, "output")
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatalf("%s %s: %v", out, errs, err)
				}
				return got
			}
			there := func(name string) bool { _, err := os.Stat(filepath.Join(r.Dir, name)); return err == nil }
			if got := build("mkdir build; echo half > build/out; exit 3"); got.Built == nil || got.Built.OK || got.Built.ExitCode != 3 || got.Accepted != 0 || len(got.Entries) != 1 || there("build") {
				t.Errorf("a build that fails: %+v", got)
			}
			got := build("test ! -e build && mkdir build && cp a.txt build/out && echo c > a.txt")
			if got.Built == nil || !got.Built.OK || got.Accepted != 1 || len(got.Entries) != 0 {
				t.Fatalf("built: %+v", got)
			}
			if r.File("build/out") != "a\n" || there("build/more") || r.File("a.txt") != "a\n" {
				t.Errorf("the disk has %q, %v, %q", r.File("build/out"), there("build/more"), r.File("a.txt"))
			}
			if out, _, _ := e2e.RunCLI(t, "", "audit", "--root", r.Dir, "list", "--json"); !strings.Contains(out, "replaced") || !strings.Contains(out, "applied") {
				t.Errorf("the audit log: %s", out)
			}
			if err := r.ExecuteCommand(t.Context(), "sidecar.review.output", e2e.Object{"action": "build", "command": "true"}, nil); err == nil {
				t.Error("nothing is held, and it is built")
			}
			if err := r.ExecuteCommand(t.Context(), "sidecar.review.output", e2e.Object{"action": "build"}, nil); err == nil {
				t.Error("no command, and it is built")
			}
		})
	}
}
