package mask

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

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
)

// What keeps a name of the workspace from a command is a mount over it. A
// program outside that removes the name, or renames another file over it, as
// git does with its settings, takes the mount with it (since Linux 3.18; see
// detach_mounts in fs/namespace.c): from then on the command could change
// what took its place. There is no rule that holds for a name instead, so the
// command's mounts are watched, and it is ended when one of them goes that can't be
// put back.

// WatchMasks puts masks back that go, and calls replaced with their paths, or lost with
// the path of one that can't be put back. The command inherits theirs, on which it
// hands out its table of mounts; watching is closed once they are watched. The watch
// ends when stop is called.
func WatchMasks(masks []mask, settings *shownSettings, lost, replaced func(path string)) (theirs *os.File, watching <-chan struct{}, stop func(), err error) {
	conn, theirs, err := child.SocketPair()
	if err != nil {
		return nil, nil, nil, err
	}
	seen := make(chan struct{})
	watched := sync.OnceFunc(func() {
		_, _ = conn.Write([]byte{0}) // the command may begin
		close(seen)
	})
	come, known := make(chan *os.File, 1), make(chan struct{})
	go func() {
		defer watched()
		table, mounts := tableFrom(conn)
		if mounts != nil {
			defer mounts.Close()
		}
		come <- table
		if table == nil {
			close(known)
			return
		}
		again := func(m mask) error {
			err := settings.again(mounts, m)
			if err == nil {
				replaced(m.path)
			}
			return err
		}
		if path := lostMask(table, masks, watched, again); path != "" {
			lost(path)
		}
		close(known)
		// Who has the table last takes the mounts apart, which takes the kernel milliseconds: nobody waits for it.
		_ = table.Close()
	}()
	stop = func() {
		_ = theirs.Close()
		_ = conn.Close()
		if table := <-come; table != nil {
			_ = table.SetReadDeadline(time.Now())
		}
		<-known
	}
	return theirs, seen, stop, nil
}

// tableFrom receives a table of mounts and their namespace; nil when the other end
// goes without.
func tableFrom(conn *net.UnixConn) (table, mounts *os.File) {
	oob := make([]byte, unix.CmsgSpace(2*4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, nil
	}
	files := child.FilesOf(oob[:n])
	if len(files) != 2 {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, nil
	}
	return files[0], files[1]
}

// lostMask waits until one of the masks is gone and again fails to put it back,
// and returns its path; "" when the table's deadline comes first. It calls watched
// once it has seen them.
func lostMask(table *os.File, masks []mask, watched func(), again func(mask) error) (lost string) {
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
			lost = putBack(int(fd), masks, ids, there, again)
		}
		return lost != ""
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Sprintf("the table of mounts (%v)", err)
	}
	return lost
}

// putBack puts masks back that are gone, and notes their new mounts; lost is the
// path of one for which that fails.
func putBack(table int, masks []mask, ids map[mask]string, there map[string]string, again func(mask) error) (lost string) {
	for range maxReplaced {
		m, ok := goneOf(masks, ids, there)
		if !ok {
			return ""
		}
		lost = m.path
		if again(m) != nil {
			return lost
		}
		var err error
		if there, err = mountsIn(table); err != nil {
			return fmt.Sprintf("the table of mounts (%v)", err)
		}
		if id, ok := there[m.place]; ok { // else it was replaced again
			ids[m] = id
		}
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

// goneOf is a mask whose mount is not there any more, if there is one.
func goneOf(masks []mask, ids map[mask]string, there map[string]string) (mask, bool) {
	left := map[string]bool{}
	for _, id := range there {
		left[id] = true
	}
	if i := slices.IndexFunc(masks, func(m mask) bool { return !left[ids[m]] }); i >= 0 {
		return masks[i], true
	}
	return mask{}, false
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
