package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// newSources has the MCP servers of a core; none is started before it is told
// to look at the settings.
func newSources(c *core, d door, hide *redact.Redactor) *source.Manager {
	home := c.disk.Folders()[0].Dir
	warn := d.warn
	if warn == nil {
		warn = func(text string) { d.log.Warn(text) }
	}
	return source.New(source.Options{
		Config: source.FromSettings{Settings: c.settings, Root: home, Hide: hide},
		Start: func(ctx context.Context, s source.Server) (*source.Process, error) {
			return c.confiner.MCPServer(ctx, home, s)
		},
		HTTP: http.DefaultTransport,
		Root: home, Memory: source.NewUserMemory(home), Registry: c.registry, Version: Version(), Log: d.log,
		Clean: func(text string) (string, []string) { return hide.Defuse(redact.Sanitize(text)), hide.Signs(text) },
		Warn:  func(text string) { warn(redact.Visible(hide.Text(text))) },
	})
}

// checkSources says which MCP servers are configured; none is started.
func checkSources(k *core) finding {
	const name = "mcp tools"
	home := k.disk.Folders()[0].Dir
	list, problems := source.FromSettings{Settings: k.settings, Root: home}.Servers()
	known := source.NewUserMemory(home)
	var words []string
	for _, s := range list {
		word := s.Name
		seen, err := known.Load(s.Name)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case s.Broken != "":
			problems = append(problems, s.Name+": "+s.Broken)
		case s.Off:
			word += " (off)"
		case s.Project && seen.Trusted != s.Identity():
			word += " (not trusted)"
		}
		words = append(words, word)
	}
	switch {
	case len(problems) > 0:
		return finding{name, false, strings.Join(problems, "; ")}
	case len(words) == 0:
		return finding{name, true, "no MCP servers are configured"}
	}
	return finding{name, true, "servers: " + strings.Join(words, ", ")}
}

// sources are the servers as editors see them.
type sources struct {
	m *source.Manager
	c *core
}

func (s sources) List() []server.MCPStatus {
	s.m.Reload() // the files may be others now
	out := []server.MCPStatus{}
	for _, st := range s.m.List() {
		out = append(out, shownSource(st))
	}
	return out
}

func (s sources) Reconnect(ctx context.Context, name string) (server.MCPStatus, error) {
	st, err := s.m.Reconnect(ctx, name)
	return shownSource(st), err
}

func (s sources) Trust(ctx context.Context, name, hash string) (server.MCPStatus, error) {
	st, err := s.m.Trust(ctx, name, hash)
	return shownSource(st), err
}

// Show adds directories to what commands and servers can read, in the user's
// file, and starts the server anew. They must be what the server was found to
// lack: nobody else's wish comes in by this way.
func (s sources) Show(ctx context.Context, name string, dirs []string) (server.MCPStatus, error) {
	list := s.m.List()
	i := slices.IndexFunc(list, func(st source.Status) bool { return st.Name == name })
	if i < 0 {
		return server.MCPStatus{}, fmt.Errorf("there is no MCP server %s; sidecar.mcp.list names them", name)
	}
	for _, dir := range dirs {
		if !slices.Contains(list[i].Hidden, dir) {
			return server.MCPStatus{}, fmt.Errorf("%s is not among the directories that are hidden from %s; look at sidecar.mcp.list again", dir, name)
		}
	}
	const key = "sandbox.readOnly"
	all := slices.Clone(s.c.settings.Now().Strings(key))
	for _, dir := range dirs {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	value, err := json.Marshal(all)
	if err != nil {
		return server.MCPStatus{}, err
	}
	if err := s.c.settings.PutUser(key, value); err != nil {
		return server.MCPStatus{}, fmt.Errorf("sidecar.%s was not changed: %w", key, err)
	}
	return s.Reconnect(ctx, name)
}

func shownSource(st source.Status) server.MCPStatus {
	return server.MCPStatus{
		Name: st.Name, State: string(st.State), Transport: st.Transport, Tools: st.Tools, Error: st.Error, Hidden: st.Hidden, Origin: st.Origin,
		Command: st.Command, Hash: st.Hash, Trusted: st.Trusted, Changed: st.Changed, Warnings: st.Warnings,
	}
}
