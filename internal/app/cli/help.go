package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
)

// pitch describes sidecar-ls in one sentence.
const pitch = "Run any coding agent; every change waits for your review, in your editor."

// named is the command that a command line names, or nil.
func named(args []string) *command {
	for _, cmd := range commands() {
		if len(args) > 0 && cmd.name == args[0] {
			return &cmd
		}
	}
	return nil
}

func commandNames() (names []string) {
	for _, cmd := range commands() {
		names = append(names, cmd.name)
	}
	return append(names, "help", "version")
}

// helpOn shows all commands, or what there is about one of them or about a topic.
func helpOn(args []string, s Streams) error {
	if len(args) == 0 {
		help(s.Out)
		return nil
	}
	name := strings.Join(args, "-")
	s.Out = onTerminal(s.Out)
	if name == "topics" {
		return helpTopics(s.Out)
	}
	cmd := named([]string{name})
	if cmd == nil {
		return helpTopic(name, s.Out)
	}
	err := (&cli{Streams: s}).parse(*cmd, []string{"--help"})
	if page := pageOf(name); page != "" {
		fmt.Fprintf(s.Out, "\n%s", page)
	}
	return err
}

func help(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage:\n", pitch)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cmd := range commands() {
		fmt.Fprintf(t, "  sidecar-ls %s\t%s\n", cmd.name, cmd.help)
	}
	fmt.Fprint(t, "  sidecar-ls version\tprint the version\n")
	_ = t.Flush() // as with Fprint, there is nobody left to tell
	fmt.Fprint(w, "\nsidecar-ls help COMMAND shows the flags of a command, help TOPIC a page; help topics lists those.\n")
}

// onlyTerminal reports whether a person has typed this, and no editor has started it.
func onlyTerminal(s Streams) bool {
	for _, stream := range []any{s.In, s.Out} {
		if f, ok := stream.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
			return false
		}
	}
	return true
}

// welcome says what this is, what is here, and what to do next.
func welcome(_ context.Context, c *cli) error {
	c.Out = onTerminal(c.Out)
	fmt.Fprintf(c.Out, "sidecar-ls %s\n%s\n\n", build(), pitch)
	f, err := c.folder()
	if err != nil {
		fmt.Fprintf(c.Out, "%s.\nAll commands: sidecar-ls help\n", upperFirst(err.Error()))
		return nil
	}
	s := live.New(live.Options{})
	s.Open([]string{f.Dir})
	now := s.Now()
	agent, agents := "", []string{}
	for _, p := range profile.All(now) {
		if _, err := c.Programs.Find(p.Program); err != nil {
			continue
		}
		agents = append(agents, p.Title)
		if agent == "" && p.ACP != nil {
			agent = p.Name
		}
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Project\t%s\nMode\t%s (sidecar-ls mode)\n", f.Dir, now.String("mode"))
	if len(agents) == 0 {
		agents = []string{"none on PATH: install Claude Code, Codex, Gemini CLI or OpenCode"}
	}
	fmt.Fprintf(t, "Agents\t%s\n\nNext\t\n", strings.Join(agents, ", "))
	if agent != "" {
		fmt.Fprintf(t, "  sidecar-ls agent run %s \"…\"\tan agent works on this project; its changes wait\n", agent)
	}
	fmt.Fprint(t, "  sidecar-ls review\tsee what waits, accept or reject it\n  sidecar-ls setup\twhich editors and agents are here, and how to connect them\n  sidecar-ls help\tall commands\n")
	return t.Flush()
}
