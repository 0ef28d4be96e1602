package dispatch

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// goOnIn is what a person is asked about a command that spends a lot.
type goOnIn struct {
	Line string `json:"command"`
	Why  string `json:"why"`
}

func (in goOnIn) Effects() tools.Effects { return tools.Effects{Change: in.Line, Warns: in.Why} }

const goesOnTool = "command_goes_on"

// OfSession reports whether a question is about what runs in its session, and asked by no call
// of the agent there.
func OfSession(tool string) bool { return tool == goesOnTool || tool == reachTool }

// Later is a Dispatcher that is made after those who need it.
type Later func() *Dispatcher

// Hold has what a tool returns wait for review, in the default session.
func (l Later) Hold(ctx context.Context, t *tools.Tool, line string) (names []string, err error) {
	return l().HoldOwn(ctx, t, session.Default, line)
}

// GoOn asks a person whether a command of a session may go on about which nobody was asked. A
// nil error is a yes.
func (l Later) GoOn(ctx context.Context, of, line, why string) error {
	t := tools.NewRead(tools.Def{
		Name: goesOnTool, Title: "Let a command go on", Description: "Asks whether a command may go on.", Example: `{"command": "make", "why": "it takes long"}`,
		Category: "shell", AlwaysAsk: true, Interactive: true, Output: tools.NoOutput{},
	}, func(context.Context, *tools.Call, goOnIn) (tools.Result, error) {
		return tools.Result{Text: "It goes on."}, nil
	})
	args, err := json.Marshal(goOnIn{line, why})
	if err != nil {
		return err
	}
	res, err := l().Call(ctx, Request{Name: t.Name, Session: of, Arguments: args, tool: t})
	if err == nil && !res.OK {
		err = errors.New(res.Content)
	}
	return err
}
