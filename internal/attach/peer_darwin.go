package attach

import (
	"net"

	"golang.org/x/sys/unix"
)

// peer is the process at the other end, and its user.
func peer(c net.Conn) (uid, pid int, err error) {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var who *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		if who, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed == nil {
			pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, 0, err
	}
	return int(who.Uid), pid, nil
}

// parent is the process that pid was started by. One whose parent has ended has the
// first process of the system for it.
func parent(pid int) (ppid int, ok bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, false
	}
	return int(p.Eproc.Ppid), true
}
