package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
)

// showPrompt prints what a model would get at the beginning of a run here.
func showPrompt(ctx context.Context, c *cli) error {
	if err := c.takes("prompt", "nothing but --mode and --model", 0, 0); err != nil {
		return err
	}
	var o *loop.Opening
	if err := c.agents(ctx, agentAsk{Verb: "prompt", Mode: c.mode, Model: c.model}, nil, func(t agentTold) { o = t.Opening }); err != nil {
		return err
	}
	if c.json {
		return c.print(o)
	}
	fmt.Fprintln(c.Out, o.System)
	tools := o.ToolText
	if tools == "" {
		var names []string
		for _, t := range o.Tools {
			names = append(names, t.Name)
		}
		tools = fmt.Sprintf("Tools (%d, whole with --json): %s", len(names), strings.Join(names, ", "))
	}
	fmt.Fprintf(c.Out, "\n%s\n", tools)
	size := loop.Part{}
	var parts []string
	for _, p := range o.Parts {
		size.Bytes, size.Tokens = size.Bytes+p.Bytes, size.Tokens+p.Tokens
		parts = append(parts, fmt.Sprintf("%s %d (%d)", p.Name, p.Bytes, p.Tokens))
	}
	fmt.Fprintf(c.Out, "\n%d bytes, about %d tokens: %s\n", size.Bytes, size.Tokens, strings.Join(parts, ", "))
	if o.NoModel != "" {
		fmt.Fprintln(c.Err, "sidecar-ls:", o.NoModel)
	} else {
		fmt.Fprintf(c.Err, "for the model %s of the profile %s\n", o.Model, cmp.Or(o.Profile, "that is active"))
	}
	return nil
}
