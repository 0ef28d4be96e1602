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
