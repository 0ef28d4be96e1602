package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// What keeps a name of the workspace from a command is a mount over it. A
// program outside that removes the name, or renames another file over it, as
// git does with its settings, takes the mount with it (since Linux 3.18; see
// detach_mounts in fs/namespace.c): from then on the command could change
// what took its place. There is no rule that holds for a name instead, so the
// command's mounts are watched, and it is ended when one of them goes.

// handMounts hands the table of this process's mounts to the server.
func handMounts(socket int) error {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Sendmsg(socket, []byte{0}, unix.UnixRights(int(f.Fd())), nil, unix.MSG_NOSIGNAL)
}

// watchMasks ends the command when one of the masks goes. The command
// inherits theirs, on which it hands out its table of mounts. The watch ends
// when last is called.
func (c *Cmd) watchMasks(masks []mask, last *[]func()) (theirs *os.File, err error) {
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	stopped, stop, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, conn.Close(), theirs.Close())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer stopped.Close()
		if lost := lostMask(conn, stopped, masks); lost != "" {
			c.lost.Store(&lost)
			c.proc.kill()
		}
	}()
	*last = append(*last, func() {
		_ = theirs.Close()
		_ = conn.Close()
		_ = stop.Close()
		<-done
	})
	return theirs, nil
}

// lostMask waits until one of the masks is gone, and returns its path; ""
// when stopped is closed at its other end, or no table comes.
func lostMask(conn *net.UnixConn, stopped *os.File, masks []mask) string {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return ""
	}
	files := filesOf(oob[:n])
	if len(files) != 1 {
		return ""
	}
	table := files[0]
	defer table.Close()
	there, err := mountsIn(table)
	if err != nil {
		return fmt.Sprintf("the table of mounts (%v)", err)
	}
	ids := map[mask]string{}
	for _, m := range masks {
		id, ok := there[m.place]
		if !ok {
			return m.path // somebody was faster
		}
		ids[m] = id
	}
	for {
		// A change of the table is an exceptional condition of its file (proc_pid_mountinfo(5)).
		fds := []unix.PollFd{{Fd: int32(table.Fd()), Events: unix.POLLPRI}, {Fd: int32(stopped.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Sprintf("the table of mounts (%v)", err)
		}
		if fds[1].Revents != 0 {
			return ""
		}
		if fds[0].Revents == 0 {
			continue
		}
		if there, err = mountsIn(table); err != nil {
			return fmt.Sprintf("the table of mounts (%v)", err)
		}
		left := map[string]bool{}
		for _, id := range there {
			left[id] = true
		}
		if i := slices.IndexFunc(masks, func(m mask) bool { return !left[ids[m]] }); i >= 0 {
			return masks[i].path
		}
	}
}

// mountsIn reads a table of mounts: the topmost at each place, by its id. A
// line begins with the id of the mount, its parent's, its device and root, and
// its place, in which some characters are written as \ooo.
func mountsIn(table *os.File) (map[string]string, error) {
	if _, err := table.Seek(0, 0); err != nil {
		return nil, err
	}
	there := map[string]string{}
	lines := bufio.NewScanner(table)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) > 4 {
			there[unescape(string(fields[4]))] = string(fields[0])
		}
	}
	return there, lines.Err()
}

// unescape undoes \ooo.
func unescape(s string) string {
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out = append(out, byte(n))
				i += 3
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}
