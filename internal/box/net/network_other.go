//go:build !linux

package net

import (
	"context"
	"errors"
	"net"
)

// Network is not to be had here.
type Network struct{}

// Start fails here.
func Start(string) (*Network, error) {
	return nil, errors.New("this system has no network namespaces")
}

// Ready does nothing.
func (*Network) Ready() error { return nil }

// Ended reports whether it has.
func (*Network) Ended() bool { return true }

// Close does nothing.
func (*Network) Close() {}

// Dial fails here.
func (*Network) Dial(context.Context, int) (net.Conn, error) {
	return nil, errors.New("this system has no network namespaces")
}

// Serve fails here.
func (*Network) Serve(Names, func(Arrival, *net.TCPConn)) error {
	return errors.New("this system has no network namespaces")
}

// Client is not known here.
func (*Network) Client(Arrival) Client { return Client{} }

// Gone is closed.
func (*Network) Gone() <-chan struct{} {
	gone := make(chan struct{})
	close(gone)
	return gone
}

// Listener is a TCP port of a session that a program listens on.
type Listener struct {
	Port    int
	Program string
}

// Listening is none.
func (*Network) Listening() []Listener { return nil }
