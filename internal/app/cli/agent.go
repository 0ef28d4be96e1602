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
	"sync"
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
		if err := firstStart(ctx, c.Streams, c.folder); err != nil {
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

func answerRun(ctx context.Context, c *cli) error {
	if err := c.takes("answer", "a run, the id of a question and the answer", 3, 3); err != nil {
		return err
	}
	return c.agents(ctx, agentAsk{Verb: "answer", Run: c.args[0], Question: c.args[1], Answer: c.args[2]}, nil, func(agentTold) {})
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

// runPrinter prints what is told of a run.
type runPrinter struct {
	c     *cli
	ctx   context.Context
	say   func(agentAsk)
	typed bool // lines are read from standard input

	run     string
	message string // that is being printed
	printed bool   // something of it was
	whole   bool   // and ended a line
	reason  string // of the latest end
	why     string
	files   []string // that wait for review

	mu   sync.Mutex
	open *conversation.Event // that the next line answers
}

func (p *runPrinter) told(t agentTold) {
	if t.Run != nil {
		p.run = t.Run.Run
		if !p.c.json {
			fmt.Fprintf(p.c.Err, "run %s with %s, as session %s\n", t.Run.Run, t.Run.Agent, t.Run.Session)
		}
	}
	p.files = append(p.files, t.Files...)
	if t.Event == nil {
		return
	}
	if p.c.json {
		if line, err := encode(t.Event); err == nil {
			_, _ = p.c.Out.Write(line)
		}
	}
	p.event(t.Event)
}

func (p *runPrinter) event(e *conversation.Event) {
	quiet := p.c.json
	switch e.Kind {
	case conversation.Text:
		if e.Role == "user" || quiet {
			return
		}
		if e.Message != p.message {
			p.newline()
			p.message, p.printed = e.Message, false
		}
		switch {
		case e.Delta != "":
			fmt.Fprint(p.c.Out, e.Delta)
			p.printed, p.whole = true, strings.HasSuffix(e.Delta, "\n")
		case !p.printed:
			fmt.Fprintln(p.c.Out, strings.TrimRight(e.Text, "\n"))
			p.message = ""
		default:
			p.newline()
		}
	case conversation.CallFinished:
		if !quiet {
			p.newline()
			fmt.Fprintf(p.c.Err, "· %s (%s)\n", e.Call.Title, e.Call.Outcome)
		}
	case conversation.Note:
		if e.Text != "" && !quiet && e.Reason != "cache" { // which a tool that the agent has found costs, too
			p.newline()
			fmt.Fprintln(p.c.Err, "·", e.Text)
		}
	case conversation.Asked:
		p.newline()
		p.ask(*e)
	case conversation.Answered:
		p.mu.Lock()
		p.open = nil
		p.mu.Unlock()
	case conversation.RunEnd:
		p.newline()
		p.reason, p.why = e.Reason, e.Text
	}
}

// newline ends the message that is being printed.
func (p *runPrinter) newline() {
	if p.printed && !p.whole && !p.c.json {
		fmt.Fprintln(p.c.Out)
	}
	p.message, p.printed = "", false
}

// asked is a question as a person reads it: first the call that it is about, then why it
// is asked, and what can be answered.
func asked(q conversation.Event) string {
	text := q.Text
	if c := q.Call; c != nil && !strings.Contains(text, c.Title) {
		text = c.Title + "\n" + text
	}
	if c := q.Call; c != nil {
		for _, d := range c.Diff {
			if !strings.Contains(text, d.Path) {
				text += "\n  " + d.Path
			}
		}
	}
	if q.Irrecoverable {
		return text + "\n"
	}
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	return listed(text, labels)
}

// prompt asks for the answer to a question.
func prompt(q conversation.Event) string {
	if q.Irrecoverable {
		return typeYes
	}
	return "Answer: "
}

// ask puts an agent's question to the person, if there is a terminal.
func (p *runPrinter) ask(q conversation.Event) {
	if p.typed {
		p.mu.Lock()
		p.open = &q
		p.mu.Unlock()
		fmt.Fprint(p.c.Err, asked(q))
		if q.Irrecoverable {
			fmt.Fprintln(p.c.Err, typeYes)
		}
		return
	}
	tty, err := openTerminal()
	if err != nil {
		var ids []string
		for _, o := range q.Options {
			ids = append(ids, o.ID)
		}
		fmt.Fprintf(p.c.Err, "%sIt waits for: sidecar-ls agent answer %s %s %s\n", asked(q), p.run, q.Question, strings.Join(ids, "|"))
		return
	}
	go func() {
		for {
			text, err := readFrom(p.ctx, tty, asked(q)+prompt(q))
			if err != nil {
				return
			}
			if answer, ok := answerTo(q, text); ok {
				p.say(agentAsk{Verb: "answer", Question: q.Question, Answer: answer})
				return
			}
			fmt.Fprintln(p.c.Err, howTo(q))
			if tty, err = openTerminal(); err != nil {
				return
			}
		}
	}()
}

// line is one that was typed: an answer, or a prompt.
func (p *runPrinter) line(text string) {
	p.mu.Lock()
	q := p.open
	p.mu.Unlock()
	if q == nil {
		p.say(agentAsk{Verb: "prompt", Prompt: text})
		return
	}
	answer, ok := answerTo(*q, text)
	if !ok {
		fmt.Fprintln(p.c.Err, howTo(*q))
		return
	}
	p.say(agentAsk{Verb: "answer", Question: q.Question, Answer: answer})
}

// howTo says how a question is answered.
func howTo(q conversation.Event) string {
	if q.Irrecoverable {
		return "type yes or no"
	}
	return "type the number of an answer"
}

// kindsOf are the kinds of options that a word stands for.
var kindsOf = map[string]string{"y": "allow_once", "yes": "allow_once", "n": "reject_once", "no": "reject_once"}

// answerTo is the answer that a text is to a question: the number, the id or the label of
// an option, yes or no to a permission, or any text where there are no options. What can't
// be undone takes the whole word yes.
func answerTo(q conversation.Event, text string) (string, bool) {
	if len(q.Options) == 0 {
		return text, text != ""
	}
	word := strings.ToLower(text)
	allows := func(o conversation.Option) bool { return strings.HasPrefix(o.Kind, "allow") }
	if i, ok := numbered(text, len(q.Options)); ok && (!q.Irrecoverable || !allows(q.Options[i])) {
		return q.Options[i].ID, true
	}
	if i := slices.IndexFunc(q.Options, func(o conversation.Option) bool { return o.ID == text }); i >= 0 {
		return text, true
	}
	if q.Irrecoverable && word == "y" {
		return "", false
	}
	if i := slices.IndexFunc(q.Options, func(o conversation.Option) bool { return o.Kind == "" && strings.ToLower(o.Label) == word }); i >= 0 {
		return q.Options[i].ID, true
	}
	kind := kindsOf[word]
	i := slices.IndexFunc(q.Options, func(o conversation.Option) bool { return kind != "" && o.Kind == kind })
	if i < 0 {
		return "", false
	}
	return q.Options[i].ID, true
}

// end says how the run has ended.
func (p *runPrinter) end() error {
	p.newline()
	if len(p.files) > 0 && !p.c.json {
		fmt.Fprintln(p.c.Err, firstNames(p.files)+": "+heldWords)
	}
	switch p.reason {
	case "", conversation.Done:
		return nil
	case conversation.Interrupted:
		if p.why == "" {
			p.why = "it was stopped; sidecar-ls agent resume " + p.run + " goes on"
		}
	}
	if p.why == "" {
		return fmt.Errorf("the agent stopped: %s", p.reason)
	}
	return fmt.Errorf("the agent stopped: %s: %s", p.reason, p.why)
}
