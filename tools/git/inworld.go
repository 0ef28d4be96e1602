package git

import (
	"context"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// A call that nobody is asked about runs in the world of its session, as commands do: what it
// changes of the repository waits for review.

// changeInWorld does there what git_branch does.
func (d Deps) changeInWorld(ctx context.Context, c *tools.Call, p repository, in branchArgs) (tools.Result, []workspace.Change, error) {
	args := []string{"branch", "--quiet", "--no-track", in.Name}
	switch in.Action {
	case "switch":
		args = []string{"switch", "--quiet", "--no-progress", in.Name}
	case "delete":
		args = []string{"branch", "--quiet", "-d", in.Name}
	}
	its := d.Hooks(c, p.repo.Dir)
	said, ok, err := its.Git(ctx, args...)
	if err == nil && !ok {
		err = tools.Errorf(tools.CommandFailed, "git refused: %s; git_branch with action list shows what the workspace's repository has", strings.TrimSpace(said))
	}
	if err != nil {
		return tools.Result{}, its.Changes(), err
	}
	text := map[string]string{"create": "created " + in.Name, "switch": "on branch " + in.Name, "delete": "deleted " + in.Name}[in.Action]
	text += ", as this session's commands see it\n"
	return tools.Result{Text: text + said + notes(its.Said()), Structured: BranchInfo{Action: in.Action, Name: in.Name}}, its.Changes(), nil
}
