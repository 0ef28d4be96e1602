package web

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// maxURL bounds an address in bytes.
const maxURL = 4096

// ports are those that web servers are reached at. Others belong to mail,
// databases and the like, which can be made to obey what looks like a request.
var ports = [...]uint16{80, 443, 8080, 8443}

// target is an address of a page that may be asked for, as far as its text
// tells. Where its name leads is checked when it is dialled.
type target struct {
	url  *url.URL
	host string // lower case, without brackets and final dot
	port uint16
}

// parseTarget reads raw so that no two programs can read it differently:
// plain ASCII, a scheme, a host, and nothing that could pass for another.
func parseTarget(raw string) (target, error) {
	refuse := func(why string) (target, error) {
		return target{}, tools.Errorf(tools.InvalidArguments, "url: %s; give a full address such as https://example.com/page", why)
	}
	if len(raw) > maxURL {
		return refuse("is longer than " + strconv.Itoa(maxURL) + " bytes")
	}
	for i := range len(raw) {
		switch b := raw[i]; {
		case b <= ' ' || b == 0x7f:
			return refuse("has white space or control characters; write them as %20 and the like")
		case b > 0x7f:
			return refuse("has characters beyond ASCII; write them as %C3%A9 and the like, and a host as xn--")
		case b == '\\':
			return refuse(`has a \`)
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return refuse("can't be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("must begin with http:// or https://")
	case u.Opaque != "" || u.Host == "":
		return refuse("has no host")
	case u.User != nil:
		return refuse("has a user name or password before the host")
	}
	t := target{url: u, host: strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))}
	if why := badHost(u.Host, t.host); why != "" {
		return refuse(why)
	}
	if t.port = map[string]uint16{"http": 80, "https": 443}[u.Scheme]; strings.HasSuffix(u.Host, ":") {
		return refuse("has a : without a port")
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || !slices.Contains(ports[:], uint16(n)) {
			return target{}, tools.Errorf(tools.Denied, "url: port %s is not one of web servers (80, 443, 8080, 8443)", p)
		}
		t.port = uint16(n)
	}
	if ip, err := netip.ParseAddr(t.host); err == nil {
		if err := checkAddress(ip); err != nil {
			return target{}, err
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return t, nil
}

// badHost says what is wrong with a host, "" for nothing.
func badHost(written, host string) string {
	if strings.HasPrefix(written, "[") {
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return "has a host in brackets that is no plain IPv6 address"
		}
		return ""
	}
	if host == "" || len(host) > 253 {
		return "has no usable host"
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.ContainsFunc(l, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
		}) {
			return "has a malformed host name"
		}
	}
	// A last label that is a number makes it an address in some resolvers:
	// 127.1, 0x7f.1, 2130706433. https://url.spec.whatwg.org/#ends-in-a-number-checker
	if last := labels[len(labels)-1]; numeric(last) {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Is4() {
			return "has a host that is a number and no plain IPv4 address"
		}
	}
	return ""
}

func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// name is what a person knows the server by: its host, and its port if that is
// an unusual one.
func (t target) name() string {
	host := t.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.port != 80 && t.port != 443 {
		host += ":" + strconv.Itoa(int(t.port))
	}
	return host
}

// leads reports whether a redirect from t to next stays within what was
// allowed: the same server, and no step from https back to http.
func (t target) leads(next target) bool {
	return t.name() == next.name() && (t.url.Scheme == "http" || next.url.Scheme == "https")
}
