package profile

import (
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// Reaches are the hosts that the agent reaches unasked: those of its profile, and where the
// user's variables say that its model is.
func (p Profile) Reaches(env []string) (list []hosts.Host) {
	if !p.Network {
		return nil
	}
	for _, text := range p.Hosts {
		if h, err := hosts.Parse(text); err == nil {
			h.Private = h.Name == hosts.Localhost
			list = append(list, h)
		}
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if !slices.Contains(p.URLs, name) {
			continue
		}
		if h, ok := ofURL(value); ok && !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list
}

// network says in a line which hosts the agent reaches.
func (p Profile) network() []string {
	switch list := p.Reaches(os.Environ()); {
	case !p.Network:
		return nil
	case len(list) == 0:
		return []string{"it reaches hosts that you are asked about"}
	default:
		return []string{"it reaches " + names(list) + "; you are asked about other hosts"}
	}
}

// ofURL is the host of an address of the user's. It may be one of the user's own network.
func ofURL(text string) (h hosts.Host, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return h, false
	}
	port := map[string]int{"http": 80, "https": 443}[u.Scheme]
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return h, false
		}
	}
	name := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(name); err == nil && ip.IsLoopback() {
		name = hosts.Localhost
	}
	if port == 0 { // no address of the web
		return h, false
	}
	// At that port alone: it is unasked, in the user's own network, and any amount may go there.
	h = hosts.Host{Name: name, Port: port, Private: true}
	return h, h.Check() == nil && !strings.HasPrefix(name, "*")
}

// names are hosts for people.
func names(list []hosts.Host) string {
	var all []string
	for _, h := range list {
		if h.Name == hosts.Localhost {
			all = append(all, "this machine's port "+strconv.Itoa(h.Port))
			continue
		}
		all = append(all, h.String())
	}
	return strings.Join(all, ", ")
}
