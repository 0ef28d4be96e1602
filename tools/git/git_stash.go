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

//go:embed git_stash.md
var stashDoc string

type stashArgs struct {
	Action  string `json:"action,omitempty" jsonschema:"what to do" enum:"push,pop,apply,list,drop" default:"push"`
	Message string `json:"message,omitempty" jsonschema:"for push" maxLength:"500"`
	Index   int    `json:"index,omitempty" jsonschema:"which one, as list counts them" default:"0" minimum:"0" maximum:"9999"`

	looked looked
}

// Check refuses what would look like an option.
func (a stashArgs) Check() error { return noDash("message", a.Message) }

// Effects shows the command line. A list changes nothing.
func (a stashArgs) Effects() tools.Effects {
	args := []string{"git", "stash", a.Action}
	switch {
	case a.Action == "push" && a.Message != "":
		args = append(args, "--message="+a.Message)
	case a.Action != "push" && a.Action != "list":
		args = append(args, fmt.Sprintf("stash@{%d}", a.Index))
	}
	e := tools.Effects{ReadOnly: a.Action == "list", Command: commandLine(args...)}
	if a.Action == "drop" {
		e.Irrecoverable = "git stash drop deletes what was put away"
	}
	return e
}

// StashInfo is the structured result of git_stash.
type StashInfo struct {
	Action  string          `json:"action" jsonschema:"as it was given"`
	Stashes []gitrepo.Stash `json:"stashes" jsonschema:"as they are afterwards, the newest first"`
}

func newStash(d Deps) *tools.Tool {
	t := tools.NewExec(tools.Def{
		Name: "git_stash", Title: "Git stash", Example: `{"action": "push", "message": "half of the fix"}`, Description: stashDoc,
		Category: category, Tags: []string{"put away", "restore"}, SeesDisk: true, Asks: true,
		Output: StashInfo{},
	}, func(ctx context.Context, c *tools.Call, in stashArgs) (tools.Result, error) {
		p, _, err := d.repository(ctx, c.Files, "")
		if err != nil {
			return tools.Result{}, err
		}
		text, err := stash(ctx, c, p, d.hooks(c, p), in)
		var f *gitcmd.Failure
		if errors.As(err, &f) && f.Kind == gitcmd.NotFound {
			return tools.Result{}, tools.Errorf(tools.NotFound, "there is no stash %d; git_stash with action list shows what there is", in.Index)
		}
		if err != nil {
			return tools.Result{}, failed(err)
		}
		list, err := p.repo.Stashes(ctx)
		if err != nil {
			return tools.Result{}, failed(err)
		}
		var b strings.Builder
		b.WriteString(text)
		lines := make([]string, len(list))
		for i, s := range list {
			lines[i] = fmt.Sprintf("%d: %s (%s)", s.Index, s.Message, s.Time.Format("2006-01-02 15:04"))
		}
		if len(list) == 0 {
			b.WriteString("no stashes\n")
		}
		cut := writeGroup(&b, "Stashes", lines)
		return tools.Result{Text: b.String(), Structured: StashInfo{in.Action, list}, Truncated: cut}, nil
	})
	return tools.Planned(t, func(ctx context.Context, files workspace.Files, in stashArgs) (stashArgs, tools.Effects, error) {
		e := in.Effects()
		switch in.Action {
		case "push":
			in.looked, e.Writes = d.look(ctx, files, func(p repository) (*gitrepo.Move, error) {
				return p.repo.LookAtStashPush(ctx, in.Message, p.below)
			})
		case "pop", "apply":
			in.looked, e.Writes = d.look(ctx, files, func(p repository) (*gitrepo.Move, error) {
				return p.repo.LookAtStashApply(ctx, in.Index, in.Action == "pop")
			})
		}
		return in, e, nil
	})
}

// stash does what is asked and says so.
func stash(ctx context.Context, c *tools.Call, p repository, h hooks, in stashArgs) (string, error) {
	text, said := "", []string(nil)
	var err error
	switch in.Action {
	case "push":
		text = "put away the changes of tracked files; new files stay\n"
		said, err = in.looked.do(ctx, h)
		if errors.Is(err, gitrepo.ErrMoved) { // what was not saved is on the disk by now
			again := looked{repo: p.repo}
			if again.move, again.err = p.repo.LookAtStashPush(ctx, in.Message, p.below); again.err == nil {
				again.err = p.mayWrite(ctx, c, again.move)
			}
			if err = again.err; err == nil {
				said, err = again.do(ctx, h)
			}
		}
	case "pop", "apply":
		text = fmt.Sprintf("brought back stash %d\n", in.Index)
		said, err = in.looked.do(ctx, h)
	case "drop":
		text = fmt.Sprintf("dropped stash %d\n", in.Index)
		err = p.repo.StashDrop(ctx, in.Index)
	}
	return text + notes(said), err
}
