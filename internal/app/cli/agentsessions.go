package cli

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// listSessions lists the conversations that an agent had in the workspace, whoever
// began them.
func listSessions(ctx context.Context, c *cli) error {
	if err := c.takes("sessions", "an agent, and the cursor of the next part of a long list; sidecar-ls agent list has the agents", 1, 2); err != nil {
		return err
	}
	ask := agentAsk{Verb: "sessions", Agent: c.args[0]}
	if len(c.args) > 1 {
		ask.Cursor = c.args[1]
	}
	there, err := c.theAgents(ctx)
	if err != nil {
		return err
	}
	if ask.Consent, err = c.allowed(ctx, there, ask.Agent); err != nil {
		return err
	}
	var list agents.EarlierPage
	if err := c.agents(ctx, ask, nil, func(t agentTold) { list = *t.Sessions }); err != nil {
		return err
	}
	if c.json {
		return c.print(list)
	}
	if len(list.Sessions) == 0 && list.Next == "" {
		fmt.Fprintf(c.Out, "%s had no conversations here.\n", ask.Agent)
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, s := range list.Sessions {
		at := ""
		if s.UpdatedAt != nil {
			at = s.UpdatedAt.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.ID, at, s.Run, cmp.Or(s.Title, "–"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if list.Next != "" {
		fmt.Fprintf(c.Err, "There are more: sidecar-ls agent sessions %s %s\n", ask.Agent, tools.ShellWord(list.Next))
	}
	return nil
}
