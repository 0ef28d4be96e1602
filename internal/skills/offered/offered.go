// Package offered tells the skills of a session to whoever is no tool: people, prompts,
// and agents of other programs. It asks through the gate, so that what is read is what
// the session may read.
package offered

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// Skills are the skills of a session. What people are shown of them is without secrets.
func Skills(ctx context.Context, d *dispatch.Dispatcher, lib *skills.Library, session string) (found skills.Found, err error) {
	list := tools.NewRead(tools.Def{
		Name: "skill_list", Title: "List the skills", Description: "Lists the skills of a session.", Example: "{}", Category: "planning", Output: tools.NoOutput{},
	}, func(ctx context.Context, c *tools.Call, _ struct{}) (r tools.Result, err error) {
		found, err = agents.Skills{Library: lib, Has: d}.Of(ctx, c)
		return r, err
	})
	res, err := d.CallOwn(ctx, list, session, "")
	switch {
	case err != nil:
		return found, err
	case !res.OK:
		return skills.Found{}, errors.New(res.Error.Message)
	}
	return found, nil
}
