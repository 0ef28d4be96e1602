//go:build linux || darwin

package peers

import (
	"errors"
	"net"
	"os"
)

// Program is how the system calls each process of ours, whatever its file is called;
// see Name.
const Program = "sidecar-ls"

// process is one line of the machine's table of processes.
type process struct {
	pid, parent int
	name        string // as the system has it: only the process itself can change it
	begun       int64  // in units of the system's
}

// control does something with the socket of a connection.
func control(c net.Conn, do func(fd int) error) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("it comes by no socket of this machine")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = do(int(fd)) })
	return errors.Join(err, failed)
}

// SameUser reports whether a process of this user is at the other end.
func SameUser(c net.Conn) bool {
	p, err := connected(c)
	if err != nil {
		return false
	}
	defer p.release()
	return p.uid == os.Getuid()
}

// Of says who is at the other end of a connection.
func Of(c net.Conn) Who {
	p, err := connected(c)
	if err != nil {
		return facts{unseen: err}.who()
	}
	defer p.release()
	return p.who()
}

func (p end) who() Who {
	if p.pid == os.Getpid() {
		return Who{person: true} // this process, on its own behalf
	}
	f := facts{}
	if f.apart, f.unseen = apart(p.pid); f.unseen == nil {
		f.below, f.unseen = below(p.pid, 0)
	}
	f.own = f.below != 0 && own(p.pid, f.below)
	if p.ended() { // so that these were the facts of another one, perhaps
		f.unseen = errors.New("it has ended")
	}
	return f.who()
}

// Self says for whom this process acts.
func Self() Who { return self(0) }

// Handed is Self of a process that another one of ours has started in its own place.
func Handed() Who { return self(1) }

func self(handed int) Who {
	f := facts{}
	f.below, f.unseen = below(os.Getpid(), handed)
	return f.who()
}

// climbs bounds how often is begun anew because a parent ends meanwhile. Who comes to
// as many has it happen on purpose.
const climbs = 64

// below is a process of ours that pid descends from, but for so many that are nearest;
// 0 is none. Programs that we start, and what these leave behind, are below a process of
// ours until that ends, and end with it: see the keepers of package sandbox.
func below(pid, handed int) (int, error) {
	for range climbs {
		if found, ok := climb(pid, handed); ok {
			return found, nil
		}
	}
	return 0, errors.New("it ends, or its parents do")
}

// nested bounds how many processes of ours are looked at between one and this one.
const nested = 8

// own reports whether a process descends from this one, where nearest is that of ours
// which it descends from first.
func own(pid, nearest int) bool {
	for n := 1; nearest != os.Getpid(); n++ {
		up, err := below(pid, n)
		if err != nil || up == 0 || n == nested {
			return false
		}
		nearest = up
	}
	return true
}

// climb looks at one parent after the other. ok is false when one has ended on the way,
// so that the rest of it is not known.
func climb(pid, handed int) (found int, ok bool) {
	at, ok := look(pid)
	if !ok {
		return 0, false
	}
	for at.parent > 0 {
		up, ok := look(at.parent)
		if !ok {
			again, there := look(at.pid)
			return 0, there && again.parent == at.parent && again.begun == at.begun // it is another user's, and hidden
		}
		if up.begun > at.begun { // its number is that of another one by now
			return 0, false
		}
		if up.pid == os.Getpid() || up.name == Program {
			if handed == 0 {
				return up.pid, true
			}
			handed--
		}
		at = up
	}
	return 0, true
}
