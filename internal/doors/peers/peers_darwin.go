package peers

import (
	"net"

	"golang.org/x/sys/unix"
)

// end is the process at the other end of a connection.
type end struct {
	uid, pid int
	begun    int64
}

func connected(c net.Conn) (p end, err error) {
	var who *unix.Xucred
	err = control(c, func(fd int) (failed error) {
		if who, failed = unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed == nil {
			p.pid, failed = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
		return failed
	})
	if err != nil {
		return p, err
	}
	p.uid = int(who.Uid)
	if now, ok := look(p.pid); ok {
		p.begun = now.begun
	}
	return p, nil
}

func (end) release() {}

// ended reports whether the process has ended.
func (p end) ended() bool {
	now, there := look(p.pid)
	return !there || now.begun != p.begun
}

// apart is nothing: there are no namespaces.
func apart(int) (string, error) { return "", nil }

// look asks for a process. One whose parent has ended has the first process of the
// system for it.
func look(pid int) (p process, ok bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return p, false
	}
	return process{
		pid: pid, parent: int(k.Eproc.Ppid), name: unix.ByteSliceToString(k.Proc.P_comm[:]),
		begun: int64(k.Proc.P_starttime.Sec)*1e6 + int64(k.Proc.P_starttime.Usec),
	}, true
}

// Name has nothing to do: a process is called by its file here.
func Name() {}
