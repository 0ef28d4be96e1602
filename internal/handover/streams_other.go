//go:build !unix

package handover

import (
	"context"
	"net"
	"os"
)

// Streams are those of an editor.
type Streams struct{ In, Out, Err *os.File }

// Editor is one that was taken over.
type Editor struct {
	Streams
	First []byte
	Gone  chan struct{}
}

// Start fails with ErrUnsupported, as all of these do.
func Start(string, ...string) (*net.UnixConn, error) { return nil, ErrUnsupported }

// Inherited fails.
func Inherited() (*net.UnixConn, error) { return nil, ErrUnsupported }

// Give fails.
func Give(context.Context, *net.UnixConn, Streams, []byte, int) (int, error) {
	return 0, ErrUnsupported
}

// Take fails.
func Take(*net.UnixConn) (*Editor, error) { return nil, ErrUnsupported }

// Leave does nothing.
func (*Editor) Leave(int) {}
