// Package hosts says which hosts the commands of sessions may reach: the value of the setting
// sidecar.sandbox.network, and the hosts of agents.
package hosts

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/netaddr"
)

// Network is what commands may reach. The zero value is nothing.
type Network struct {
	All   bool   // the machine's network, which sessions share
	Ask   bool   // a person is asked about each host that is not listed
	Hosts []Host // that are reached unasked
}

// Host is one that may be reached.
type Host struct {
	Name    string `json:"host"`              // in lower case; with *. in front all names below it; localhost is that of this machine
	Port    int    `json:"port,omitempty"`    // 0: the usual ones
	Private bool   `json:"private,omitempty"` // its address may be one of this machine or its network
	Address string `json:"address,omitempty"` // where it is, as host:port; "": where DNS says
	Uploads bool   `json:"uploads,omitempty"` // any amount may be sent to it
	Ask     bool   `json:"ask,omitempty"`     // a person is asked all the same
	In      string `json:"in,omitempty"`      // a directory: it holds only in its workspace; "": everywhere
}

// MarshalJSON writes it as the setting has it.
func (n Network) MarshalJSON() ([]byte, error) {
	switch {
	case n.All:
		return []byte(`"all"`), nil
	case len(n.Hosts) == 0 && n.Ask:
		return []byte(`"ask"`), nil
	case len(n.Hosts) == 0:
		return []byte(`"none"`), nil
	}
	var list []any
	if n.Ask {
		list = append(list, "ask")
	}
	for _, h := range n.Hosts {
		list = append(list, h)
	}
	return json.Marshal(list)
}

// MarshalJSON writes a host as the setting has it: its name, or an object.
func (h Host) MarshalJSON() ([]byte, error) {
	type whole Host
	if h == (Host{Name: h.Name, Port: h.Port}) {
		return json.Marshal(h.String())
	}
	w := whole(h)
	w.Name, w.Port = h.String(), 0
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (h *Host) UnmarshalJSON(data []byte) error {
	type whole Host
	var w whole
	if len(data) > 0 && data[0] == '"' {
		if err := json.Unmarshal(data, &w.Name); err != nil {
			return err
		}
	} else if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	got, err := Parse(w.Name)
	w.Name, w.Port = got.Name, got.Port
	*h = Host(w)
	return err
}

// usual are the ports that a host without one may be reached at: SSH, HTTP, HTTPS and git.
var usual = []int{22, 80, 443, 9418}

// Localhost is the name of the machine's own localhost, at a port of it.
const Localhost = "localhost"

// Usual reports whether hosts are reached at a port without naming it.
func Usual(port int) bool { return slices.Contains(usual, port) }

// Covers reports whether a name and a port are a host's.
func (h Host) Covers(name string, port int) bool {
	if h.Port != port && (h.Port != 0 || !Usual(port)) {
		return false
	}
	if below, ok := strings.CutPrefix(h.Name, "*."); ok {
		return strings.HasSuffix(name, "."+below)
	}
	return h.Name == name
}

// String is the host as the setting has it.
func (h Host) String() string { return At(h.Name, h.Port) }

// At is a name with a port, unless that is 0.
func At(name string, port int) string {
	if port == 0 {
		return name
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	return name + ":" + strconv.Itoa(port)
}

// Find returns the host that covers a name and a port; nil is none.
func Find(list []Host, name string, port int) *Host {
	for i := range list {
		if list[i].Covers(name, port) {
			return &list[i]
		}
	}
	return nil
}

// Ports are those at which the names of hosts are dialled: the usual ones, and those that
// hosts of the list have.
func Ports(list []Host) []int {
	ports := slices.Clone(usual)
	for _, h := range list {
		if h.Port != 0 && h.Name != Localhost && !slices.Contains(ports, h.Port) {
			ports = append(ports, h.Port)
		}
	}
	return ports
}

// Here are the ports of the machine's localhost in a list.
func Here(list []Host) (ports []int) {
	for _, h := range list {
		if h.Name == Localhost && !slices.Contains(ports, h.Port) {
			ports = append(ports, h.Port)
		}
	}
	return ports
}

// Parse reads a host, such as example.org, *.example.org or example.org:8443.
func Parse(text string) (Host, error) {
	name, port, err := split(text)
	if err != nil {
		return Host{}, err
	}
	h := Host{Name: strings.ToLower(strings.TrimSuffix(name, ".")), Port: port}
	return h, h.Check()
}

// split takes a port off the end of a text.
func split(text string) (name string, port int, err error) {
	if strings.Contains(text, "/") {
		return "", 0, fmt.Errorf("%q is no host; leave out what stands before and behind it in an address, as in packages.example.org", text)
	}
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.String(), 0, nil
	}
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, 0, nil
	}
	if port, err = strconv.Atoi(text[i+1:]); err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("%q has no port from 1 to 65535 after the colon", text)
	}
	return strings.Trim(text[:i], "[]"), port, nil
}

// Check says what is wrong with a host, or nil.
func (h Host) Check() error {
	_, address := netip.ParseAddr(h.Name)
	switch name := strings.TrimPrefix(h.Name, "*."); {
	case h.Name == Localhost && h.Port == 0:
		return fmt.Errorf("%s needs a port, as in %s:8080", Localhost, Localhost)
	case h.Port < 0 || h.Port > 65535:
		return fmt.Errorf("%d is no port", h.Port)
	case address == nil:
	case !netaddr.IsName(name):
		return fmt.Errorf("%.80q is no host; a host is a name such as packages.example.org, or *.example.org for all names below one", h.Name)
	}
	if h.Address != "" {
		if _, port, err := split(h.Address); err != nil || port == 0 {
			return fmt.Errorf("address must be host:port, not %.80q", h.Address)
		}
	}
	return nil
}

// Public reports whether a name can be one of the public internet: it has a full stop in it,
// and its last part is not kept for networks of one's own.
func Public(name string) bool {
	i := strings.LastIndexByte(name, '.')
	return i > 0 && !slices.Contains(private, name[i+1:]) && !strings.HasSuffix(name, ".home.arpa")
}

var private = []string{"local", "localhost", "localdomain", "internal", "intranet", "lan", "home", "corp", "private"}

// Tighter is what both allow, and what of want that leaves out.
func Tighter(have, want Network) (got Network, refused []string) {
	switch {
	case have.All:
		return want, nil
	case want.All:
		return have, []string{"the machine's whole network"}
	}
	got.Ask = have.Ask && want.Ask
	if want.Ask && !have.Ask {
		refused = append(refused, "to be asked about hosts")
		want.Hosts = append(slices.Clone(want.Hosts), have.Hosts...) // what would be asked about is not refused
	}
	for _, h := range want.Hosts {
		if have.Ask || within(have.Hosts, h) {
			got.Hosts = append(got.Hosts, h)
		} else {
			refused = append(refused, h.String())
		}
	}
	return got, refused
}

// within reports whether a host of a list allows all that h does.
func within(list []Host, h Host) bool {
	return slices.ContainsFunc(list, func(l Host) bool {
		name := h.Name == l.Name || strings.HasPrefix(l.Name, "*.") && strings.HasSuffix(h.Name, l.Name[1:])
		return name && (h.Port == l.Port || l.Port == 0 && Usual(h.Port)) &&
			(l.Private || !h.Private) && (l.Uploads || !h.Uploads) && (h.Ask || !l.Ask) && (h.Address == l.Address) && (l.In == "" || l.In == h.In)
	})
}
