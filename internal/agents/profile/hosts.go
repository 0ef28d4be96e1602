package profile

import (
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// Reaches are the hosts that the agent reaches unasked: those of its profile, and where the
// user's variables and the agent's settings in the home say that its model is.
func (p Profile) Reaches(env []string) (list []hosts.Host) {
	if !p.Network {
		return nil
	}
	for _, text := range slices.Concat(p.Hosts, p.Also) {
		if h, err := hosts.Parse(text); err == nil {
			h.Private, h.Uploads = h.Name == hosts.Localhost, slices.Contains(p.Hosts, text)
			list = append(list, h)
		}
	}
	for _, v := range env {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(p.URLs, name) {
			list = withURL(list, value)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return list
	}
	for _, name := range p.Settings {
		for _, address := range addressesIn(filepath.Join(home, filepath.FromSlash(name))) {
			list = withURL(list, address)
		}
	}
	return list
}

// maxSettings bounds the file of an agent's settings that is looked at, in bytes.
const maxSettings = 1 << 20

// address is a line of settings that says where something is: a member such as base_url, baseURL,
// ANTHROPIC_BASE_URL, url or endpoint, in TOML, JSON, YAML or a file of variables.
var address = regexp.MustCompile(`(?i)(?:url|endpoint|api[_-]?base)["']?\s*[:=]\s*["']?(https?://[^\s"',]+)`)

// addressesIn are the addresses that a user's settings of an agent name.
func addressesIn(file string) (list []string) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for _, m := range address.FindAllSubmatch(data, -1) {
		list = append(list, string(m[1]))
	}
	return list
}

func withURL(list []hosts.Host, text string) []hosts.Host {
	h, ok := ofURL(text)
	if !ok || slices.ContainsFunc(list, func(have hosts.Host) bool { return have == h || have.Name == h.Name && have.Port == h.Port }) {
		return list
	}
	return append(list, h)
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
	h = hosts.Host{Name: name, Port: port, Private: true, Uploads: true}
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
