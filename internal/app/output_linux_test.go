package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
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
				r := worldRig(t, "overlay", map[string]string{".gitignore": "build/\n", "a.txt": "a\n"})
				r.ran("mkdir build; echo made > build/out", "Output held for review: 1 file in build")
				on := func() bool { _, err := os.Stat(filepath.Join(r.dir, "build/out")); return err == nil }
				list := command[held](r, "sidecar.review.output", object{"action": "list"})
				if len(list.Entries) != 1 || list.Entries[0].Session != "default" || list.Entries[0].Files != 1 || on() {
					t.Fatalf("held: %+v; on the disk: %v", list, on())
				}
				if err := r.ExecuteCommand(t.Context(), "sidecar.review.output", object{"action": "keep"}, nil); err == nil {
					t.Error("there is no such action")
				}
				if by == "editor" {
					command[held](r, "sidecar.review.output", object{"action": what})
				} else if out, errs, code := runCLI(t, "", "review", "--root", r.dir, "output", what, "default"); code != 0 {
					t.Errorf("%s %s", out, errs)
				}
				if on() != (what == "accept") {
					t.Errorf("on the disk: %v", on())
				}
				if list := command[held](r, "sidecar.review.output", object{"action": "list"}); len(list.Entries) != 0 {
					t.Errorf("held then: %+v", list)
				}
				out, _, _ := runCLI(t, "", "audit", "--root", r.dir, "list", "--json")
				if want := map[string]string{"accept": "applied", "drop": "dropped"}[what]; strings.Count(out, `"sidecar.review.output"`) != 1 || !strings.Contains(out, want) || !strings.Contains(out, `"build`) {
					t.Errorf("the audit log: %s", out)
				}
			})
		}
	}
}
