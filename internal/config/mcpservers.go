package config

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MCPServer is a server of tools, and how it is started or reached.
type MCPServer struct {
	Command string            // a program that speaks on its standard streams; "": URL
	Args    []string          // of Command
	Env     map[string]string // for Command, besides what every program gets
	EnvFile string            // of more variables for Command; Env goes first
	Dir     string            // where Command runs; "": the workspace
	URL     string            // of a server that is reached by HTTP
	SSE     bool              // URL speaks the old transport
	Headers map[string]string // for URL
	Off     bool              // it is not used
	Without []string          // names of tools that are left out
	Access  MCPAccess         // how Command has the workspace; "" is MCPWorld
	Broken  string            // why it can't be used; in the settings such an entry is left out

	MCPLimits
}

// MCPAccess is how a server's program has the workspace.
type MCPAccess string

// What it has: a view like that of a session's commands, in which what it writes waits
// for what becomes of the calling session's edits; the disk, to read; or the disk.
const (
	MCPWorld MCPAccess = "world"
	MCPRead  MCPAccess = "read"
	MCPDisk  MCPAccess = "disk"
)

var mcpAccesses = []string{string(MCPWorld), string(MCPRead), string(MCPDisk)}

// DiskIsTheUsers is why an entry has no access to the disk.
const DiskIsTheUsers = "access disk, which writes the workspace past the review, counts only in the user's own settings file; the server works on a copy of the files"

// MCPLimits bound what is taken from a server; 0 is the default.
type MCPLimits struct {
	TimeoutSeconds int // of a call
	MaxResultBytes int // of a result
	MaxTools       int
}

// The limits of a server whose entry names none, and the highest that the user's
// may name.
const (
	MCPTimeoutSeconds     = 120
	MostMCPTimeoutSeconds = 3600
	MCPResultBytes        = 8 << 20
	MostMCPResultBytes    = 32 << 20
	MCPTools              = 256
	MostMCPTools          = 1024
)

// Lowered are the limits as a project may set them, with what it may not.
func (l MCPLimits) Lowered() (_ MCPLimits, refused []string) {
	for _, limit := range []struct {
		name   string
		value  *int
		normal int
	}{{"timeoutSeconds", &l.TimeoutSeconds, MCPTimeoutSeconds}, {"maxResultBytes", &l.MaxResultBytes, MCPResultBytes}, {"maxTools", &l.MaxTools, MCPTools}} {
		if *limit.value > limit.normal {
			refused = append(refused, fmt.Sprintf("its %s of %d is not used: a project's entry can only lower it from %d; the setting sidecar.mcp.servers can raise it", limit.name, *limit.value, limit.normal))
			*limit.value = 0
		}
	}
	return l, refused
}

// maxMCPServers bounds how many servers a source may name.
const maxMCPServers = 100

// mcpServers drops the entries that are wrong and keeps the others.
func (p *parser) mcpServers(v jsontext.Value) (any, bool) {
	if v.Kind() != '{' {
		p.wrong("must be an object of MCP servers, not %s", shown(v))
		return nil, false
	}
	got := map[string]MCPServer{}
	all := members(v)
	if len(all) > maxMCPServers {
		p.wrong("must be at most %d servers, not %d", maxMCPServers, len(all))
		return nil, false
	}
	for _, m := range all {
		where := cut(m.name) + ": "
		var s MCPServer
		kind, access := "", ""
		if !p.fields(where, m.value, map[string]func(string, jsontext.Value) bool{
			"type": p.oneOf(&kind, "stdio", "http", "sse"), "command": p.into(&s.Command), "args": p.intoList(&s.Args), "env": p.intoTexts(&s.Env), "envFile": p.into(&s.EnvFile),
			"cwd": p.into(&s.Dir), "url": p.into(&s.URL), "headers": p.intoTexts(&s.Headers), "withoutTools": p.intoList(&s.Without),
			"timeoutSeconds": p.intoNumber(&s.TimeoutSeconds, 1, MostMCPTimeoutSeconds), "maxResultBytes": p.intoNumber(&s.MaxResultBytes, 1, MostMCPResultBytes),
			"maxTools": p.intoNumber(&s.MaxTools, 1, MostMCPTools), "access": p.into(&access),
			"enabled": p.flag(func(on bool) { s.Off = !on }),
		}) {
			continue
		}
		if s.Access = MCPAccess(access); s.Access == MCPDisk && p.origin != User && p.origin != Machine {
			p.wrong("%s%s", where, DiskIsTheUsers)
			s.Access = MCPWorld
		}
		if why := s.check(m.name, kind); why != "" {
			p.wrong("%s%s", where, why)
			continue
		}
		s.SSE = kind == "sse"
		got[m.name] = s
	}
	return got, true
}

