//go:build linux || darwin

package attach

import (
	"net"
	"os"
)

// sameUser reports whether a process of this user is at the other end.
func sameUser(c net.Conn) bool {
	uid, _, err := peer(c)
	return err == nil && uid == os.Getuid()
}

// own reports whether the process at the other end was started by this one, or
// by one that was. One that can't be looked at counts as such.
func own(c net.Conn) bool {
	_, pid, err := peer(c)
	if err != nil || pid <= 0 {
		return true
	}
	self := os.Getpid()
	if pid == self {
		return false
	}
	above, ok := parent(pid)
	if !ok {
		return true
	}
	for ; ok && above > 1; above, ok = parent(above) {
		if above == self {
			return true
		}
	}
	return false
}
