package peers

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/windows"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
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

// SameUser reports whether a process of this user is at the other end. A pipe of ours
// admits no others; that of a host could have been made by anybody.
func SameUser(c net.Conn) bool {
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

// Of says who is at the other end of a connection: what this process has started, and
// what that leaves behind, stays in its job.
func Of(c net.Conn) Who {
	h, _, err := handle(c)
	if err != nil {
		return facts{unseen: err}.who()
	}
	var pid uint32
	if err := windows.GetNamedPipeClientProcessId(h, &pid); err != nil {
		return facts{unseen: err}.who()
	}
	if int(pid) == os.Getpid() {
		return Who{person: true} // this process, on its own behalf
	}
	return whoIs(int(pid))
}

// whoIs says whom a process acts for.
func whoIs(pid int) Who {
	var f facts
	is, err := proctree.Descends(pid)
	if f.unseen = err; is {
		f.below, f.own = os.Getpid(), true
	}
	return f.who()
}

// Self can't be asked here: the jobs of others have no names.
func Self() Who { return Who{person: true} }

// Handed can't be asked here.
func Handed() Who { return Who{person: true} }

// Name has nothing to do here.
func Name() {}
