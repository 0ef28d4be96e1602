package git

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_branch.md
var branchDoc string

type branchArgs struct {
	Action string `json:"action,omitempty" jsonschema:"what to do" enum:"list,create,switch,delete" default:"list"`
	Name   string `json:"name,omitempty" jsonschema:"the branch; not for list" maxLength:"300"`

	looked looked
}

// Effects shows the command line. A list changes nothing.
func (a branchArgs) Effects() tools.Effects {
	switch a.Action {
	case "create":
		return tools.Effects{Title: "Create the branch " + a.Name, Command: commandLine("git", "branch", a.Name)}
	case "switch":
		return tools.Effects{Title: "Switch to the branch " + a.Name, Command: commandLine("git", "switch", a.Name)}
	case "delete":
		return tools.Effects{Title: "Delete the branch " + a.Name, Command: commandLine("git", "branch", "-d", a.Name)}
	}
	return tools.Effects{ReadOnly: true, Command: "git branch --list"}
}

// Check refuses a name that no branch can have.
func (a branchArgs) Check() error {
	if a.Action == "list" {
		if a.Name != "" {
			return tools.Errorf(tools.InvalidArguments, "name: list takes none; leave it out")
		}
		return nil
	}
	if err := gitrepo.CheckBranchName(a.Name); err != nil {
		return tools.Errorf(tools.InvalidArguments, "name: %v", err)
	}
	return nil
}

// BranchInfo is the structured result of git_branch.
type BranchInfo struct {
	Action   string                `json:"action" jsonschema:"as it was given"`
	Name     string                `json:"name,omitempty" jsonschema:"as it was given"`
	Branches []gitrepo.LocalBranch `json:"branches,omitempty" jsonschema:"of list, the one that was committed to last first"`
	Remote   []string              `json:"remote,omitempty" jsonschema:"branches of remotes, as they were last seen"`
}

func newBranch(d Deps) *tools.Tool {
	t := tools.NewExecEdit(tools.Def{
		Name: "git_branch", Title: "Git branch", Example: `{"action": "create", "name": "fix-limit"}`, Description: branchDoc,
		Category: category, Tags: []string{"checkout", "switch"}, SeesDisk: true, InWorld: true,
		Output: BranchInfo{}, Wrote: "git_branch",
	}, func(ctx context.Context, c *tools.Call, in branchArgs) (tools.Result, []workspace.Change, error) {
		p, _, err := d.repository(ctx, c.Files, "")
		if err != nil {
			return tools.Result{}, nil, err
		}
		if c.Unasked && d.Hooks != nil && in.Action != "list" {
			return d.changeInWorld(ctx, c, p, in)
		}
		hooks := d.hooks(c, p)
		info := BranchInfo{Action: in.Action, Name: in.Name}
		text, said := "", []string(nil)
		switch in.Action {
		case "list":
			info.Branches, info.Remote, err = p.repo.Branches(ctx)
			text = info.text()
		case "create":
			text = fmt.Sprintf("created %s at the current commit; switch to it with action switch\n", in.Name)
			err = p.repo.CreateBranch(ctx, in.Name)
		case "switch":
			text = fmt.Sprintf("on branch %s\n", in.Name)
			said, err = in.looked.do(ctx, hooks)
		case "delete":
			text = fmt.Sprintf("deleted %s\n", in.Name)
			err = p.repo.DeleteBranch(ctx, in.Name)
		}
		if err != nil {
			return tools.Result{}, hooks.changes(), p.noBranch(ctx, in, err)
		}
		return tools.Result{Text: text + notes(said), Structured: info}, hooks.changes(), nil
	})
	return tools.Planned(t, func(ctx context.Context, files workspace.Files, in branchArgs) (branchArgs, tools.Effects, error) {
		e := in.Effects()
		if in.Action == "list" {
			return in, e, nil
		}
		p, _, err := d.repository(ctx, files, "")
		e.OnDisk = d.Hooks == nil || err != nil || p.below != "." // a larger repository is not in its world
		if in.Action == "switch" {
			in.looked, e.Writes = d.look(ctx, files, func(p repository) (*gitrepo.Move, error) { return p.repo.LookAtSwitch(ctx, in.Name) })
		}
		return in, e, nil
	})
}

// noBranch is err, which for a branch that there is not says which are like it.
func (p repository) noBranch(ctx context.Context, in branchArgs, err error) error {
	var f *gitcmd.Failure
	if !errors.As(err, &f) || f.Kind != gitcmd.NotFound || in.Action == "create" {
		return failed(err)
	}
	local, remote, listErr := p.repo.Branches(ctx)
	if listErr != nil {
		return failed(err)
	}
	var names []string
	for _, b := range local {
		names = append(names, b.Name)
	}
	if in.Action == "switch" {
		names = append(names, remote...)
	}
	like := "git_branch with action list shows what there is"
	if near := tools.Near(in.Name, names, 3); len(near) > 0 {
		like = "did you mean " + shownAll(near) + "?"
	}
	return tools.Errorf(tools.NotFound, "there is no branch %q; %s", shown(in.Name), like)
}

func (i BranchInfo) text() string {
	if len(i.Branches) == 0 && len(i.Remote) == 0 {
		return "no branch has a commit yet\n"
	}
	var b strings.Builder
	lines := make([]string, len(i.Branches))
	for k, one := range i.Branches {
		mark := "  "
		if one.Current {
			mark = "* "
		}
		lines[k] = mark + shown(one.Name) + " " + one.Commit
		if one.Upstream != "" {
			lines[k] += " follows " + shown(one.Upstream)
		}
		if one.Track != "" {
			lines[k] += " (" + one.Track + ")"
		}
	}
	writeGroup(&b, "Branches", lines)
	lines = nil
	for _, name := range i.Remote {
		lines = append(lines, shown(name))
	}
	writeGroup(&b, "Of remotes", lines)
	return b.String()
}
