package border_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestSecondFolder: the conditions are those of every folder of the workspace.
func TestSecondFolder(t *testing.T) {
	second := project(t, e2e.Object{}, ".env")
	first := project(t, e2e.Object{})
	r := serve(t, first)
	complete(r)
	git := func() string {
		t.Helper()
		var lacks []string
		for _, c := range explain(r, "git add -A; make").Conditions {
			if !c.Holds {
				lacks = append(lacks, c.Name+": "+c.Why)
			}
		}
		return strings.Join(lacks, "; ")
	}
	if lacks := git(); lacks != "" {
		t.Errorf("the control: %s", lacks)
	}
	r.Folders([]string{second}, nil)
	e2e.Until(t, "the second folder is not looked at", func() bool { return strings.Contains(git(), "git's history has .env") })
	blob := strings.TrimSpace(e2e.GitIn(t, second, "rev-parse", "HEAD~1:.env"))
	e2e.Write(t, filepath.Join(first, "run.sh"), "cd "+second+"; git show HEAD~1:.env | rev; git cat-file -p "+blob+" | rev; ls .git/objects/*\n")
	res := r.Tool("run_command", e2e.Object{"command": "sh run.sh"})
	if strings.Contains(res.Content, "-eulav") {
		t.Errorf("it read %s", res.Content)
	}
	res = r.Tool("run_command", e2e.Object{"command": "sh " + filepath.Join(first, "run.sh"), "cwd": second})
	if strings.Contains(res.Content, "-eulav") {
		t.Errorf("in the second folder it read %s", res.Content)
	}
}
