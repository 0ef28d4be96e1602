package attach

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
)

// peer is the process at the other end.
func peer(c net.Conn) (*syscall.Ucred, error) {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var who *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		who, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = failed
	}
	return who, err
}

// sameUser reports whether a process of this user is at the other end.
func sameUser(c net.Conn) bool {
	who, err := peer(c)
	return err == nil && int(who.Uid) == os.Getuid()
}

// own reports whether the process at the other end was started by this one, or
// by one that was. One that can't be looked at counts as such.
func own(c net.Conn) bool {
	who, err := peer(c)
	if err != nil || who.Pid <= 0 {
		return true
	}
	self, pid := os.Getpid(), int(who.Pid)
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

// parent is the process that pid was started by.
func parent(pid int) (ppid int, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name, which may have any characters, is in brackets before the state.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	ppid, err = strconv.Atoi(string(fields[1]))
	return ppid, err == nil
}
