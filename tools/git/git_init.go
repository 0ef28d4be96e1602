package git

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_init.md
var initDoc string

type initArgs struct {
	Path string `json:"path,omitempty" jsonschema:"directory; the workspace's first folder by default"`
}

// Effects shows the command line.
func (a initArgs) Effects() tools.Effects {
	if a.Path == "" {
		return tools.Effects{Command: "git init"}
	}
	return tools.Effects{Command: commandLine("git", "init", "--", a.Path), Paths: []string{a.Path}}
}

// InitInfo is the structured result of git_init.
type InitInfo struct {
	Path   string `json:"path" jsonschema:"directory of the repository"`
	Branch string `json:"branch" jsonschema:"the one that is checked out"`
}

func newInit() *tools.Tool {
	return tools.NewExec(tools.Def{
		Name: "git_init", Title: "Git init", Example: `{}`, Description: initDoc,
		Category: category, Tags: []string{"create", "repository", "new"}, Names: []string{"git_stage"}, SeesDisk: true,
		Output: InitInfo{},
	}, func(_ context.Context, c *tools.Call, in initArgs) (tools.Result, error) {
		roots, err := rootsOf(c.Files)
		if err != nil {
			return tools.Result{}, err
		}
		name := roots[0]
		if in.Path != "" {
			if name, err = pathName(c.Files, in.Path); err != nil {
				return tools.Result{}, err
			}
		}
		info, err := c.Files.Stat(name)
		switch {
		case err != nil:
			return tools.Result{}, tools.Errorf(tools.NotFound, "%s does not exist; name a directory of the workspace, or make one by writing a file into it", shown(name))
		case !info.IsDir():
			return tools.Result{}, tools.Errorf(tools.InvalidArguments, "%s is a file; name a directory", shown(name))
		}
		branch, err := gitrepo.Init(c.Files.Abs(name))
		var there *gitrepo.ExistsError
		if errors.As(err, &there) {
			says := shown(name) + " is a git repository already"
			if there.Dir != there.Around {
				says = shown(name) + " lies in a git repository, which would not see its files any more"
			}
			return tools.Result{}, tools.Errorf(tools.AlreadyExists, "%s; nothing was done", says)
		}
		if err != nil {
			return tools.Result{}, failed(err)
		}
		where := shown(name)
		if name == "." {
			where = "the workspace"
		}
		return tools.Result{
			Text:       fmt.Sprintf("%s is a git repository now, on branch %s, without a commit; git_stage and git_commit make the first\n", where, shown(branch)),
			Structured: InitInfo{Path: name, Branch: branch},
		}, nil
	})
}
