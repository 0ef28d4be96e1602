package peers

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// end is the process at the other end of a connection: the one that connected, whoever
// has the connection by now.
type end struct {
	uid, pid int
	fd       int // that stands for the process, and for no later one of its number; -1: the kernel has none
}

func connected(c net.Conn) (p end, err error) {
	var who *unix.Ucred
	err = control(c, func(fd int) (failed error) {
		if who, failed = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); failed != nil {
			return failed
		}
		if p.fd, failed = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD); failed != nil {
			p.fd = -1 // a kernel before 6.5, or the process has ended: looked at below
		}
		return nil
	})
	if err != nil {
		return p, err
	}
	p.uid, p.pid = int(who.Uid), int(who.Pid)
	if p.fd < 0 && p.pid > 0 {
		p.fd = hold(p.pid)
	}
	return p, nil
}

// hold is a descriptor that stands for a process, or -1: then its line in the table says
// whether it is there.
func hold(pid int) (fd int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1
	}
	return fd
}

func (p end) release() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
	}
}

// ended reports whether the process has ended, or was never seen from here: it may be in
// a PID namespace around this one.
func (p end) ended() bool {
	if p.fd < 0 || p.pid <= 0 {
		_, there := look(p.pid)
		return !there
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// apart is the kind of namespace in which a process is and this one is not.
func apart(pid int) (kind string, err error) {
	for _, n := range []struct{ file, kind string }{{"pid", "PID"}, {"mnt", "mount"}, {"user", "user"}} {
		ours, err := os.Readlink("/proc/self/ns/" + n.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the kernel has none of this kind
		}
		if err != nil {
			return "", err
		}
		theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, n.file))
		if err != nil {
			return "", err
		}
		if ours != theirs {
			return n.kind, nil
		}
	}
	return "", nil
}

// look reads /proc/PID/stat: pid (name) state ppid …, of which the 22nd is when it began.
func look(pid int) (p process, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	// The name, which may have any characters, is in brackets.
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return p, false
	}
	fields := bytes.Fields(stat[to+1:])
	if len(fields) < 20 {
		return p, false
	}
	p.pid, p.name = pid, string(stat[from+1:to])
	p.parent, err = strconv.Atoi(string(fields[1]))
	if err == nil {
		p.begun, err = strconv.ParseInt(string(fields[19]), 10, 64)
	}
	return p, err == nil
}

// Name has the system call this process by the name of the program, whatever its file
// is called, so that other processes of ours know it.
func Name() {
	const file = "/proc/self/comm"
	if now, err := os.ReadFile(file); err == nil && string(bytes.TrimSpace(now)) != Program {
		_ = os.WriteFile(file, []byte(Program), 0) // it is always allowed, where there is a /proc
	}
}
