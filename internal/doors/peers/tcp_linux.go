package peers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
)

// OfTCP says who is at the other end of a TCP connection on this machine. The kernel
// notes no process for such a socket, so it is whoever has it by now: one that is no
// person's is enough, and a socket of which no process is found is nobody's.
func OfTCP(c net.Conn) Who {
	err := errors.New("no process that can be looked at has the connection")
	for range tries {
		inode, unseen := otherEnd(c)
		if unseen != nil {
			err = unseen
			continue
		}
		if who, ok := holders(inode); ok {
			return who
		}
	}
	return facts{unseen: err}.who()
}

// otherEnd is the socket at the other end: its row has the addresses of this one in the
// other order. There is none if it is in another network namespace, as behind a port of
// a container.
func otherEnd(c net.Conn) (inode string, err error) {
	here, herr := netip.ParseAddrPort(c.LocalAddr().String())
	there, terr := netip.ParseAddrPort(c.RemoteAddr().String())
	if err := errors.Join(herr, terr); err != nil {
		return "", err
	}
	for _, t := range []struct {
		file string
		row  func(netip.AddrPort) []byte
	}{{"/proc/self/net/tcp", row4}, {"/proc/self/net/tcp6", row6}} {
		table, err := os.ReadFile(t.file)
		if err != nil {
			continue // the kernel has none of this kind
		}
		from, to := t.row(there), t.row(here)
		for line := range bytes.Lines(table) {
			// number: local remote state queues timer retransmits user timeout inode …
			f := bytes.Fields(line)
			if len(f) < 10 || !bytes.Equal(f[1], from) || !bytes.Equal(f[2], to) {
				continue
			}
			if user := string(f[7]); user != strconv.Itoa(os.Getuid()) {
				return "", fmt.Errorf("it is of user %s", user)
			}
			return string(f[9]), nil
		}
	}
	return "", errors.New("its connection is not in the kernel's table")
}

// row4 is an address as the table of IPv4 has it; nil if it is none.
func row4(a netip.AddrPort) []byte {
	ip := a.Addr().Unmap()
	if !ip.Is4() {
		return nil
	}
	b := ip.As4()
	return row(b[:], a.Port())
}

// row6 is an address as the table of IPv6 has it, where a socket may speak IPv4, too.
func row6(a netip.AddrPort) []byte {
	b := a.Addr().As16()
	return row(b[:], a.Port())
}

// row has words of an address in the machine's order of bytes.
func row(ip []byte, port uint16) (out []byte) {
	for ; len(ip) > 0; ip = ip[4:] {
		out = fmt.Appendf(out, "%08X", binary.NativeEndian.Uint32(ip))
	}
	return fmt.Appendf(out, ":%04X", port)
}

// holders says who has a socket, of those who can be looked at. ok is false if nobody has.
func holders(inode string) (who Who, ok bool) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return who, false
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !has(pid, inode) {
			continue
		}
		if who, ok = holder(pid, inode); !ok || !who.person {
			return who, ok
		}
	}
	return who, ok
}

// holder says who has a socket, if the process has it still. One of ours is no person
// here: what it sends was given to it.
func holder(pid int, inode string) (who Who, ok bool) {
	p := end{uid: os.Getuid(), pid: pid, fd: hold(pid)}
	defer p.release()
	if now, _ := look(pid); pid == os.Getpid() || now.name == Program {
		who = Who{own: pid == os.Getpid(), why: fmt.Sprintf("it is the sidecar-ls of process %d, which sends what others give it", pid)}
	} else {
		who = p.who()
	}
	return who, has(pid, inode)
}

// has reports whether a process has a socket, as far as that can be seen.
func has(pid int, inode string) bool {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return false
	}
	want := "socket:[" + inode + "]"
	for _, name := range names {
		if to, err := os.Readlink(dir.Name() + "/" + name); err == nil && to == want {
			return true
		}
	}
	return false
}
