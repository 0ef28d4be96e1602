package web

import (
	"net/netip"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/netaddr"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// checkAddress refuses an address that is not of the public internet. It fails
// with tools.Denied.
func checkAddress(ip netip.Addr) error {
	if what := netaddr.Private(ip); what != "" {
		return tools.Errorf(tools.Denied, "%s is not a public address (%s); only pages of the public internet are fetched, so ask the user for what is there", ip, what)
	}
	return nil
}
