package cli

import (
	"context"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
)

// mcpSignIn has the process that serves the workspace begin to sign its user in, and gives
// the address to open.
var mcpSignIn = query[string, string]{name: "mcp sign-in", answer: func(ctx context.Context, w *app.Workspace, name string) (string, error) {
	_, address, err := w.Sources.SignIn(ctx, name, func(context.Context, string) bool { return false })
	return address, err
}}

// signInToMCP signs a person in to an MCP server, who opens the page in a browser.
func signInToMCP(ctx context.Context, c *cli) error {
	if len(c.args) != 2 {
		return usagef("mcp sign-in takes the name of one MCP server")
	}
	name, address := c.args[1], ""
	there, err := c.askThere(ctx, mcpSignIn.name, name, &address)
	if err != nil {
		return err
	}
	if there {
		fmt.Fprintf(c.Out, "Open this in your browser; the view of the MCP servers in your editor says how it ends:\n%s\n", address)
		return nil
	}
	w, err := c.openAs(ctx, app.Options{Queue: app.QueueNever, Mode: c.mode, User: c.person(), Resident: true})
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	st, _, err := w.Sources.SignIn(ctx, name, func(_ context.Context, address string) bool {
		fmt.Fprintf(c.Out, "Open this in your browser:\n%s\n", address)
		return true
	})
	if err != nil {
		return err
	}
	if st.State != source.Connected {
		return fmt.Errorf("you are signed in, but %s is %s: %s", name, st.State, st.Error)
	}
	fmt.Fprintf(c.Out, "You are signed in: %s is connected.\n", name)
	return nil
}
