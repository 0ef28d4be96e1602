package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// agentVerbs take what follows the verb.
var agentVerbs = map[string]func(ctx context.Context, c *cli) error{
	"prompt": showPrompt, "eval": evalModel,
	"list": listAgents, "sessions": listSessions, "runs": listRuns, "run": runAgent, "attach": attachRun, "resume": resumeRun, "fork": forkRun,
	"answer": answerRun, "stop": endRun("stop"), "close": endRun("close"),
}

func agentCommand(ctx context.Context, c *cli) error {
	verb := "list"
	if len(c.args) > 0 {
		verb, c.args = c.args[0], c.args[1:]
	}
	f := agentVerbs[verb]
	if f == nil {
		return usagef("agent has no verb %q; it has list, sessions, run, runs, attach, resume, fork, answer, stop, close, prompt and eval", verb)
	}
	return f(ctx, c)
}

// takes checks how many words follow a verb.
func (c *cli) takes(verb, words string, least, most int) error {
	if len(c.args) < least || len(c.args) > most {
		return usagef("agent %s takes %s", verb, words)
	}
	return nil
}

// theAgents are the agents that there are.
func (c *cli) theAgents(ctx context.Context) (list []agents.Info, err error) {
	err = c.agents(ctx, agentAsk{Verb: "list"}, nil, func(t agentTold) { list = t.Agents })
	return list, err
}

func listAgents(ctx context.Context, c *cli) error {
	if err := c.takes("list", "nothing", 0, 0); err != nil {
		return err
	}
	list, err := c.theAgents(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(list)
	}
	slices.SortStableFunc(list, func(a, b agents.Info) int { // what can be had comes first
		switch {
		case a.Available == b.Available:
			return 0
		case a.Available:
			return -1
		}
		return 1
	})
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, a := range list {
		state := "ready"
		switch {
		case !a.Available:
			state = a.Why
		case a.Kind == "program":
			state = "in a terminal alone: sidecar-ls run"
		case !a.Consented:
			state = "ready; what it sees of yours is asked about once"
			if a.Install != "" {
				state = "after one question: " + a.Install
			}
		case a.Install != "":
			state = "at its first start " + a.Install
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", a.Name, a.Title, state)
	}
	return t.Flush()
}

func listRuns(ctx context.Context, c *cli) error {
	if err := c.takes("runs", "nothing but --all", 0, 0); err != nil {
		return err
	}
	var list []conversation.Info
	if err := c.agents(ctx, agentAsk{Verb: "runs", All: c.all}, nil, func(t agentTold) { list = t.Runs }); err != nil {
		return err
	}
	if c.json {
		if list == nil {
			list = []conversation.Info{}
		}
		return c.print(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(c.Out, "There are no runs; sidecar-ls agent run AGENT PROMPT begins one.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, r := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Run, r.State, r.Agent, r.OpenedAt.Local().Format("2006-01-02 15:04"), r.Title)
	}
	return t.Flush()
}

func runAgent(ctx context.Context, c *cli) error {
	if len(c.args) < 2 && (c.resume == "" || len(c.args) == 0) {
		return usagef(`agent run takes an agent and what it is to do, as in: sidecar-ls agent run gemini "add a test for Words"; - reads that from standard input. With --resume it may do nothing yet`)
	}
	list, err := c.theAgents(ctx)
	if err != nil {
		return err
	}
	if c.model == "" { // another than that of the settings may be there
		if err := unavailable(list, c.args[0]); err != nil {
			return err
		}
	}
	if c.mode == "" && !c.yes && !c.json {
		if err := firstStart(ctx, c.Streams, c.folders); err != nil {
			return err
		}
	}
	ask := agentAsk{Verb: "run", Agent: c.args[0], Session: c.session, Mode: c.mode, Model: c.model, Resume: c.resume}
	if len(c.args) > 1 {
		if ask.Prompt, err = c.prompt(c.args[1:]); err != nil {
			return err
		}
	}
	if ask.Consent, err = c.allowed(ctx, list, c.args[0]); err != nil {
		return err
	}
	return c.follow(ctx, ask)
}

// prompt is what words say, or standard input for -.
func (c *cli) prompt(words []string) (string, error) {
	text := strings.Join(words, " ")
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(c.In, 1<<20))
		if err != nil {
			return "", err
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("there is no prompt")
	}
	return text, nil
}

func attachRun(ctx context.Context, c *cli) error {
	if err := c.takes("attach", "a run; sidecar-ls agent runs lists them", 1, 1); err != nil {
		return err
	}
	return c.follow(ctx, agentAsk{Verb: "attach", Run: c.args[0]})
}

func resumeRun(ctx context.Context, c *cli) error {
	if len(c.args) == 0 {
		return usagef("agent resume takes a run, and what the agent is to do if you like; sidecar-ls agent runs --all lists them")
	}
	ask := agentAsk{Verb: "resume", Run: c.args[0]}
	if len(c.args) > 1 {
		var err error
		if ask.Prompt, err = c.prompt(c.args[1:]); err != nil {
			return err
		}
	}
	return c.follow(ctx, ask)
}

func forkRun(ctx context.Context, c *cli) error {
	if err := c.takes("fork", "a run; sidecar-ls agent runs --all lists them", 1, 1); err != nil {
		return err
	}
	var fork *conversation.Info
	if err := c.agents(ctx, agentAsk{Verb: "fork", Run: c.args[0]}, nil, func(t agentTold) { fork = t.Run }); err != nil {
		return err
	}
	if c.json {
		return c.print(fork)
	}
	fmt.Fprintf(c.Out, "%s has the conversation of %s; go on with: sidecar-ls agent resume %s PROMPT\n", fork.Run, c.args[0], fork.Run)
	return nil
}

func endRun(verb string) func(context.Context, *cli) error {
	return func(ctx context.Context, c *cli) error {
		if err := c.takes(verb, "a run; sidecar-ls agent runs lists them", 1, 1); err != nil {
			return err
		}
		return c.agents(ctx, agentAsk{Verb: verb, Run: c.args[0]}, nil, func(agentTold) {})
	}
}

// follow prints a run as it goes on. An interrupt stops the agent, a second one leaves.
func (c *cli) follow(ctx context.Context, ask agentAsk) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	more := make(chan agentAsk)
	say := func(a agentAsk) {
		select {
		case more <- a:
		case <-ctx.Done():
		}
	}
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	go func() {
		select {
		case <-interrupts:
			say(agentAsk{Verb: "stop"})
		case <-ctx.Done():
			return
		}
		select {
		case <-interrupts:
			cancel()
		case <-ctx.Done():
		}
	}()
	p := &runPrinter{c: c, ctx: ctx, say: say, typed: ask.Verb == "attach" && canAsk()}
	if p.typed {
		go func() { // what is typed while nothing is asked is a prompt
			in := bufio.NewScanner(c.In)
			for in.Scan() {
				if text := strings.TrimSpace(in.Text()); text != "" {
					p.line(text)
				}
			}
			cancel()
		}()
	}
	err := c.agents(ctx, ask, more, p.told)
	switch {
	case err != nil && p.typed && ctx.Err() != nil:
		return nil // left
	case err != nil:
		return err
	}
	if ask.Verb == "run" && ask.Prompt == "" && !c.json {
		fmt.Fprintf(c.Err, "go on with: sidecar-ls agent resume %s PROMPT\n", p.run)
	}
	return p.end()
}
