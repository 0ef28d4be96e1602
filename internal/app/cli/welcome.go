package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/adapter"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// welcome says what this is, what is here, what waits, and what to do next.
func welcome(ctx context.Context, c *cli) error {
	c.Out = onTerminal(c.Out)
	fmt.Fprintf(c.Out, "sidecar-ls %s\n%s\n\n", build(), pitch)
	f, err := c.folder()
	if err != nil {
		fmt.Fprintf(c.Out, "%s.\nAll commands: sidecar-ls help\n", upperFirst(err.Error()))
		return nil
	}
	s := live.New(live.Options{Machine: c.Machine})
	s.Open([]string{f.Dir})
	now := s.Now()
	agents, run := agentsHere(c, profile.All(now))
	waits, run2 := waitsHere(ctx, c, f.Dir)
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Project\t%s\nMode\t%s (sidecar-ls mode)\nAgents\t%s\n", f.Dir, now.String("mode"), agents)
	if waits != "" {
		fmt.Fprintf(t, "Waits\t%s\n", waits)
	}
	fmt.Fprint(t, "\nNext\t\n")
	for _, line := range append(run2, run...) {
		fmt.Fprintf(t, "  %s\n", line)
	}
	if waits == "" {
		fmt.Fprint(t, "  sidecar-ls review\tsee what waits, accept or reject it\n")
	}
	fmt.Fprint(t, "  sidecar-ls setup\twhich editors and agents are here, and how to connect them\n  sidecar-ls help\tall commands\n")
	return t.Flush()
}

// agentsHere names the agents that are here, and the command that starts the first that can
// be driven.
func agentsHere(c *cli, all []profile.Profile) (names string, next []string) {
	var titles []string
	finder, err := adapter.Of(c.Programs)
	for _, p := range all {
		if _, err := c.Programs.Find(p.Program); err != nil {
			continue
		}
		title := p.Title
		if p.ACP != nil && err == nil {
			if _, why := finder.Bind(p); why != nil {
				title += " (" + why.Error() + ")"
			} else if next == nil {
				next = []string{fmt.Sprintf("sidecar-ls agent run %s \"…\"\tan agent works on this project; its changes wait", p.Name)}
			}
		}
		titles = append(titles, title)
	}
	if titles == nil {
		return "none on PATH: install Claude Code, Codex, Gemini CLI or OpenCode", nil
	}
	return strings.Join(titles, ", "), next
}

// waitsHere says what waits in a folder for a person, and the commands for it; "" is
// nothing. It opens no queue where there is none.
func waitsHere(ctx context.Context, c *cli, dir string) (waits string, next []string) {
	if c.may("review") != nil {
		return "", nil
	}
	conn, _, err := attach.DialPerson(ctx, dir)
	serves := err == nil
	if serves {
		_ = conn.Close()
	} else if !statedir.Dir(dir).HasQueue() {
		return "", nil
	}
	var parts []string
	list, err := ask(ctx, c, reviewList, reviewWords{Dir: dir})
	switch {
	case err != nil:
		parts = append(parts, "not known: "+err.Error())
	case len(list.Edits)+len(list.Commits) > 0:
		parts = append(parts, countOf(list))
		next = append(next, "sidecar-ls review diff\tsee what waits; review accept and review reject decide on it")
	}
	if serves { // nobody waits for an answer in another process that is gone
		questions := 0
		_ = c.agents(ctx, agentAsk{Verb: "runs"}, nil, func(t agentTold) {
			for _, r := range t.Runs {
				if r.State == conversation.Waiting {
					questions++
					next = append([]string{"sidecar-ls agent attach " + r.Run + "\tanswer " + r.Agent}, next...)
				}
			}
		})
		if questions > 0 {
			parts = append(parts, tools.Count(questions, "question"))
		}
	}
	return strings.Join(parts, ", "), next
}
