package net

import (
	"bufio"
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
			if port, err := strconv.ParseUint(at, 16, 16); err == nil && ports[int(port)] == "" {
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
	space, err := os.Readlink("/proc/" + strconv.Itoa(n.Pid()) + "/ns/net")
	if err != nil {
		return names
	}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		if at, err := os.Readlink(proc + "/ns/net"); err != nil || at != space {
			continue
		}
		name, _ := os.ReadFile(proc + "/comm")
		fds, _ := os.ReadDir(proc + "/fd")
		for _, fd := range fds {
			target, _ := os.Readlink(proc + "/fd/" + fd.Name())
			if socket, ok := strings.CutPrefix(target, "socket:["); ok {
				names[strings.TrimSuffix(socket, "]")] = visible(strings.TrimSuffix(string(name), "\n"))
			}
		}
	}
	return names
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