// check says what is wrong with a server, or "".
func (s *MCPServer) check(name, kind string) string {
	switch {
	case name == "" || len(name) > maxModeName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '/' || r >= 0x7f }):
		return fmt.Sprintf("the name must be at most %d ASCII letters, digits or signs, without spaces and slashes", maxModeName)
	case kind != "" && kind != "stdio" && kind != "http" && kind != "streamable-http" && kind != "streamableHttp" && kind != "sse":
		return "the type must be stdio, http or sse"
	case s.Command != "" && s.URL != "":
		return "has both a command and a url"
	case s.Command == "" && s.URL == "":
		return "needs a command or a url"
	case kind == "stdio" && s.Command == "", kind != "" && kind != "stdio" && s.URL == "":
		return "has another type than its command or url"
	case s.Access != "" && !slices.Contains(mcpAccesses, string(s.Access)):
		return fmt.Sprintf("the access must be one of %s, not %q", strings.Join(mcpAccesses, ", "), cut(string(s.Access)))
	case s.Access != "" && s.Command == "":
		return "has an access, which is for a command: what is reached by a url sees nothing of the workspace"
	case s.EnvFile != "" && s.Command == "":
		return "has an envFile, which is for a command; write ${env:NAME} into its headers"
	case s.URL != "" && !strings.Contains(s.URL, "${"):
		return checkMCPURL(s.URL)
	}
	return ""
}

// checkMCPURL says what is wrong with the address of a server. What is sent
// there may hold secrets, so it is encrypted, or stays on this machine.
func checkMCPURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return "the url must have a host, and no user"
	case u.Scheme == "https":
		return ""
	case u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		return ""
	}
	return "the url must begin with https://, or name this machine"
}

// CheckMCPURL says what is wrong with the address of a server once its
// placeholders are filled in, or "".
func CheckMCPURL(text string) string { return checkMCPURL(text) }

// intoTexts reads an object of strings.
func (p *parser) intoTexts(to *map[string]string) func(string, jsontext.Value) bool {
	return func(where string, v jsontext.Value) bool {
		if v.Kind() != '{' {
			p.wrong("%s must be an object of strings, not %s", where, shown(v))
			return false
		}
		got := map[string]string{}
		for _, m := range members(v) {
			text, ok := p.text(where+": "+cut(m.name), m.value)
			if !ok {
				return false
			}
			got[m.name] = text
		}
		*to = got
		return true
	}
}

// addMCPServers lets a later source replace what one before it says of a server.
func addMCPServers(have, want any) any {
	got := map[string]MCPServer{}
	maps.Copy(got, have.(map[string]MCPServer))
	maps.Copy(got, want.(map[string]MCPServer))
	return got
}

// MCPServers returns a copy of the setting mcp.servers.
func (s *Settings) MCPServers() map[string]MCPServer {
	return get[map[string]MCPServer](s, "mcp.servers")
}

func cloneMCPServers(all map[string]MCPServer) map[string]MCPServer {
	got := maps.Clone(all)
	for name, s := range got {
		s.Args, s.Without = slices.Clone(s.Args), slices.Clone(s.Without)
		s.Env, s.Headers = maps.Clone(s.Env), maps.Clone(s.Headers)
		got[name] = s
	}
	return got
}

// MCPFile is a file of a project that names servers, as other programs read
// it too.
type MCPFile struct {
	Name   string // relative to the root
	member string
}

// MCPFiles are the files that are read; of a server in several the first wins.
var MCPFiles = [...]MCPFile{{".mcp.json", "mcpServers"}, {".vscode/mcp.json", "servers"}}

// mcpEntry is a server as such files have it. Other members are other
// programs' business.
type mcpEntry struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	EnvFile  string            `json:"envFile"`
	Dir      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`
	Access   MCPAccess         `json:"access"`

	TimeoutSeconds *int `json:"timeoutSeconds"`
	MaxResultBytes *int `json:"maxResultBytes"`
	MaxTools       *int `json:"maxTools"`
}

// limits are those of the entry; why says what is wrong with them, or is "".
func (e *mcpEntry) limits() (l MCPLimits, why string) {
	for _, limit := range []struct {
		name string
		from *int
		to   *int
	}{{"timeoutSeconds", e.TimeoutSeconds, &l.TimeoutSeconds}, {"maxResultBytes", e.MaxResultBytes, &l.MaxResultBytes}, {"maxTools", e.MaxTools, &l.MaxTools}} {
		if limit.from == nil {
			continue
		}
		if *limit.from < 1 {
			return l, limit.name + " must be at least 1"
		}
		*limit.to = *limit.from
	}
	return l, ""
}

// Read reads the servers of a file. One that can't be used is Broken; the
// error is about the file as a whole.
func (f MCPFile) Read(data []byte) (map[string]MCPServer, error) {
	var file map[string]jsontext.Value
	if err := json.Unmarshal(PlainJSON(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), &file); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	var all map[string]jsontext.Value
	if v, ok := file[f.member]; ok {
		if err := json.Unmarshal(v, &all); err != nil {
			return nil, fmt.Errorf("%s: %s must be an object of servers", f.Name, f.member)
		}
	}
	if len(all) > maxMCPServers {
		return nil, fmt.Errorf("%s: at most %d servers are read, and it has %d", f.Name, maxMCPServers, len(all))
	}
	got := map[string]MCPServer{}
	for name, v := range all {
		var e mcpEntry
		if err := json.Unmarshal(v, &e); err != nil {
			got[name] = MCPServer{Broken: "its entry can't be read: " + strings.TrimPrefix(err.Error(), "json: ")}
			continue
		}
		s := MCPServer{Command: e.Command, Args: e.Args, Env: e.Env, EnvFile: e.EnvFile, Dir: e.Dir, URL: e.URL, SSE: e.Type == "sse", Headers: e.Headers, Off: e.Disabled}
		s.Access = e.Access
		if s.MCPLimits, s.Broken = e.limits(); s.Broken == "" {
			s.Broken = s.check(name, e.Type)
		}
		got[name] = s
	}
	return got, nil
}
