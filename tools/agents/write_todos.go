package agents

import (
	"context"
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed write_todos.md
var writeTodosText string

type writeTodosIn struct {
	Todos []todoIn `json:"todos" jsonschema:"the whole list, in order; it replaces the one before" maxItems:"200"`
}

type todoIn struct {
	Text  string `json:"text" jsonschema:"what is to do" minLength:"1" maxLength:"1000"`
	State string `json:"state,omitempty" jsonschema:"how far it is; pending if it is left out" enum:"pending,in_progress,completed"`
}

func writeTodos(w Works) *tools.Tool {
	d := tools.Def{
		Name: "write_todos", Title: "Write the list of todos", Description: writeTodosText, Category: Planning, InOrder: true,
		Example: `{"todos": [{"text": "Find who parses dates", "state": "in_progress"}, {"text": "Test the new format"}]}`,
		Tags:    []string{"todo", "list", "plan", "progress"}, Output: steps.State{},
	}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in writeTodosIn) (tools.Result, error) {
		list := make([]steps.Todo, len(in.Todos))
		for i, t := range in.Todos {
			list[i] = steps.Todo(t)
		}
		now, err := changed(w, c, func(s *steps.State) error { return s.WriteTodos(list) })
		return todosNow(now), err
	})
}

// todosNow is the list as a model reads it.
func todosNow(s steps.State) tools.Result {
	text := steps.State{Todos: s.Todos}.Words()
	if text == "" {
		text = "The list is empty."
	}
	return tools.Result{Text: text, Structured: s}
}
