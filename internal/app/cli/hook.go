package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/extend"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/agenthook"
)

// hookCommand is the command hook.
func hookCommand(ctx context.Context, c *cli) error {
	verb, rest := "", c.args
	if len(rest) > 0 {
		verb, rest = rest[0], rest[1:]
	}
	switch verb {
	case "list":
		if len(rest) > 0 {
			return usagef("hook list takes nothing")
		}
		return listHooks(ctx, c)
	case "test":
		return testHooks(ctx, c, rest)
	}
	if slices.Contains(agenthook.Names(), verb) {
		if len(rest) > 0 {
			return usagef("hook %s takes nothing: the agent tells it on standard input what it is about", verb)
		}
		return answerHook(ctx, c, verb)
	}
	return usagef("hook has the verbs list and test, and answers the agents %s", strings.Join(agenthook.Names(), ", "))
}

// hookList asks for the hooks of a workspace.
var hookList = query[struct{}, hooksOf]{name: "hook list", answer: func(_ context.Context, w *app.Workspace, _ struct{}) (hooksOf, error) {
	list, problems := w.Extensions.ListHooks()
	return hooksOf{list, problems}, nil
}}

type hooksOf struct {
	Hooks    []hooks.Status `json:"hooks"`
	Problems []string       `json:"problems,omitempty"`
}

func listHooks(ctx context.Context, c *cli) error {
	got, err := ask(ctx, c, hookList, struct{}{})
	if err != nil {
		return err
	}
	if c.json {
		return c.print(got)
	}
	if len(got.Hooks) == 0 {
		fmt.Fprintln(c.Out, "There are no hooks. docs/hooks.md says how to write one.")
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, h := range got.Hooks {
		state := ""
		switch {
		case !h.Trusted:
			state = "not run: switched off, or the project is not trusted"
		case h.Open:
			state = "failed too often, tried again in a minute: " + h.LastError
		case h.LastError != "":
			state = "failed: " + h.LastError
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", h.Event, firstOf(h.Matcher, "*"), h.Origin, h.Command, state)
	}
	_ = t.Flush() // as with Fprint, there is nobody left to tell
	for _, p := range got.Problems {
		fmt.Fprintln(c.Err, "sidecar-ls:", p)
	}
	return nil
}

// hookTest runs the hooks of an event on an example.
var hookTest = query[hooksToTry, hooksTried]{name: "hook test", answer: tryHooks}

type hooksToTry struct {
	Event     hooks.Event     `json:"event"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

type hooksTried struct {
	Input   hooks.Input    `json:"input"` // what they were told
	Hooks   []extend.Tried `json:"hooks"`
	Outcome hooks.Outcome  `json:"outcome"`
}

func testHooks(ctx context.Context, c *cli, args []string) error {
	if len(args) == 0 {
		var names []string
		for _, r := range hooks.Events() {
			names = append(names, string(r.Event))
		}
		return usagef("hook test takes an event (%s), and for one of a tool its name and arguments", strings.Join(names, ", "))
	}
	a := hooksToTry{Event: hooks.Event(args[0]), Tool: "run_command", Arguments: json.RawMessage(`{"command":"echo hello"}`)}
	if _, ok := hooks.RowOf(a.Event); !ok {
		return usagef("%s is no event of hooks", args[0])
	}
	if len(args) > 1 {
		a.Tool, a.Arguments = args[1], json.RawMessage(`{}`)
		if len(args) > 2 {
			a.Arguments = json.RawMessage(strings.Join(args[2:], " "))
		}
		if !json.Valid(a.Arguments) {
			return usagef("the arguments of %s must be a JSON object", a.Tool)
		}
	}
	got, err := ask(ctx, c, hookTest, a)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(got)
	}
	if len(got.Hooks) == 0 {
		fmt.Fprintf(c.Out, "No hook is called for %s here. sidecar-ls hook list shows all.\n", a.Event)
		return nil
	}
	for _, h := range got.Hooks {
		fmt.Fprintf(c.Out, "%s (%s, %d ms): %s\n", h.Command, h.Origin, h.Ms, firstOf(h.Failure, firstOf(h.Decision, "nothing")))
		if h.Message != "" && h.Failure == "" {
			fmt.Fprintln(c.Out, "  to you:", h.Message)
		}
	}
	o := got.Outcome
	fmt.Fprintln(c.Out, "together:", firstOf(o.Decision, "nothing"), o.Reason)
	if o.Input != nil {
		fmt.Fprintln(c.Out, "  changed arguments:", string(o.Input))
	}
	for _, text := range o.Context {
		fmt.Fprintln(c.Out, "  to the model:", text)
	}
	return nil
}

func tryHooks(ctx context.Context, w *app.Workspace, a hooksToTry) (hooksTried, error) {
	theirs, names := hooks.Names(a.Tool, "", "")
	row, _ := hooks.RowOf(a.Event)
	in := hooks.Input{Event: a.Event, Session: "example", Dir: w.Disk.Folders()[0].Dir, Mode: "default"}
	switch row.Matcher {
	case "tool":
		in.Call, in.ToolName, in.OurTool = "example", theirs, a.Tool
		in.OurInput, in.Tool = a.Arguments, hooks.Theirs(a.Tool, w.Disk.Abs, a.Arguments)
	case "":
		names = nil
		in.Prompt = "an example"
	default:
		names = nil
	}
	list, o := w.Extensions.TryHooks(ctx, in, names...)
	return hooksTried{in, list, o}, nil
}
