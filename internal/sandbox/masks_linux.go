package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// What keeps a name of the workspace from a command is a mount over it. A
// program outside that removes the name, or renames another file over it, as
// git does with its settings, takes the mount with it (since Linux 3.18; see
// detach_mounts in fs/namespace.c): from then on the command could change
// what took its place. There is no rule that holds for a name instead, so the
// command's mounts are watched, and it is ended when one of them goes.

// handMounts hands the table of this process's mounts to the server, and waits
// until that has seen them: a command may move what they lie on.
func handMounts(socket int) error {
	table, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(table)
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(table), nil, unix.MSG_NOSIGNAL); err != nil {
		return err
	}
	for {
		n, err := unix.Read(socket, make([]byte, 1))
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil && n == 0:
			return errors.New("the server is gone")
		default:
			return err
		}
	}
}

// watchMasks ends the command when one of the masks goes. The command
// inherits theirs, on which it hands out its table of mounts. The watch ends
// when last is called.
func (c *Cmd) watchMasks(masks []mask, last *[]func()) (theirs *os.File, err error) {
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	c.watched = make(chan struct{})
	watched := sync.OnceFunc(func() {
		_, _ = conn.Write([]byte{0}) // the command may begin
		close(c.watched)
	})
	come, known := make(chan *os.File, 1), make(chan struct{})
	go func() {
		defer watched()
		table := tableFrom(conn)
		come <- table
		if table == nil {
			close(known)
			return
		}
		if lost := lostMask(table, masks, watched); lost != "" {
			c.lost.Store(&lost)
			c.proc.kill()
		}
		close(known)
		// Who has the table last takes the mounts apart, which takes the kernel milliseconds: nobody waits for it.
		_ = table.Close()
	}()
	*last = append(*last, func() {
		_ = theirs.Close()
		_ = conn.Close()
		if table := <-come; table != nil {
			_ = table.SetReadDeadline(time.Now())
		}
		<-known
	})
	return theirs, nil
}

// tableFrom receives a table of mounts; nil when the other end goes without.
func tableFrom(conn *net.UnixConn) *os.File {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil
	}
	if files := filesOf(oob[:n]); len(files) == 1 {
		return files[0]
	}
	return nil
}

// lostMask waits until one of the masks is gone, and returns its path; ""
// when the table's deadline comes first. It calls watched once it has seen
// them.
func lostMask(table *os.File, masks []mask, watched func()) (lost string) {
	conn, err := table.SyscallConn()
	if err != nil {
		return fmt.Sprintf("the table of mounts (%v)", err)
	}
	var ids map[mask]string
	// A change of the table is an exceptional condition of its file (proc_pid_mountinfo(5)), which ends a wait of the
	// runtime for something to read; so do other things. No thread is kept waiting.
	err = conn.Read(func(fd uintptr) bool {
		there, err := mountsIn(int(fd))
		switch {
		case err != nil:
			lost = fmt.Sprintf("the table of mounts (%v)", err)
		case ids == nil:
			ids, lost = idsOf(masks, there)
			watched()
		default:
			lost = lostOf(masks, ids, there)
		}
		return lost != ""
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Sprintf("the table of mounts (%v)", err)
	}
	return lost
}

// idsOf are those of the masks' mounts, unless one of them is not there: then
// somebody was faster.
func idsOf(masks []mask, there map[string]string) (ids map[mask]string, lost string) {
	ids = map[mask]string{}
	for _, m := range masks {
		id, ok := there[m.place]
		if !ok {
			return nil, m.path
		}
		ids[m] = id
	}
	return ids, ""
}

// lostOf is the path of a mask whose mount is not there any more, or "".
func lostOf(masks []mask, ids map[mask]string, there map[string]string) string {
	left := map[string]bool{}
	for _, id := range there {
		left[id] = true
	}
	if i := slices.IndexFunc(masks, func(m mask) bool { return !left[ids[m]] }); i >= 0 {
		return masks[i].path
	}
	return ""
}

// mountsIn reads a table of mounts: the topmost at each place, by its id. A
// line begins with the id of the mount, its parent's, its device and root, and
// its place, in which some characters are written as \ooo.
func mountsIn(table int) (map[string]string, error) {
	var text []byte
	for {
		text = slices.Grow(text, 4<<10)
		n, err := unix.Pread(table, text[len(text):cap(text)], int64(len(text)))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil, err
		}
		if text = text[:len(text)+max(n, 0)]; n == 0 {
			break
		}
	}
	there := map[string]string{}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) > 4 {
			there[unescape(string(fields[4]))] = string(fields[0])
		}
	}
	return there, nil
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
