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
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// Config is what is known of the servers from outside.
type Config interface {
	// Servers are read again each time.
	Servers() (list []Server, problems []string)
	// Refused says why no server may run in this workspace; "": they may.
	Refused() string
	// Expand fills in the placeholders of a server.
	Expand(Server) (Server, error)
	// Know takes secrets of a source that must not be shown, in the place of those
	// before.
	Know(source string, secrets []string)
}

// FromSettings is the Config of a workspace: the servers that the user's settings
// and the files of its folders name; the settings go first, then the first folder.
type FromSettings struct {
	Settings Settings
	Folders  []workspace.Folder
	Hide     *redact.Redactor // learns the secrets of servers
	More     func() []Server  // those of plugins; nil: none
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
	list = appendServers(nil, c.Settings.Now().MCPServers(), Server{Origin: "sidecar.mcp.servers", Root: c.Folders[0].Dir})
	for _, folder := range c.Folders {
		for _, f := range config.MCPFiles {
			origin := f.Name
			if len(c.Folders) > 1 {
				origin = folder.Name + "/" + f.Name
			}
			data, err := config.ReadProjectFile(folder.Dir, f.Name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			var all map[string]config.MCPServer
			if err == nil {
				all, err = f.Read(data)
			}
			if err != nil {
				if len(c.Folders) > 1 {
					err = fmt.Errorf("in %s: %w", folder.Name, err)
				}
				problems = append(problems, err.Error())
				continue
			}
			list = appendServers(list, all, Server{Origin: origin, Root: folder.Dir, Project: true})
		}
	}
	if c.More != nil {
		for _, s := range c.More() {
			if i := slices.IndexFunc(list, func(other Server) bool { return other.Name == s.Name && other.Shadowed == "" }); i >= 0 {
				s.Shadowed = list[i].Origin
			}
			list = append(list, s)
		}
	}
	return list, problems
}

// appendServers adds the servers of a source to those of the sources before it.
// One whose name is taken stays in the list, to be seen, unless it is the same.
func appendServers(list []Server, all map[string]config.MCPServer, of Server) []Server {
	before := len(list)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e, s := all[name], of
		s.Name, s.Env, s.EnvFile, s.Dir, s.URL, s.SSE, s.Headers, s.Off, s.Without, s.Broken = name, e.Env, e.EnvFile, e.Dir, e.URL, e.SSE, e.Headers, e.Off, e.Without, e.Broken
		if e.Command != "" {
			s.Command = append([]string{e.Command}, e.Args...)
		}
		s.Limits, s.Access = e.MCPLimits, e.Access
		if s.Project {
			s.Limits, s.Notes = s.Limits.Lowered()
			if s.Access == config.MCPDisk {
				s.Access, s.Notes = config.MCPWorld, append(s.Notes, config.DiskIsTheUsers)
			}
		}
		if s.Broken == "" && usesInput(s) {
			s.Broken = "it needs a value that only another editor asks for (${input:…}); write it in sidecar.mcp.servers, with ${env:…} for what is secret"
		}
		if s.EnvFile != "" && s.Broken == "" {
			s.EnvNames = envNames(s)
		}
		if i := slices.IndexFunc(list[:before], func(other Server) bool { return other.Name == name && other.Shadowed == "" }); i >= 0 {
			if list[i].Root == s.Root && list[i].Identity() == s.Identity() {
				continue
			}
			s.Shadowed = list[i].Origin
		}
		list = append(list, s)
	}
	return list
}

// envNames are the names of the variables in a server's envFile, sorted; that it
// can't be read is said when the server is started.
func envNames(s Server) []string {
	name, _, err := fill(s.EnvFile, s.Root, os.LookupEnv)
	if err != nil {
		return nil
	}
	vars, err := readEnvFile(s.Root, name)
	if err != nil {
		return nil
	}
	return sortedKeys(vars)
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
	replace(&s.EnvFile)
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
	if s.Literal {
		return s, nil
	}
	full, secrets, err := expand(s, os.LookupEnv)
	c.Hide.Know("mcp "+s.Name, secrets)
	return full, err
}

// Know implements Config.
func (c FromSettings) Know(source string, secrets []string) { c.Hide.Know(source, secrets) }

// fill fills in the placeholders of a text; secrets are the values that came from
// the environment.
func fill(text, root string, lookup func(string) (string, bool)) (out string, secrets []string, err error) {
	out = placeholder.ReplaceAllStringFunc(text, func(whole string) string {
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
			err = fmt.Errorf("the variable %s of the environment is not set", name)
		}
		return fallback
	})
	return out, secrets, err
}

// expand fills in the placeholders of a server, and gives it the variables of its
// file. secrets are the values that came from the environment, and those that the
// server gets as its own.
func expand(s Server, lookup func(string) (string, bool)) (_ Server, secrets []string, err error) {
	err = eachText(&s, func(text string) (string, error) {
		out, found, err := fill(text, s.Root, lookup)
		secrets = append(secrets, found...)
		return out, err
	})
	if err == nil {
		s, err = fromEnvFile(s, s.Root)
	}
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
