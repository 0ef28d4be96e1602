package config

import (
	"maps"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// Agent is what the user says of an agent's program, over what is known of it. What
// is nil, or "", is not said.
type Agent struct {
	Program string
	Adapter string // the program that speaks the Agent Client Protocol for it
	State   []string
	Copied  []string
	Env     []string
	Network *bool
	Hosts   []string // as hosts.Parse reads them
	ACP     []string
	Resume  []string
}

// maxAgents bounds how many agents a source may name.
const maxAgents = 100

// agents drops the entries that are wrong and keeps the others.
func (p *parser) agents(v jsontext.Value) (any, bool) {
	if v.Kind() != '{' {
		p.wrong("must be an object of agents, not %s", shown(v))
		return nil, false
	}
	all := members(v)
	if len(all) > maxAgents {
		p.wrong("must be at most %d agents, not %d", maxAgents, len(all))
		return nil, false
	}
	got := map[string]Agent{}
	for _, m := range all {
		where := cut(m.name) + ": "
		var a Agent
		if !p.fields(where, m.value, map[string]func(string, jsontext.Value) bool{
			"program": p.into(&a.Program), "adapter": p.into(&a.Adapter), "state": p.given(&a.State), "copied": p.given(&a.Copied), "env": p.given(&a.Env),
			"acp": p.given(&a.ACP), "resume": p.given(&a.Resume),
			"acpVersion": p.acpVersion,
			"network":    p.flag(func(on bool) { a.Network = &on }),
			"hosts":      p.hosts(&a.Hosts),
		}) {
			continue
		}
		if why := a.check(m.name); why != "" {
			p.wrong("%s%s", where, why)
			continue
		}
		got[m.name] = a
	}
	return got, true
}

// acpVersion reads the version of the Agent Client Protocol. There is one; earlier
// releases took another, too, and an agent for which that was asked keeps its row.
func (p *parser) acpVersion(where string, v jsontext.Value) bool {
	switch string(v) {
	case "1":
		return true
	case "2":
		p.wrong("%s 2 is not spoken any more; 1 is used: remove it", where)
		return true
	}
	p.wrong("%s must be 1, not %s", where, shown(v))
	return false
}

// given is intoList for lists that say something when they are empty.
func (p *parser) given(to *[]string) func(string, jsontext.Value) bool {
	read := p.intoList(to)
	return func(where string, v jsontext.Value) bool {
		ok := read(where, v)
		if ok && *to == nil {
			*to = []string{}
		}
		return ok
	}
}

// hosts reads a list of hosts by their names.
func (p *parser) hosts(to *[]string) func(string, jsontext.Value) bool {
	var names []string
	read := p.intoList(&names)
	return func(where string, v jsontext.Value) bool {
		if !read(where, v) {
			return false
		}
		*to = []string{}
		for _, name := range names {
			if _, err := hosts.Parse(name); err != nil {
				p.wrong("%s: %v", where, err)
				return false
			}
			*to = append(*to, name)
		}
		return true
	}
}

// check says what is wrong with an agent, or "".
func (a *Agent) check(name string) string {
	if name == "" || len(name) > maxModeName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '/' || r >= 0x7f }) {
		return "the name must be ASCII letters, digits or signs, without spaces and slashes"
	}
	for _, list := range [][]string{a.State, a.Copied} {
		for _, path := range list {
			if !filepath.IsLocal(path) || filepath.Clean(path) == "." {
				return "state and copied must be paths in the home, relative to it, and not all of it: " + cut(path)
			}
		}
	}
	return ""
}

// addAgents lets a later source replace what one before it says of an agent.
func addAgents(have, want any) any {
	got := map[string]Agent{}
	maps.Copy(got, have.(map[string]Agent))
	maps.Copy(got, want.(map[string]Agent))
	return got
}

// Agents returns the setting agents. Nobody may change what is in it.
func (s *Settings) Agents() map[string]Agent { return get[map[string]Agent](s, "agents") }
