package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// setupFlags are the flags of setup.
type setupFlags struct {
	via, tools                    string
	project, only, yes, dry, undo bool
	review, unreviewed, all       bool
}

func (s *setupFlags) define(f *flag.FlagSet) {
	f.StringVar(&s.via, "via", "", "integrations, with commas between them: mcp, world, hook, ide, acp; by default all that setup can write but hook")
	f.BoolVar(&s.project, "project", false, "write the project's files, not yours")
	f.StringVar(&s.tools, "tools", "", "families of tools that the client is listed at first, with commas between them, such as core,git,agents; by default as sidecar.mcp.tools says")
	f.BoolVar(&s.only, "only-ours", false, "turn off what the agent has of its own for files and commands")
	f.BoolVar(&s.review, "review", false, "let all edits of the agent wait for review: --only-ours, and the mode review; by default you are asked")
	f.BoolVar(&s.unreviewed, "no-review", false, "leave the agent's own edits unreviewed, without being asked")
	f.BoolVar(&s.yes, "yes", false, "don't ask")
	f.BoolVar(&s.dry, "dry-run", false, "show what would change, and change nothing")
	f.BoolVar(&s.undo, "undo", false, "take out what setup has put in")
	f.BoolVar(&s.all, "all", false, "without a client: say of each integration what it gives")
}

