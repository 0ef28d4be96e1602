package source

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
)

// Config is what is known of the servers from outside.
type Config interface {
	// Servers are read again each time.
	Servers() (list []Server, problems []string)
	// Refused says why no server may run in this workspace; "": they may.
	Refused() string
	// Expand fills in the placeholders of a server.
	Expand(Server) (Server, error)
}

// FromSettings is the Config of a workspace: the servers that the user's settings
// and the project's files name; the settings go first.
type FromSettings struct {
	Settings Settings
	Root     string           // the workspace's directory
	Hide     *redact.Redactor // learns the secrets of servers
}

// Settings are those that hold now: *live.Settings.
type Settings interface{ Now() *config.Settings }

// Refused implements Config.
func (c FromSettings) Refused() string {
	if c.Settings.Now().String("workspace.trust") == "untrusted" {
		return "no MCP server runs in a workspace that is not trusted (sidecar.workspace.trust)"
	}
	return ""
}

// Servers implements Config.
func (c FromSettings) Servers() (list []Server, problems []string) {
	add := func(all map[string]config.MCPServer, origin string, project bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if slices.ContainsFunc(list, func(s Server) bool { return s.Name == name }) {
				continue
			}
			e := all[name]
			s := Server{
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
	add(c.Settings.Now().MCPServers(), "sidecar.mcp.servers", false)
	for _, f := range config.MCPFiles {
		data, err := config.ReadProjectFile(c.Root, f.Name)
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
func eachText(s *Server, f func(text string) (string, error)) error {
	var errs []error
	replace := func(text *string) {
		got, err := f(*text)
		errs = append(errs, err)
		*text = got
	}
	s.Command, s.Env, s.Headers = slices.Clone(s.Command), maps.Clone(s.Env), maps.Clone(s.Headers)
	for i := range s.Command {
		replace(&s.Command[i])
	}
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for k, v := range m {
			replace(&v)
			m[k] = v
		}
	}
	replace(&s.Dir)
	replace(&s.URL)
	return errors.Join(errs...)
}

func usesInput(s Server) bool {
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

// Expand implements Config.
func (c FromSettings) Expand(s Server) (Server, error) {
	full, secrets, err := expand(s, c.Root, os.LookupEnv)
	c.Hide.Know("mcp "+s.Name, secrets)
	return full, err
}

// expand fills in the placeholders of a server. secrets are the values that came
// from the environment, and those that the server gets as its own.
func expand(s Server, root string, lookup func(string) (string, bool)) (_ Server, secrets []string, err error) {
	err = eachText(&s, func(text string) (string, error) {
		var missing error
		out := placeholder.ReplaceAllStringFunc(text, func(whole string) string {
			name := whole[2 : len(whole)-1]
			if name == "workspaceFolder" {
				return root
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
