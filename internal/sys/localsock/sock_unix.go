//go:build unix

package localsock

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
)

// Path is how a socket is called that has a name in a directory.
func Path(dir, name string) string { return filepath.Join(dir, name) }

// Listen makes a socket for this user alone. Its directory must keep others out.
func Listen(path string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil { // its directory kept others out before
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Dial connects to a socket.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", path)
}