// setupOutcome is what a run of setup did, or would do.
type setupOutcome struct {
	Client   string        `json:"client"`
	Changed  []setupChange `json:"changed"`
	Replaces []string      `json:"replaces,omitempty"`
	Left     []string      `json:"left,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
	Written  bool          `json:"written"`
	Kept     string        `json:"kept,omitempty"`
	Undo     string        `json:"undo,omitempty"`
}

type setupChange struct {
	Path   string `json:"path"`
	Target string `json:"target,omitempty"`
	Diff   string `json:"diff"`
}

// setupEnv is where setup looks, for the project that c works in.
func (c *cli) setupEnv() (setup.Env, error) {
	f, err := c.folder()
	if err != nil && !errors.Is(err, errNoProject) { // agents and editors are set up for all projects
		return setup.Env{}, err
	}
	env, err := setup.Here(f.Dir, c.Self, c.Programs, hasVerb)
	env.Reviewed = func(project bool) setup.Mode { return reviewedMode(c.Machine, f.Dir, project) }
	return env, err
}

// reviewedMode is what the settings make of edits: the user's own, or all that hold in a
// project.
func reviewedMode(machine config.MachineFile, dir string, project bool) setup.Mode {
	s := live.New(live.Options{Machine: machine})
	out := setup.Mode{File: config.UserFile()}
	if project {
		out.File = filepath.Join(dir, filepath.FromSlash(config.ProjectFile))
		s.Open([]string{dir})
	} else {
		s.Open(nil)
	}
	out.Name = s.Now().String("mode")
	review, _ := policy.Lookup("review")
	for _, m := range s.Modes() {
		if m.Name == out.Name {
			out.Holds, out.Tightens = m.Holds(), review.AtLeast(m)
		}
	}
	return out
}

// hasVerb reports whether there is a sub-command.
func hasVerb(name string) bool {
	return slices.ContainsFunc(commands(), func(cmd command) bool { return cmd.name == name })
}

// setUp lists the clients, or puts sidecar-ls into one of them.
func setUp(ctx context.Context, c *cli) error {
	if len(c.args) > 0 && c.args[0] == modelClient {
		return setUpModel(ctx, c, c.args[1:])
	}
	if err := c.oneFolder("setup"); err != nil {
		return err
	}
	env, err := c.setupEnv()
	if err != nil {
		return err
	}
	switch len(c.args) {
	case 0:
		if c.setup != (setupFlags{all: c.setup.all}) {
			return usagef("setup takes these flags with the name of a client: %s", strings.Join(setup.Names(), ", "))
		}
		return c.listClients(env.List(ctx, true))
	case 1:
	default:
		return usagef("setup takes one client, but got %q", c.args)
	}
	if c.setup.all {
		return usagef("--all is of the list of clients: sidecar-ls setup --all")
	}
	name := c.args[0]
	if !slices.Contains(setup.Names(), name) {
		names := append(setup.Names(), modelClient)
		return usagef("setup does not know %q%s; it knows %s", name, didYouMean(name, names), strings.Join(names, ", "))
	}
	if c.setup.review && (c.setup.unreviewed || c.setup.undo) {
		return usagef("--review goes with neither --no-review nor --undo")
	}
	families, err := config.Families(c.setup.tools)
	if err != nil {
		return usagef("--tools: %v", err)
	}
	o := setup.Options{Project: c.setup.project, Tools: families, OnlyOurs: c.setup.only, Review: c.setup.review}
	if c.setup.via != "" {
		o.Roads = strings.Split(c.setup.via, ",")
	}
	if err := offerReview(ctx, c.setup, c.json, env, name, &o); err != nil {
		return err
	}
	plan := env.Plan
	if c.setup.undo {
		plan = env.PlanUndo
	}
	p, err := plan(name, o)
	if err != nil {
		return err
	}
	return c.carryOut(ctx, p)
}

// offerReview asks whether all edits of an agent are to wait for review, where that is
// left open and there is somebody to ask.
func offerReview(ctx context.Context, s setupFlags, machine bool, env setup.Env, name string, o *setup.Options) error {
	if o.Review || s.unreviewed || s.only || s.yes || s.dry || s.undo || machine || !canAsk() {
		return nil
	}
	can, does := env.CanReview(name, *o)
	if !can || does {
		return nil
	}
	tty, err := openTerminal()
	if err != nil {
		return err
	}
	o.Review, err = yesUnlessNo(ctx, tty, "Review all its edits before they reach your files? Its own tools for files and commands are turned off then, and ours take their place.")
	return err
}

func isYes(text string) bool { return slices.Contains([]string{"y", "yes"}, strings.ToLower(text)) }

// carryOut shows a plan, asks, and does it.
func (c *cli) carryOut(ctx context.Context, p *setup.Plan) error {
	hide := redact.OfEnvironment()
	out := setupOutcome{Client: p.Client, Changed: []setupChange{}, Replaces: p.Foreign, Left: p.Left, Notes: p.Notes}
	for _, ch := range p.Changes {
		out.Changed = append(out.Changed, setupChange{ch.Path, ch.Target, hide.Text(ch.Diff)})
	}
	brief := p.Brief(hide.Text)
	if !c.json {
		c.showPlan(p, out, brief)
	}
	refused := ""
	switch {
	case c.setup.dry:
	case len(p.Changes) == 0 || c.setup.yes:
	default:
		yes := false
		tty, err := openTerminal()
		if err == nil {
			yes, err = yesUnlessNo(ctx, tty, fmt.Sprintf("Change %s?", tools.Count(len(p.Changes), "file")))
		}
		if err != nil {
			refused = fmt.Sprintf("nothing was written: %v; run it in a terminal, or with --yes", err)
		} else if !yes {
			refused = "nothing was written"
		}
	}
	if refused == "" && !c.setup.dry {
		if err := p.Apply(); err != nil {
			return err
		}
		if out.Written = len(p.Changes) > 0; out.Written && !c.setup.undo {
			out.Kept, out.Undo = p.Kept, c.undoCommand(p.Client)
		}
	}
	if c.json {
		if err := c.print(out); err != nil {
			return err
		}
	} else {
		c.showOutcome(out, brief)
	}
	if refused != "" {
		fmt.Fprintf(c.Err, "sidecar-ls: %s\n", refused)
		return errReported
	}
	return nil
}

// yesUnlessNo asks about what the person has come for: a bare Enter is yes, the end of the
// input is not.
func yesUnlessNo(ctx context.Context, tty io.ReadWriteCloser, question string) (bool, error) {
	line, err := readLine(ctx, tty, question+" [Y/n] ")
	text := strings.TrimSpace(line)
	return isYes(text) || text == "" && strings.HasSuffix(line, "\n"), err
}

// agreed asks the person at the terminal.
func (c *cli) agreed(ctx context.Context, question string) (bool, error) {
	tty, err := openTerminal()
	if err != nil {
		return false, err
	}
	text, err := readFrom(ctx, tty, question+" [y/N] ")
	return isYes(text), err
}

func (c *cli) undoCommand(client string) string {
	line := "sidecar-ls setup " + client + " --undo"
	if c.setup.project {
		line += " --project"
		if len(c.roots) > 0 {
			line += " --root " + c.roots[0]
		}
	}
	return line
}

// showPlan prints what a person is asked about: each file and the lines that come and go. A
// dry run prints the diffs.
func (c *cli) showPlan(p *setup.Plan, out setupOutcome, brief []setup.Brief) {
	for _, ch := range out.Changed {
		if ch.Target != "" {
			fmt.Fprintf(c.Out, "%s leads by a link to %s, which is what changes.\n", ch.Path, ch.Target)
		}
		if c.setup.dry {
			fmt.Fprintln(c.Out, ch.Diff)
		}
	}
	for _, b := range brief {
		if c.setup.dry {
			break
		}
		fmt.Fprintln(c.Out, briefName(b))
		for _, line := range b.Lines {
			fmt.Fprintln(c.Out, " ", line)
		}
		if b.More > 0 {
			fmt.Fprintf(c.Out, "  … %s; --dry-run shows all\n", tools.Count(b.More, "more line"))
		}
	}
	for _, text := range out.Replaces {
		fmt.Fprintf(c.Out, "Careful: %s. It is replaced; undo brings it back.\n", text)
	}
	for _, text := range out.Left {
		fmt.Fprintln(c.Out, text)
	}
	switch {
	case len(out.Changed)+len(out.Left) > 0:
	case c.setup.undo:
		fmt.Fprintf(c.Out, "There is nothing of ours in %s to undo.\n", p.Title)
	case p.Done:
		fmt.Fprintf(c.Out, "%s is set up already; nothing changes.\n", p.Title)
	}
}

// briefName is a file that changes, or the directory of a plug-in.
func briefName(b setup.Brief) string {
	var about []string
	if b.Plugin > 0 {
		about = append(about, "the plug-in", tools.Count(b.Plugin, "file"))
	}
	if b.New {
		about = append(about, "new")
	}
	if b.Removed {
		about = append(about, "removed")
	}
	if about == nil {
		return b.Path
	}
	return fmt.Sprintf("%s (%s)", b.Path, strings.Join(about, ", "))
}

func (c *cli) showOutcome(out setupOutcome, brief []setup.Brief) {
	if out.Written {
		fmt.Fprintf(c.Out, "%s written:\n", upperFirst(tools.Count(len(out.Changed), "file")))
		for _, b := range brief {
			fmt.Fprintln(c.Out, " ", briefName(b))
		}
	}
	if out.Kept != "" {
		fmt.Fprintf(c.Out, "Copies of what was there are in %s. To take it back: %s\n", out.Kept, out.Undo)
	}
	if out.Written || len(out.Changed) == 0 {
		for _, text := range out.Notes {
			fmt.Fprintln(c.Out, text)
		}
	}
	if c.setup.dry && len(out.Changed) > 0 {
		fmt.Fprintln(c.Out, "Nothing was written.")
	}
}

// listClients prints what is here: of each client the command to type now, and its
// integrations; with --all what these give.
func (c *cli) listClients(list []setup.Client) error {
	if c.json {
		return c.print(map[string]any{"clients": list})
	}
	var absent []string
	for _, cl := range list {
		if !cl.Found {
			absent = append(absent, cl.Title)
			continue
		}
		found := strings.TrimSpace("found " + cl.Version)
		if cl.Trouble != "" {
			found += ", but " + cl.Trouble
		}
		fmt.Fprintf(c.Out, "%s (%s): %s\n", cl.Name, cl.Title, found)
		if now := typeNow(cl); now != "" {
			fmt.Fprintln(c.Out, "  now:", now)
		}
		if c.setup.all {
			printIntegrations(c.Out, cl.Roads)
		} else {
			printStates(c.Out, cl.Roads)
		}
	}
	if len(absent) > 0 {
		fmt.Fprintf(c.Out, "not found: %s\n", strings.Join(absent, ", "))
	}
	fmt.Fprintln(c.Out, "\nsidecar-ls setup CLIENT shows what it would change, and asks; setup --all says what each integration gives.\nsidecar-ls setup model chooses the language model of our own agent.")
	return nil
}

// typeNow is the command that a person begins with: the agent in a run, what sets the client
// up, or its own program, where that is set up.
func typeNow(cl setup.Client) string {
	for _, r := range cl.Roads {
		if r.Road == "world" && r.State == setup.Available {
			if cl.Program == "" {
				return "" // only its settings are here
			}
			return r.Command
		}
	}
	for _, r := range cl.Roads {
		switch {
		case r.State == setup.On && cl.Program == "":
			return ""
		case r.State == setup.On:
			return filepath.Base(cl.Program)
		case r.Command != "":
			return r.Command
		}
	}
	return ""
}

// printStates prints a line for each integration: the command for it, or what is wrong.
func printStates(w io.Writer, all []setup.Integration) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range all {
		state, text := r.State, r.Command
		if text == "" || state == setup.Incomplete {
			text = r.Why
		}
		switch state {
		case setup.On:
			text = ""
		case setup.Unavailable:
			state, text = fmt.Sprintf("%s (%s)", state, text), ""
		}
		fmt.Fprintln(t, strings.TrimRight("  "+r.Road+"\t"+state+"\t"+text, "\t"))
	}
	_ = t.Flush() // as with Fprint, there is nobody left to tell
}

func printIntegrations(w io.Writer, all []setup.Integration) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range all {
		text := r.What
		if r.Why != "" {
			text += " (" + r.Why + ")"
		}
		if r.Command != "" && r.State != setup.On {
			text += " Run `" + r.Command + "`."
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", r.Road, r.State, text)
	}
	_ = t.Flush() // as with Fprint, there is nobody left to tell
}

// setupClients offers the clients.
func setupClients(ctx context.Context, c *cli, done []string, begun string) []candidate {
	return verbs(append(setup.Names(), modelClient)...)(ctx, c, done, begun)
}

// checkClients says of each agent that is in PATH whether it is set up. No
// program is started.
func checkClients(ctx context.Context, c *cli) []finding {
	env, err := c.setupEnv()
	if err != nil {
		return nil
	}
	var out []finding
	for _, cl := range env.List(ctx, false) {
		i := slices.IndexFunc(cl.Roads, func(r setup.Integration) bool { return r.Road == "mcp" })
		if cl.Program == "" || i < 0 {
			continue
		}
		r := cl.Roads[i]
		detail := cl.Title + ": mcp is " + r.State
		if r.Why != "" {
			detail += ", " + r.Why
		}
		if r.State != setup.On {
			detail += "; sidecar-ls setup " + cl.Name + " sets it up"
		}
		out = append(out, finding{"agent", true, detail})
	}
	return out
}
