package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
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
		Servers: func() ([]source.Server, []string) { return mcpServers(c.settings.Now(), home) },
		Refused: func() string {
			if c.settings.Now().String("workspace.trust") == "untrusted" {
				return "no MCP server runs in a workspace that is not trusted (sidecar.workspace.trust)"
			}
			return ""
		},
		Start: func(ctx context.Context, s source.Server) (*source.Process, error) {
			return c.confiner.MCPServer(ctx, home, s)
		},
		HTTP: http.DefaultTransport,
		Expand: func(s source.Server) (source.Server, error) {
			full, secrets, err := expandServer(s, home, os.LookupEnv)
			hide.Know("mcp "+s.Name, secrets)
			return full, err
		},
		Root: home, Memory: &sourceMemory{file: sourceFile(), root: home}, Registry: c.registry, Version: Version(), Log: d.log,
		Clean: func(text string) (string, []string) { return hide.Defuse(redact.Sanitize(text)), hide.Signs(text) },
		Warn:  func(text string) { warn(redact.Visible(hide.Text(text))) },
	})
}

// mcpServers are the servers that the user's settings and the project's files
// name; the settings go first.
func mcpServers(set *config.Settings, home string) (list []source.Server, problems []string) {
	add := func(all map[string]config.MCPServer, origin string, project bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if slices.ContainsFunc(list, func(s source.Server) bool { return s.Name == name }) {
				continue
			}
			e := all[name]
			s := source.Server{
				Name: name, Origin: origin, Project: project, Env: e.Env, Dir: e.Dir, URL: e.URL, Headers: e.Headers, Off: e.Off, Without: e.Without, Broken: e.Broken,
			}
			if e.Command != "" {
				s.Command = append([]string{e.Command}, e.Args...)
			}
			if s.Broken == "" && usesInput(s) {
				s.Broken = "it needs a value that only another editor asks for (${input:…}); write it in sidecar.mcp.servers, with ${env:…} for what is secret"
			}
			list = append(list, s)
		}
	}
	add(set.MCPServers(), "sidecar.mcp.servers", false)
	for _, f := range config.MCPFiles {
		data, err := config.ReadProjectFile(home, f.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var all map[string]config.MCPServer
		if err == nil {
			all, err = f.Read(data)
		}
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		add(all, f.Name, true)
	}
	return list, problems
}

// eachText calls f for every text of a server that may have placeholders in it.
func eachText(s *source.Server, f func(text string) (string, error)) error {
	var errs []error
	put := func(text *string) {
		got, err := f(*text)
		errs = append(errs, err)
		*text = got
	}
	s.Command, s.Env, s.Headers = slices.Clone(s.Command), maps.Clone(s.Env), maps.Clone(s.Headers)
	for i := range s.Command {
		put(&s.Command[i])
	}
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for k, v := range m {
			put(&v)
			m[k] = v
		}
	}
	put(&s.Dir)
	put(&s.URL)
	return errors.Join(errs...)
}

func usesInput(s source.Server) bool {
	found := false
	_ = eachText(&s, func(text string) (string, error) {
		found = found || strings.Contains(text, "${input:")
		return text, nil
	})
	return found
}

// placeholder is ${NAME}, ${env:NAME} or ${workspaceFolder}; after :- stands
// what a variable is that is not set.
var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// expandServer fills in the placeholders of a server. secrets are the values
// that came from the environment, and those that the server gets as its own.
func expandServer(s source.Server, home string, lookup func(string) (string, bool)) (_ source.Server, secrets []string, err error) {
	err = eachText(&s, func(text string) (string, error) {
		var missing error
		out := placeholder.ReplaceAllStringFunc(text, func(whole string) string {
			name := whole[2 : len(whole)-1]
			if name == "workspaceFolder" {
				return home
			}
			name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(name, "env:"), ":-")
			if v, ok := lookup(name); ok {
				secrets = append(secrets, v)
				return v
			}
			if !hasFallback {
				missing = fmt.Errorf("the variable %s of the environment is not set", name)
			}
			return fallback
		})
		return out, missing
	})
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			secrets = append(secrets, m[k])
		}
	}
	if err == nil && s.URL != "" {
		if why := config.CheckMCPURL(s.URL); why != "" {
			err = errors.New(why)
		}
	}
	return s, secrets, err
}

// sourceFile is where is kept, for the user, what was trusted.
func sourceFile() string { return config.Beside("mcp-trust.json") }

// sourceMemory keeps what is known of a workspace's servers in a file of the
// user's, which no project can bring along.
type sourceMemory struct {
	file, root string
	mu         sync.Mutex
}

// trustFile is the file: by workspace and by server.
type trustFile map[string]map[string]source.Known

func (m *sourceMemory) read() (trustFile, error) {
	all := trustFile{}
	if err := config.ReadBeside(m.file, &all); err != nil {
		return nil, fmt.Errorf("%s can't be read, so no MCP server is trusted; remove it: %w", m.file, err)
	}
	return all, nil
}

// Load implements source.Memory.
func (m *sourceMemory) Load(server string) (source.Known, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	return all[m.root][server], err
}

// Save implements source.Memory.
func (m *sourceMemory) Save(server string, k source.Known) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	if err != nil {
		return err
	}
	if all[m.root] == nil {
		all[m.root] = map[string]source.Known{}
	}
	all[m.root][server] = k
	return config.WriteBeside(m.file, all)
}

// checkSources says which MCP servers are configured; none is started.
func checkSources(k *core) finding {
	const name = "mcp tools"
	home := k.disk.Folders()[0].Dir
	list, problems := mcpServers(k.settings.Now(), home)
	known := &sourceMemory{file: sourceFile(), root: home}
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
