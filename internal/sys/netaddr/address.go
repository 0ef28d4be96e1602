// Package netaddr tells names of hosts from addresses, and public addresses from others.
package netaddr

import "net/netip"

// forbidden are the ranges that are not of the public internet: what is not global
// unicast by the IANA special-purpose registries, and what leads to IPv4
// addresses by way of IPv6, since that can lead to any of the others.
var forbidden = [...]struct{ prefix, what string }{
	{"0.0.0.0/8", "this host"},
	{"10.0.0.0/8", "a private network"},
	{"100.64.0.0/10", "a carrier's network"},
	{"127.0.0.0/8", "this machine"},
	{"168.63.129.16/32", "a cloud's own service"},
	{"169.254.0.0/16", "link-local, or a cloud's metadata"},
	{"172.16.0.0/12", "a private network"},
	{"192.0.0.0/24", "reserved"},
	{"192.0.2.0/24", "reserved for documentation"},
	{"192.31.196.0/24", "reserved"},
	{"192.52.193.0/24", "reserved"},
	{"192.88.99.0/24", "a relay to other addresses"},
	{"192.168.0.0/16", "a private network"},
	{"192.175.48.0/24", "reserved"},
	{"198.18.0.0/15", "reserved for benchmarks"},
	{"198.51.100.0/24", "reserved for documentation"},
	{"203.0.113.0/24", "reserved for documentation"},
	{"224.0.0.0/4", "multicast"},
	{"240.0.0.0/4", "reserved"},

	{"2001::/23", "reserved, Teredo among it"},
	{"2001:db8::/32", "reserved for documentation"},
	{"2002::/16", "6to4, which leads to IPv4 addresses"},
	{"2620:4f:8000::/48", "reserved"},
	{"3fff::/20", "reserved for documentation"},
}

// global is what IANA gives out of IPv6; everything else (loopback, mapped
// and translated IPv4, unique local, link-local, multicast) is refused.
const global = "2000::/3"

// Private says why an address is none of the public internet, in a few words; "" is that it
// is one.
func Private(ip netip.Addr) string {
	if ip.Zone() != "" {
		return "link-local"
	}
	if ip.Is6() && !netip.MustParsePrefix(global).Contains(ip) {
		return "IPv6 of this machine or its network, or IPv4 in disguise"
	}
	for _, f := range forbidden {
		if netip.MustParsePrefix(f.prefix).Contains(ip) {
			return f.what
		}
	}
	if !ip.IsValid() {
		return "no address"
	}
	return ""
}
