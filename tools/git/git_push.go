package git

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_push.md
var pushDoc string

type pushArgs struct {
	Remote      string `json:"remote,omitempty" jsonschema:"name of a remote; the branch's own by default" maxLength:"200"`
	SetUpstream bool   `json:"set_upstream,omitempty" jsonschema:"follow the pushed branch from then on"`
}

// Check refuses what would look like an option.
func (a pushArgs) Check() error { return noDash("remote", a.Remote) }

// Effects shows the command line.
func (a pushArgs) Effects() tools.Effects {
	args := []string{"git", "push"}
	if a.SetUpstream {
		args = append(args, "--set-upstream")
	}
	if a.Remote != "" {
		args = append(args, a.Remote)
	}
	return tools.Effects{Command: commandLine(args...)}
}

func newPush(d Deps) *tools.Tool {
	t := tools.NewExecEdit(tools.Def{
		Name: "git_push", Title: "Git push", Example: `{"set_upstream": true}`, Description: pushDoc,
		Category: category, Tags: []string{"remote", "upload"}, Timeout: withPrograms,
		Output: gitrepo.PushResult{}, Wrote: "git_push",
	}, func(ctx context.Context, c *tools.Call, in pushArgs) (tools.Result, []workspace.Change, error) {
		p, _, err := d.repository(ctx, c.Files, "")
		if err != nil {
			return tools.Result{}, nil, err
		}
		hooks := d.hooks(c, p)
		done, err := p.repo.Push(ctx, in.Remote, in.SetUpstream, hooks.run)
		if err != nil {
			return tools.Result{}, hooks.changes(), failed(err)
		}
		text := fmt.Sprintf("%s: %s to %s/%s", done.State, shown(done.Branch), shown(done.Remote), shown(done.To))
		if done.Upstream {
			text += ", which is its upstream now"
		}
		return tools.Result{Text: text + "\n" + notes(append(done.Notes, hooks.said()...)), Structured: done}, hooks.changes(), nil
	})
	return tools.Planned(t, func(ctx context.Context, files workspace.Files, in pushArgs) (pushArgs, tools.Effects, error) {
		e := in.Effects()
		if p, _, err := d.repository(ctx, files, ""); err == nil {
			if plan, err := gitrepo.LookAtPush(ctx, p.repo, in.Remote, in.SetUpstream); err == nil {
				e.Title = pushTitle(plan)
			}
		}
		return in, e, nil // what is wrong the call says
	})
}

// pushTitle is a push in words, such as: Push main to origin, 2 commits.
func pushTitle(p gitrepo.PushPlan) string {
	to := p.Remote
	if p.To != p.Branch {
		to += "/" + p.To
	}
	title := "Push " + shown(p.Branch) + " to " + shown(to)
	switch {
	case p.New:
		return title + ", as a new branch"
	case p.Known && p.Commits == 0:
		return title + ", no new commit"
	case p.Known:
		return title + ", " + tools.Count(p.Commits, "commit")
	}
	return title
}
