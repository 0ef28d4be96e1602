package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// knowledgeVerbs are what can be done with the project index.
var knowledgeVerbs = map[string]func(context.Context, *cli) error{
	"search": searchKnowledge,
	"status": showKnowledge,
}

// knowledgeStatus asks what is in the index once all of it is there.
var knowledgeStatus = query[struct{}, server.KnowledgeStatus]{name: "knowledge status", answer: func(ctx context.Context, w *app.Workspace, _ struct{}) (server.KnowledgeStatus, error) {
	if err := w.Index.Wait(ctx); err != nil {
		return server.KnowledgeStatus{}, err
	}
	return serve.IndexStatus(w.Index)
}}

func knowledgeCommand(ctx context.Context, c *cli) error {
	verb := "status"
	if len(c.args) > 0 {
		verb, c.args = c.args[0], c.args[1:]
	}
	f, ok := knowledgeVerbs[verb]
	switch {
	case !ok:
		return usagef("knowledge has no verb %q; it has search and status", verb)
	case verb == "search" && len(c.args) == 0:
		return usagef("knowledge search takes a question")
	case verb == "status" && len(c.args) > 0:
		return usagef("knowledge status takes no arguments, but got %q", c.args[0])
	}
	return f(ctx, c)
}

func searchKnowledge(ctx context.Context, c *cli) error {
	args, err := json.Marshal(map[string]any{"query": strings.Join(c.args, " "), "max_hits": c.max})
	if err != nil {
		return err
	}
	r := dispatch.Request{Name: "project_knowledge_search", Arguments: args}
	var status server.KnowledgeStatus
	if there, err := c.askThere(ctx, knowledgeStatus.name, struct{}{}, &status); err != nil {
		return err
	} else if there {
		return c.call(ctx, r, nil)
	}
	return c.call(ctx, r, func(w *app.Workspace) error { return w.Index.Wait(ctx) })
}

func showKnowledge(ctx context.Context, c *cli) error {
	s, err := ask(ctx, c, knowledgeStatus, struct{}{})
	if err != nil {
		return err
	}
	if c.json {
		return c.print(s)
	}
	fmt.Fprintf(c.Out, "%s, %s, %.1f MiB\n", tools.Count(s.Files, "file"), tools.Count(s.Symbols, "symbol"), float64(s.Bytes)/(1<<20))
	if s.Skipped > 0 {
		fmt.Fprintf(c.Out, "%s known by path alone: binary, minified, data or larger than %d KiB\n", tools.Count(s.Skipped, "file"), index.MaxSource>>10)
	}
	if s.Parseable > 0 {
		fmt.Fprintf(c.Out, "%d of %d source files are parsed; the symbols of the others come from their lines\n", s.Parsed, s.Parseable)
	}
	if s.Generated > 0 {
		fmt.Fprintf(c.Out, "%s generated: known by name, without the text\n", tools.Count(s.Generated, "file"))
	}
	return nil
}
