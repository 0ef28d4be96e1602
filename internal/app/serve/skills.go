package serve

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/offered"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

// Skills are the skills of a session.
func Skills(ctx context.Context, w *app.Workspace, session string) (skills.Found, error) {
	return offered.Skills(ctx, w.Dispatch, w.Skills, session)
}

// Skills implements agents.Workspace.
func (a around) Skills(ctx context.Context, session string) (skills.Found, error) {
	return Skills(ctx, a.c.Workspace(), session)
}

// SkillList is what people are shown of the skills of a session.
func SkillList(ctx context.Context, w *app.Workspace, session string) (commands.SkillList, error) {
	found, err := Skills(ctx, w, session)
	if err != nil {
		return commands.SkillList{}, err
	}
	show := w.Client.Hide.Shown
	all := func(list []string) (out []string) {
		for _, text := range list {
			out = append(out, show(text))
		}
		return out
	}
	list := commands.SkillList{Skills: []commands.Skill{}, Problems: all(found.Problems)}
	for _, s := range found.Skills {
		one := commands.Skill{
			Name: s.Name, Description: show(s.Description), Origin: s.Origin, Kit: s.Kit(), Missing: show(s.Missing), Tools: all(s.Requires),
			AllowedTools: all(s.AllowedTools), Compatibility: show(s.Compatibility), License: show(s.License), Warnings: all(s.Warnings),
		}
		if one.Kit {
			one.Steps = all(s.Steps)
		}
		if len(s.AllowedTools) > 0 {
			one.Warnings = append(one.Warnings, "it would be allowed tools without a question (allowed-tools); that allows nothing here")
		}
		list.Skills = append(list.Skills, one)
	}
	return list, nil
}
