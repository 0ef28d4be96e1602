package agents

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed best_of.md
var bestOfText string

type bestOfIn struct {
	Task string `json:"task" jsonschema:"what to do, complete in itself" minLength:"1" maxLength:"50000"`
	N    int    `json:"n,omitempty" jsonschema:"how many agents" minimum:"2" maximum:"5" default:"3"`
}

func bestOf(team Team) *tools.Tool {
	d := tools.Def{
		Name: "best_of", Title: "Have several agents do a task", Description: bestOfText, Category: "agents", Interactive: true,
		Example: `{"task": "Make the parser accept comments. The tests in parser_test.go have to pass.", "n": 3}`,
		Tags:    []string{"candidates", "compare", "parallel"}, Output: Choice{},
	}
	return tools.NewRead(d, func(ctx context.Context, c *tools.Call, in bestOfIn) (tools.Result, error) {
		choice, err := team.Best(ctx, Caller{c.Session, c.ID}, strings.TrimSpace(in.Task), in.N)
		if err != nil {
			return tools.Result{}, err
		}
		var b strings.Builder
		for i, one := range choice.Candidates {
			fmt.Fprintf(&b, "%d. %s: %s, %s, +%d -%d lines; tests: %s\n", i+1, one.ID, one.End, tools.Count(len(one.Files), "file"), one.Added, one.Removed, one.Tests)
		}
		switch {
		case len(choice.Taken) == 0:
			b.WriteString("The user took none of them.")
		default:
			fmt.Fprintf(&b, "The user took %s. %s: %s", strings.Join(choice.Taken, ", "), changes(choice.Straight), strings.Join(choice.Files, ", "))
		}
		if len(choice.Conflicts) > 0 {
			fmt.Fprintf(&b, "\nNot taken over, because they do not go together: %s. Shadow workspaces that still have them: %s", strings.Join(choice.Conflicts, ", "), strings.Join(choice.Shadows, ", "))
		}
		return tools.Result{Text: b.String(), Structured: choice}, nil
	})
}
