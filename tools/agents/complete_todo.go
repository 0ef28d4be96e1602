package agents

import (
	"context"
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed complete_todo.md
var completeTodoText string

type completeTodoIn struct {
	Index int `json:"index" jsonschema:"of the todo in the list; the first is 1" minimum:"1"`
}

func completeTodo(w Works) *tools.Tool {
	d := tools.Def{
		Name: "complete_todo", Title: "Complete a todo", Description: completeTodoText, Category: Planning, InOrder: true,
		Example: `{"index": 1}`, Tags: []string{"todo", "done", "progress"}, Output: steps.State{},
	}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in completeTodoIn) (tools.Result, error) {
		now, err := changed(w, c, func(s *steps.State) error { return s.CompleteTodo(in.Index) })
		return todosNow(now), err
	})
}
