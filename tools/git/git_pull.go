package git

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_pull.md
var pullDoc string

type pullArgs struct {
	Rebase *bool `json:"rebase,omitempty" jsonschema:"true: put own commits on top; false: merge; as the user's settings say by default"`
}

// Effects shows the command line.
func (a pullArgs) Effects() tools.Effects {
	switch {
	case a.Rebase == nil:
		return tools.Effects{Command: "git pull"}
	case *a.Rebase:
		return tools.Effects{Command: "git pull --rebase"}
	}
	return tools.Effects{Command: "git pull --no-rebase"}
}

func newPull(d Deps) *tools.Tool {
	t := tools.NewExecEdit(tools.Def{
		Name: "git_pull", Title: "Git pull", Example: `{"rebase": true}`, Description: pullDoc,
		Category: category, Tags: []string{"remote", "fetch", "merge", "rebase"}, Timeout: withPrograms, SeesDisk: true, Asks: true,
		Output: gitrepo.PullResult{}, Wrote: "git_pull",
	}, func(ctx context.Context, c *tools.Call, in pullArgs) (tools.Result, []workspace.Change, error) {
		p, _, err := d.repository(ctx, c.Files, "")
		if err != nil {
			return tools.Result{}, nil, err
		}
		hooks := d.hooks(c, p)
		done, err := p.repo.Pull(ctx, in.Rebase, func(ctx context.Context, m *gitrepo.Move) error { return p.mayWrite(ctx, c, m) }, hooks.run)
		if err != nil {
			return tools.Result{}, hooks.changes(), failed(err)
		}
		done.Files = p.committed(done.Files)
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s\n", shown(done.Branch), done.State)
		writeChanges(&b, done.Files)
		b.WriteString(notes(append(done.Notes, hooks.said()...)))
		return tools.Result{Text: b.String(), Structured: done}, hooks.changes(), nil
	})
	return tools.Planned(t, func(ctx context.Context, files workspace.Files, in pullArgs) (pullArgs, tools.Effects, error) {
		e := in.Effects()
		if p, _, err := d.repository(ctx, files, ""); err == nil {
			if from, branch, err := gitrepo.LookAtPull(ctx, p.repo); err == nil {
				e.Title = "Pull " + shown(from) + " into " + shown(branch)
			}
		}
		return in, e, nil // what is wrong the call says
	})
}
