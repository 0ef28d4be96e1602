package keeper

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// process is one line of the machine's table of processes.
type process struct {
	Pid, parent int
	State       byte // as ps shows it; Z has ended
}

// Processes reads the table.
func Processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var list []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			list = append(list, p)
		}
	}
	return list
}

// readProcess reads /proc/PID/stat: pid (name) state ppid. The name may hold
// anything, so what follows is counted from its last parenthesis.
func readProcess(pid int) (process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 2 || len(fields[0]) != 1 {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return process{pid, parent, fields[0][0]}, err == nil
}

// Descendants are the processes below root that have not ended.
func Descendants(root int) []process {
	children := map[int][]process{}
	for _, p := range Processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	var alive []process
	todo := []int{root}
	for len(todo) > 0 {
		pid := todo[0]
		todo = todo[1:]
		for _, p := range children[pid] {
			if p.State != 'Z' && p.State != 'X' {
				alive = append(alive, p)
			}
			todo = append(todo, p.Pid)
		}
	}
	return alive
}

// endTree ends all processes below root, as far as patience goes. root
// must be one that orphans fall back to. Processes are stopped before they are
// ended, so that none makes new ones faster than they are found. reap, if not
// nil, is called in between, and reports whether all are gone.
func endTree(root int, patience time.Duration, reap func() bool) {
	deadline := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		for pid := range freeze(root, deadline) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if reap != nil && reap() || reap == nil && len(Descendants(root)) == 0 {
			return
		}
		if time.Now().After(deadline) {
			return
		}
		time.Sleep(wait) // nothing tells when a process that is not ours has ended
	}
}

// freeze stops all processes below root, those too that they make meanwhile.
func freeze(root int, deadline time.Time) (seen map[int]bool) {
	seen = map[int]bool{}
	for fresh := true; fresh && !time.Now().After(deadline); {
		fresh = false
		for _, p := range Descendants(root) {
			if !seen[p.Pid] {
				seen[p.Pid], fresh = true, true
				_ = unix.Kill(p.Pid, stopping(root, p))
			}
		}
	}
	return seen
}

// stopping is the signal that keeps a process from making others. A child of
// root that runs no program of its own yet is ended: root's thread waits in the
// kernel until it does, and root with it as soon as its runtime wants all its
// threads to pause. Were the child stopped by a server that ends just then,
// nobody would be left to end it.
func stopping(root int, p process) unix.Signal {
	if p.parent == root {
		of := func(pid int) []byte {
			line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
			if err != nil {
				return nil
			}
			return line
		}
		if own := of(p.Pid); len(own) > 0 && bytes.Equal(own, of(root)) {
			return unix.SIGKILL
		}
	}
	return unix.SIGSTOP
}
