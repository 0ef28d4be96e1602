// Package offered tells what a session knows how to do, its skills and the project's
// instructions, to whoever is no tool: people, prompts, and agents of other programs. It
// asks through the gate, so that what is read is what the session may read, without
// secrets.
package offered

import (
	"context"
	"errors"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// Caller calls tools that are in no list: *dispatch.Dispatcher.
type Caller interface {
	CallOwn(ctx context.Context, t *tools.Tool, session, line string) (*dispatch.Result, error)
}

// between stands between texts that are redacted together. No text has it.
const between = "\x00"

// Skills are the skills of a session.
func Skills(ctx context.Context, d *dispatch.Dispatcher, lib *skills.Library, session string) (found skills.Found, err error) {
	clean, err := read(ctx, d, session, func(ctx context.Context, c *tools.Call) (string, error) {
		var err error
		found, err = agents.Skills{Library: lib, Has: d}.Of(ctx, c)
		var all strings.Builder
		for _, s := range found.Skills {
			all.WriteString(s.Description + between)
		}
		return all.String(), err
	})
	if err != nil {
		return skills.Found{}, err
	}
	texts := strings.Split(clean, between)
	for i := range found.Skills {
		if found.Skills[i].Description = "(hidden)"; len(texts) == len(found.Skills)+1 { // else a secret runs through several
			found.Skills[i].Description = texts[i]
		}
	}
	return found, nil
}

// read reads through the gate. What comes back has no secrets.
func read(ctx context.Context, d Caller, session string, f func(context.Context, *tools.Call) (string, error)) (string, error) {
	tool := tools.NewRead(tools.Def{
		Name: "know_how", Title: "Read skills and instructions", Description: "Reads the skills of a session and the instructions of the project.", Example: "{}", Category: "planning", Output: tools.NoOutput{},
	}, func(ctx context.Context, c *tools.Call, _ struct{}) (tools.Result, error) {
		text, err := f(ctx, c)
		return tools.Result{Text: text}, err
	})
	res, err := d.CallOwn(ctx, tool, session, "")
	switch {
	case err != nil:
		return "", err
	case !res.OK:
		return "", errors.New(res.Error.Message)
	}
	return res.Content, nil
}
