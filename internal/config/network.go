package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// Words that the setting sandbox.network may be.
const (
	networkNone = "none"
	networkAsk  = "ask"
	networkAll  = "all"
)

const maxHosts = 1000

// network reads what commands may reach: a word, or a list of hosts and presets. Earlier
// releases took true and false.
func (p *parser) network(v jsontext.Value) (any, bool) {
	switch v.Kind() {
	case 't':
		return hosts.Network{All: true}, true
	case 'f':
		return hosts.Network{}, true
	case '[':
	case '"':
		s, _ := p.text("it", v)
		switch s {
		case networkNone:
			return hosts.Network{}, true
		case networkAsk:
			return hosts.Network{Ask: true}, true
		case networkAll:
			return hosts.Network{All: true}, true
		}
		p.wrong("must be %s, %s, %s or a list of hosts, not %s%s", networkNone, networkAsk, networkAll, shown(v), meant(s, []string{networkNone, networkAsk, networkAll}))
		return nil, false
	default:
		p.wrong("must be %s, %s, %s or a list of hosts, not %s", networkNone, networkAsk, networkAll, shown(v))
		return nil, false
	}
	all, ok := p.entries(v, "hosts", maxHosts)
	if !ok {
		return nil, false
	}
	var got hosts.Network
	for i, e := range all {
		where := fmt.Sprintf("host %d: ", i+1)
		if e.Kind() == '{' {
			if h, ok := p.host(where, e); ok {
				got.Hosts = append(got.Hosts, h)
			}
			continue
		}
		s, ok := p.text(where+"it", e)
		if !ok {
			continue
		}
		switch preset := hosts.Preset(s); {
		case s == networkAsk:
			got.Ask = true
		case preset != nil:
			got.Hosts = append(got.Hosts, preset...)
		case s == networkAll, s == networkNone, s == "*":
			p.wrong("%s%q can't be one of a list", where, s)
		case !strings.ContainsAny(s, ".:"):
			p.wrong("%s%q is no preset (%s), and a host with such a name is private: write {\"host\": %q, \"private\": true}", where, cut(s), strings.Join(hosts.Presets(), ", "), cut(s))
		default:
			h, err := hosts.Parse(s)
			if err != nil {
				p.wrong("%s%v", where, err)
				continue
			}
			got.Hosts = append(got.Hosts, h)
		}
	}
	return got, true
}

// host reads a host that is an object.
func (p *parser) host(where string, v jsontext.Value) (h hosts.Host, ok bool) {
	var name string
	if !p.fields(where, v, map[string]func(string, jsontext.Value) bool{
		"host": p.into(&name), "address": p.into(&h.Address), "in": p.into(&h.In),
		"private": p.flag(func(on bool) { h.Private = on }), "uploads": p.flag(func(on bool) { h.Uploads = on }), "ask": p.flag(func(on bool) { h.Ask = on }),
	}) {
		return h, false
	}
	got, err := hosts.Parse(name)
	if err != nil {
		p.wrong("%s%v", where, err)
		return h, false
	}
	h.Name, h.Port = got.Name, got.Port
	switch {
	case h.Check() != nil:
		p.wrong("%s%v", where, h.Check())
		return h, false
	case h.In != "" && !filepath.IsAbs(h.In):
		p.wrong("%sin must be an absolute path, not %s", where, cut(h.In))
		return h, false
	}
	return h, true
}

// networkWords is the setting in a word.
func networkWords(n hosts.Network) string {
	switch {
	case n.All:
		return networkAll
	case len(n.Hosts) == 0 && n.Ask:
		return networkAsk
	case len(n.Hosts) == 0:
		return networkNone
	}
	return "a list"
}

// tighterNetwork keeps to what the sources before allow.
func tighterNetwork(_ *Setting, have, want any) (any, []string) {
	got, left := hosts.Tighter(have.(hosts.Network), want.(hosts.Network))
	var refused []string
	for _, one := range left {
		refused = append(refused, fmt.Sprintf("a project can't allow %s, where %s holds", one, networkWords(have.(hosts.Network))))
	}
	return got, refused
}

// Network returns the hosts that commands of a workspace with these folders may reach.
func (s *Settings) Network(folders []string) hosts.Network {
	n := get[hosts.Network](s, "sandbox.network")
	n.Hosts = slices.DeleteFunc(slices.Clone(n.Hosts), func(h hosts.Host) bool {
		return h.In != "" && (len(folders) == 0 || realPath(h.In) != realPath(folders[0]))
	})
	return n
}
