package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// listTools lists the tools, or describes one.
func listTools(ctx context.Context, c *cli) error {
	if len(c.args) > 1 {
		return usagef("tools takes one tool at a time, but got %q too", c.args[1])
	}
	if c.strict != nil && !tools.Format(c.format).HasStrict() {
		return usagef("--strict concerns --format openai, anthropic and mcp alone")
	}
	if c.format == "" && c.json {
		c.format = string(tools.FormatInfo)
	}
	if len(c.args) == 1 && c.format == "" {
		return c.showTool(ctx, c.args[0])
	}
	list, err := ask(ctx, c, toolList, toolsQuery{c.format, c.strict, strings.Join(c.args, "")})
	if err != nil {
		return err
	}
	if c.format == "" {
		t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
		for _, tool := range list.Tools {
			fmt.Fprintf(t, "%s\t%s\t%s\n", tool.Name, tool.Access, tool.Title)
		}
		return t.Flush()
	}
	if list.Text != "" && !c.json {
		_, err = fmt.Fprintln(c.Out, list.Text)
		return err
	}
	return c.print(list.Encoded)
}

// What is asked about tools.
var (
	toolList   = query[toolsQuery, toolsReply]{name: "tools list", answer: answerTools}
	toolManual = query[string, tools.Manual]{name: "tools show", answer: func(ctx context.Context, w *app.Workspace, name string) (tools.Manual, error) {
		t, err := find(ctx, w, name)
		if err != nil {
			return tools.Manual{}, err
		}
		return t.Manual(), nil
	}}
)

type toolsQuery struct {
	Format string `json:"format,omitempty"` // "": a table
	Strict *bool  `json:"strict,omitempty"` // nil: follows the setting
	Name   string `json:"name,omitempty"`   // of the only one
}

type toolsReply struct {
	Tools   []toolRow       `json:"tools,omitempty"` // the table
	Text    string          `json:"text,omitempty"`  // of the format text
	Encoded json.RawMessage `json:"encoded,omitempty"`
}

type toolRow struct {
	Name   string       `json:"name"`
	Access tools.Access `json:"access"`
	Title  string       `json:"title"`
}

func answerTools(ctx context.Context, w *app.Workspace, a toolsQuery) (toolsReply, error) {
	var out toolsReply
	format := tools.Format(a.Format)
	list, _, err := w.Dispatch.List(dispatch.ListRequest{Model: format.ForModels()})
	if err != nil {
		return out, err
	}
	if a.Name != "" {
		t, err := find(ctx, w, a.Name)
		if err != nil {
			return out, err
		}
		list = []*tools.Tool{t}
	}
	if format == "" {
		for _, t := range list {
			out.Tools = append(out.Tools, toolRow{t.Name, t.Access, t.Title})
		}
		return out, nil
	}
	enc, err := tools.Encode(list, format, a.Strict != nil && *a.Strict)
	if err != nil {
		return out, usagef("--format: %v", err)
	}
	out.Text, _ = enc["text"].(string)
	out.Encoded, err = encode(enc)
	return out, err
}

// find is the tool of that name.
func find(ctx context.Context, w *app.Workspace, name string) (*tools.Tool, error) {
	w.Extensions.Ready(ctx)
	t, _, ok := w.Registry.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("%w; sidecar-ls tools lists them", w.Registry.Unknown(name))
	}
	return t, nil
}

// manual describes a tool.
func (c *cli) manual(ctx context.Context, name string) (tools.Manual, error) {
	return ask(ctx, c, toolManual, name)
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
	return returned(c.Out, m)
}

// returned prints the members of a tool's structured results, and its errors.
func returned(w io.Writer, m tools.Manual) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, form := range m.Results {
		fmt.Fprintf(t, "\n%s\tTYPE\tMEANING\n", strings.TrimSpace("RESULT "+form.When))
		resultRows(t, form.Members, "")
	}
	fmt.Fprint(t, "\nERROR\tMEANING\n")
	for _, e := range m.Errors {
		fmt.Fprintf(t, "%s\t%s\n", e.Code, e.Meaning)
	}
	return t.Flush()
}

func resultRows(w io.Writer, list []tools.Argument, indent string) {
	for _, a := range list {
		kind := a.Type
		if !a.Required {
			kind += ", optional"
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\n", indent, a.Name, kind, a.Meaning)
		resultRows(w, a.Members, indent+"  ")
	}
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
