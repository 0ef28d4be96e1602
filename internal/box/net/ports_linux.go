package net

import (
	"bufio"
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Listener is a TCP port of a session that a program listens on.
type Listener struct {
	Port    int
	Program string // its name; "" is not known
}

// listens is the state of a socket that listens, as /proc/net/tcp has it.
const listens = "0A"

// Listening are the TCP ports of the namespace that programs listen on, in order.
func (n *Network) Listening() []Listener {
	proc := "/proc/" + strconv.Itoa(n.Pid())
	ports := map[int]string{} // sockets by ports
	ours := map[string]bool{}
	left := maxLooked
	sockets(n.Pid(), &left, func(socket string) bool {
		ours[socket] = true
		return true
	})
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(proc + "/net/" + name)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			w := strings.Fields(s.Text()) // sl local_address rem_address st … inode is the tenth
			if len(w) < 10 || w[3] != listens {
				continue
			}
			_, at, _ := strings.Cut(w[1], ":")
			if port, err := strconv.ParseUint(at, 16, 16); err == nil && ports[int(port)] == "" && !ours[w[9]] {
				ports[int(port)] = w[9]
			}
		}
		f.Close()
	}
	if len(ports) == 0 || n.Ended() {
		return nil
	}
	names := n.programs()
	list := make([]Listener, 0, len(ports))
	for port, socket := range ports {
		list = append(list, Listener{port, names[socket]})
	}
	slices.SortFunc(list, func(a, b Listener) int { return a.Port - b.Port })
	return list
}

// programs are the names of the programs in the namespace, by the sockets that they have.
func (n *Network) programs() map[string]string {
	names := map[string]string{}
	n.each(func(_ int, socket, program string) bool {
		names[socket] = program
		return true
	})
	return names
}

// each calls f for each socket of each process in the namespace, until it says false.
func (n *Network) each(f func(pid int, socket, program string) bool) {
	space, err := os.Readlink("/proc/" + strconv.Itoa(n.Pid()) + "/ns/net")
	if err != nil {
		return
	}
	left := maxLooked
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		if at, err := os.Readlink(proc + "/ns/net"); err != nil || at != space {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil {
			continue
		}
		name, _ := os.ReadFile(proc + "/comm")
		if !sockets(pid, &left, func(socket string) bool { return f(pid, socket, visible(strings.TrimSuffix(string(name), "\n"))) }) {
			return
		}
	}
}

// maxLooked bounds how many descriptors are looked at for one socket: the programs of a session
// may have millions.
const maxLooked = 1 << 15

// sockets calls f for each socket of a process, until it says false or enough was looked at.
func sockets(pid int, left *int, f func(socket string) bool) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	d, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer d.Close()
	fds, _ := d.Readdirnames(*left)
	*left -= len(fds)
	for _, fd := range fds {
		target, _ := os.Readlink(dir + fd)
		if socket, ok := strings.CutPrefix(target, "socket:["); ok && !f(strings.TrimSuffix(socket, "]")) {
			return false
		}
	}
	return *left > 0
}

// Client finds out which process of the namespace made a connection.
func (n *Network) Client(a Arrival) Client {
	n.finding.Lock() // one at a time: a program may have many connections
	defer n.finding.Unlock()
	// Both ends tell: the same port may be another program's at another address.
	from, to, socket := inProc(a.From), inProc(a.To), ""
	for _, name := range []string{"tcp", "tcp6"} { // where sockets are for both
		f, err := os.Open("/proc/" + strconv.Itoa(n.Pid()) + "/net/" + name)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			if w := strings.Fields(s.Text()); len(w) >= 10 && strings.HasSuffix(w[1], from) && strings.HasSuffix(w[2], to) && w[9] != "0" {
				socket = w[9]
			}
		}
		f.Close()
	}
	if socket == "" {
		return Client{}
	}
	of, name := n.owner(socket)
	name, _, _ = strings.Cut(name, " ") // programs such as npm write their arguments there, too
	c := Client{Program: name}
	for pid := of; pid > 1 && len(c.Parents) < 1000; {
		comm, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
		c.Parents = append(c.Parents, Process{pid, visible(strings.TrimSuffix(string(comm), "\n"))})
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			break
		}
		// The name may hold anything, so what follows is counted from its last parenthesis.
		w := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(w) < 2 {
			break
		}
		if pid, err = strconv.Atoi(string(w[1])); err != nil {
			break
		}
	}
	return c
}

// inProc is an address of IPv4 with a port as /proc/net/tcp has it, and the end of what tcp6 has.
func inProc(a netip.AddrPort) string {
	b := a.Addr().Unmap().AsSlice()
	slices.Reverse(b)
	return fmt.Sprintf("%X:%04X", b, a.Port())
}

// owner is a process of the namespace that has a socket; 0: none is found.
func (n *Network) owner(socket string) (pid int, name string) {
	n.each(func(p int, its, program string) bool {
		if its == socket {
			pid, name = p, program
		}
		return pid == 0
	})
	return pid, name
}

// visible is a name that a program gave itself, with nothing in it that a terminal obeys.
func visible(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
