package attach

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/windows"

	"github.com/sidecar-ls/sidecar-ls/internal/proctree"
)

// handle is that of a pipe, and whether this process has made it.
func handle(c net.Conn) (h windows.Handle, server bool, err error) {
	f, ok := c.(interface{ Fd() uintptr })
	if !ok {
		return 0, false, errors.New("no pipe")
	}
	h = windows.Handle(f.Fd())
	var flags uint32
	err = windows.GetNamedPipeInfo(h, &flags, nil, nil, nil)
	return h, flags&windows.PIPE_SERVER_END != 0, err
}

// sameUser reports whether a process of this user is at the other end. A pipe of ours
// admits no others; that of a host could have been made by anybody.
func sameUser(c net.Conn) bool {
	h, server, err := handle(c)
	if err != nil || server {
		return err == nil
	}
	var pid uint32
	if windows.GetNamedPipeServerProcessId(h, &pid) != nil {
		return false
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var token windows.Token
	if windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token) != nil {
		return false
	}
	defer func() { _ = token.Close() }()
	theirs, err := token.GetTokenUser()
	if err != nil {
		return false
	}
	ours, err := windows.GetCurrentProcessToken().GetTokenUser()
	return err == nil && ours.User.Sid.Equals(theirs.User.Sid)
}

// own reports whether the process at the other end was started by this one, or
// by one that was. One that can't be looked at counts as such.
func own(c net.Conn) bool {
	h, _, err := handle(c)
	if err != nil {
		return true
	}
	var pid uint32
	if windows.GetNamedPipeClientProcessId(h, &pid) != nil {
		return true
	}
	if int(pid) == os.Getpid() {
		return false
	}
	is, err := proctree.Descends(int(pid))
	return is || err != nil
}
