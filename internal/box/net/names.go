package net

import (
	"net"
	"net/netip"
)

// Names says where the names of hosts lead in a namespace: each has an address of its own
// there, and what is dialled comes to the server.
type Names struct {
	Ports []int `json:",omitempty"` // at which names are dialled
	Here  []int `json:",omitempty"` // ports of the namespace's localhost that lead to the machine's
}

// ProxyPort is the port of a namespace's localhost where the server takes the part of a
// proxy, for HTTP and SOCKS5.
const ProxyPort = 61080

// Arrival is a connection from a namespace: to a host by its name and a port, to the place
// of the proxy, or to a port of the machine's localhost.
type Arrival struct {
	Name  string         `json:",omitempty"` // in lower case, without a full stop at its end
	Port  int            `json:",omitempty"`
	Proxy bool           `json:",omitempty"`
	From  netip.AddrPort // the client's end in the namespace
	To    netip.AddrPort // the other one
}

// Process is one of the machine's.
type Process struct {
	Pid  int
	Name string
}

// Client is the process that made a connection. The zero value is that it is not known.
type Client struct {
	Program string    // its name
	Parents []Process // it, and those above it
}

// Hand takes a connection that a client in a session's namespace made.
type Hand func(j *Joint, a Arrival, c *net.TCPConn)
