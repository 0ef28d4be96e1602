package endpoint

import "strings"

// client is what one agent's program needs otherwise than the others.
type client struct {
	name       string // what its own name begins with
	most       int    // bytes of a result that it passes on whole; 0: as many as the setting has
	bareErrors bool   // it shows its model the _meta of a result that is an error
	defers     bool   // its model sees only names until it wants more of a tool, so it is listed all
	hooks      string // its name for agenthook, if a tool can answer what it asks its user; "": none can
}

// clients are the programs that need something, as they were found. The first
// that fits counts.
var clients = []client{
	{name: "codex-mcp-client", most: 9_900}, // with the code of an error less than 10,000: it cuts the middle out of what is longer, for models that it does not know
	{name: "gemini-cli", bareErrors: true},
	{name: "claude-code", defers: true, hooks: "claude"},
}

func clientOf(name string) client {
	for _, c := range clients {
		if strings.HasPrefix(name, c.name) {
			return c
		}
	}
	return client{}
}
