package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"
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
