package embed

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// connectTime bounds a connection and a handshake.
const connectTime = 5 * time.Second

// newHTTP makes a client that follows no redirect and uses no proxy. It dials
// what the user has named, which may well be this machine; the rule over
// addresses is looked at when the address is final.
func newHTTP(plain bool, timeout time.Duration) *http.Client {
	d := net.Dialer{Timeout: connectTime, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return checkAddress(to.Addr(), plain)
	}}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: d.DialContext, TLSHandshakeTimeout: connectTime, ResponseHeaderTimeout: timeout, MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConns: 2, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkAddress refuses what is no endpoint of a model: the services of clouds
// that hand out credentials, groups of machines. What is not encrypted stays
// on this machine and in private networks.
func checkAddress(a netip.Addr, plain bool) error {
	a = a.Unmap()
	switch {
	case a.IsLinkLocalUnicast(), a.IsMulticast(), a.IsUnspecified(), a == netip.AddrFrom4([4]byte{168, 63, 129, 16}),
		a == netip.AddrFrom4([4]byte{100, 100, 100, 200}), a == netip.MustParseAddr("fd00:ec2::254"):
		return fmt.Errorf("%v is not the address of an endpoint", a)
	case plain && !a.IsLoopback() && !a.IsPrivate():
		return fmt.Errorf("%v is on the internet, where source code is sent by https alone", a)
	}
	return nil
}
