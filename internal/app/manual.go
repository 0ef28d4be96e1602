package app

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// listTools lists the tools, or describes one.
func listTools(ctx context.Context, c *cli) error {
	if len(c.args) > 1 {
		return usagef("tools takes one tool at a time, but got %q too", c.args[1])
	}
	if c.strict && c.format != string(tools.FormatOpenAI) {
		return usagef("--strict concerns --format openai alone")
	}
	if c.format == "" && c.json {
		c.format = string(tools.FormatInfo)
	}
	if len(c.args) == 1 && c.format == "" {
		return c.showTool(ctx, c.args[0])
	}
	k, err := c.core(ctx, queueNever)
	if err != nil {
		return err
	}
	defer k.close()
	format := tools.Format(c.format)
	list, _, err := k.dispatch.List(dispatch.ListRequest{Model: format.ForModels()})
	if err != nil {
		return err
	}
	if len(c.args) == 1 {
		t, err := k.tool(c.args[0])
		if err != nil {
			return err
		}
		list = []*tools.Tool{t}
	}
	if format == "" {
		t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
		for _, tool := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\n", tool.Name, tool.Access, tool.Title)
		}
		return t.Flush()
	}
	enc, err := tools.Encode(list, format, c.strict)
	if err != nil {
		return usagef("--format: %v", err)
	}
	if text, ok := enc["text"].(string); ok && !c.json {
		_, err = fmt.Fprintln(c.Out, text)
		return err
	}
	return c.print(enc)
}

// tool is the tool of that name.
func (c *core) tool(name string) (*tools.Tool, error) {
	t, _, ok := c.registry.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("%w; sidecar-ls tools lists them", c.registry.Unknown(name))
	}
	return t, nil
}

// manual describes a tool.
func (c *cli) manual(ctx context.Context, name string) (tools.Manual, error) {
	k, err := c.core(ctx, queueNever)
	if err != nil {
		return tools.Manual{}, err
	}
	defer k.close()
	t, err := k.tool(name)
	if err != nil {
		return tools.Manual{}, err
	}
	return t.Manual(), nil
}

// showTool prints the description of a tool.
func (c *cli) showTool(ctx context.Context, name string) error {
	m, err := c.manual(ctx, name)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(m)
	}
	fmt.Fprintf(c.Out, "%s (%s): %s\n\n%s\n\n", m.Name, m.Access, m.Title, m.Description)
	if len(m.Arguments) == 0 {
		fmt.Fprintln(c.Out, "It takes no arguments.")
	} else if err := argumentTable(c.Out, m.Arguments); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "\nExample:\n  sidecar-ls call %s%s\n", m.Name, exampleWords(m))
	return nil
}

func argumentTable(w io.Writer, list []tools.Argument) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ARGUMENT\tTYPE\tREQUIRED\tDEFAULT\tMEANING")
	argumentRows(t, list, "")
	return t.Flush()
}

func argumentRows(w io.Writer, list []tools.Argument, indent string) {
	for _, a := range list {
		required, value := "", "" // what has no default says in its meaning what it is without
		if a.Required {
			required = "yes"
		}
		if a.Default != nil {
			value = string(a.Default)
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\n", indent, a.Name, a.Type, required, value, a.Meaning)
		argumentRows(w, a.Members, indent+"  ")
	}
}

// exampleWords are the arguments of a tool's example as a shell reads them.
func exampleWords(m tools.Manual) string {
	words := m.Words(m.Example)
	if words == nil {
		words = []string{string(m.Example)}
	}
	out := ""
	for _, w := range words {
		out += " " + forShell(w)
	}
	return out
}

// bare are words that every shell reads as they are.
var bare = regexp.MustCompile(`^[A-Za-z0-9_./:=,+-]+$`)

// forShell writes a word so that a POSIX shell reads it as it is.
func forShell(w string) string {
	if bare.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
