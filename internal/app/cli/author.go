package cli

import (
	"regexp"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// authors are the agents as people know them.
type authors struct{ profiles []profile.Profile }

func newAuthors() (a authors) {
	src, err := config.UserSource()
	if err != nil {
		return a
	}
	set, _ := config.Load(src) // the command that opens the settings reports their faults
	a.profiles = profile.All(set)
	return a
}

// sessionOf matches the session of an agent: over MCP by the name that its client gives, else
// by its profile.
var sessionOf = regexp.MustCompile(`^(mcp-)?([a-z0-9-]+)-[a-z2-7]{10}$`)

// agent is the agent that a session is of; "" where it is none's.
func (a authors) agent(session string) string {
	m := sessionOf.FindStringSubmatch(session)
	if m == nil {
		return ""
	}
	overMCP, name := m[1] != "", m[2]
	for _, p := range a.profiles {
		title := strings.ReplaceAll(strings.ToLower(p.Title), " ", "-")
		if name == p.Name || overMCP && (name == title || strings.HasPrefix(name, title+"-")) {
			return p.Title
		}
	}
	switch {
	case name == agents.Builtin && !overMCP:
		return agents.BuiltinTitle
	case overMCP:
		return name
	}
	return ""
}

// edit is who made an edit: an agent, else a tool, with the command line of programs.
func (a authors) edit(session, tool, command string) string {
	for _, p := range a.profiles {
		if command == p.Title {
			return command // an agent's product, by itself
		}
	}
	by := tool
	if agent := a.agent(session); agent != "" {
		by = agent
	}
	if command != "" {
		by += " (" + command + ")"
	}
	return by
}

// past is who made an entry of the history, of which no command line is kept: of a program
// that was run, the session has its name.
func (a authors) past(session, tool string) string {
	if tool != "run" || session == "" {
		return a.edit(session, tool, "")
	}
	for _, p := range a.profiles {
		if session == p.Name {
			return p.Title
		}
	}
	return inLine(session)
}
