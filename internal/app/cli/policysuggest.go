package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/always"
)

// Queries about permanent rules. Only a person may make them.
var (
	policySuggest = query[suggestFor, []always.Figures]{name: "policy suggest", answer: func(_ context.Context, w *app.Workspace, a suggestFor) ([]always.Figures, error) {
		return serve.RulesOf(w).Suggest(a.Days)
	}}
	policyAdd = query[always.Rule, string]{name: "policy add", decides: true, answer: func(_ context.Context, w *app.Workspace, r always.Rule) (string, error) {
		return serve.RulesOf(w).Add(r)
	}}
)

type suggestFor struct {
	Days int `json:"days"`
}

// suggestPolicy lists rules that would have answered questions, and on a terminal offers to
// write one.
func suggestPolicy(ctx context.Context, c *cli) error {
	if len(c.args) > 1 {
		return usagef("policy suggest takes nothing but --days N")
	}
	list, err := ask(ctx, c, policySuggest, suggestFor{c.days})
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"rules": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(c.Out, "No rule that can be allowed for good would have answered two questions or more.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for i, f := range list {
		denied := ""
		if f.DeniedMatches > 0 {
			denied = fmt.Sprintf("you denied %d of its like", f.DeniedMatches)
		}
		fmt.Fprintf(t, "%d\t%s …\tanswers %d of %d questions\t%s\n", i+1, f.Rule, f.Saves, f.Of, denied)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	in, isFile := c.In.(*os.File)
	if _, shown := c.Out.(visible); !shown || !isFile || !term.IsTerminal(int(in.Fd())) || !canAsk() {
		return nil
	}
	return offerRule(ctx, c, list)
}

// offerRule asks which rule is to be written, shows what it would have done, and asks again.
func offerRule(ctx context.Context, c *cli, list []always.Figures) error {
	answer := func(prompt string) (string, error) {
		tty, err := openTerminal()
		if err != nil {
			return "", err
		}
		return readFrom(ctx, tty, prompt)
	}
	text, err := answer("\nWhich one do you always allow? Number, or Enter for none: ")
	if err != nil || text == "" {
		return err
	}
	i, ok := numbered(text, len(list))
	if !ok {
		return usagef("%q is none of the numbers", text)
	}
	f := list[i]
	if text, err = answer(f.Title() + "\n" + f.Words() + "\nAllow? [y/N] "); err != nil {
		return err
	}
	if yes := strings.ToLower(text); yes != "y" && yes != "yes" {
		fmt.Fprintln(c.Out, "Nothing was written.")
		return nil
	}
	file, err := ask(ctx, c, policyAdd, f.Rule)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "The rule is in %s, under commandRules.\n", file)
	return nil
}
