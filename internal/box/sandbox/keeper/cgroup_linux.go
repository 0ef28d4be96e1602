package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// cgroup is one control group per hierarchy that can be used, for the
// Processes of one command. Without rights to make one it is empty: then there
// is no common bound of processes and memory.
type cgroup struct {
	dirs []string
	join []*os.File // cgroup.procs, open for writing
}

// CgroupParents are the directories in which groups can be made: version 2
// besides the server's own group, as one with processes can't hand controllers
// down; version 1 below its own, for pids and memory. Empty groups that a
// server left which is gone are removed.
func CgroupParents() []string {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	var parents []string
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var try []string
		switch {
		case parts[0] == "0":
			for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
				if spec.Exists(filepath.Join(mount, "cgroup.controllers")) {
					try = append(try, filepath.Join(mount, filepath.Dir(parts[2])), filepath.Join(mount, parts[2]))
				}
			}
		case parts[1] == "pids", parts[1] == "memory":
			try = append(try, filepath.Join("/sys/fs/cgroup", parts[1], parts[2]))
		}
		for _, dir := range try {
			if probeGroup(dir) {
				parents = append(parents, dir)
				break
			}
		}
	}
	return parents
}

const groupPrefix = "sidecar-ls."

// probeGroup makes a group in dir, to see whether it can be used.
func probeGroup(dir string) bool {
	sweepGroups(dir)
	g, err := newCgroup([]string{dir}, spec.Limits{Processes: -1, Memory: -1})
	if err != nil {
		return false
	}
	defer g.remove()
	// Joining needs a right over the group that is left, too.
	join, err := unix.Open(filepath.Join(g.dirs[0], "cgroup.procs"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.Close(join)
	return unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
}

func sweepGroups(dir string) {
	old, _ := filepath.Glob(filepath.Join(dir, groupPrefix+"*"))
	for _, group := range old {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(group), groupPrefix), ".")
		if pid, err := strconv.Atoi(owner); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = unix.Rmdir(group) // fails while there is a process in it
		}
	}
}

// keeperTasks is how many tasks a group may have more than a command: threads
// of its keeper.
const keeperTasks = 24

// newCgroup makes a group in each of parents.
func newCgroup(parents []string, l spec.Limits) (*cgroup, error) {
	g := &cgroup{}
	for _, parent := range parents {
		dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d.*", groupPrefix, os.Getpid()))
		if err != nil {
			g.remove()
			return nil, err
		}
		g.dirs = append(g.dirs, dir)
		tasks := l.Processes
		if tasks >= 0 {
			tasks += keeperTasks
		}
		for file, limit := range map[string]int64{"pids.max": tasks, "memory.max": l.Memory, "memory.limit_in_bytes": l.Memory, "memory.memsw.limit_in_bytes": l.Memory, "memory.swap.max": 0} {
			name := filepath.Join(dir, file)
			if limit < 0 || !spec.Exists(name) {
				continue
			}
			// A group without its limit still has the processes together.
			_ = os.WriteFile(name, []byte(strconv.FormatInt(limit, 10)), 0)
		}
		f, err := os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			g.remove()
			return nil, err
		}
		g.join = append(g.join, f)
	}
	return g, nil
}

// cpu is the CPU time of all that was ever in the group; ok is false where that is not known.
func (g *cgroup) cpu() (used time.Duration, ok bool) {
	for _, dir := range g.dirs {
		data, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
		if err != nil {
			continue // of version 1, for other things
		}
		for line := range strings.Lines(string(data)) {
			if n, found := strings.CutPrefix(line, "usage_usec "); found {
				usec, err := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
				return time.Duration(usec) * time.Microsecond, err == nil
			}
		}
	}
	return 0, false
}

// kill ends all processes of the group. The keeper's own is spared where that
// is possible: what comes up below it meanwhile is still found there.
func (g *cgroup) kill(keeper int) {
	for _, dir := range g.dirs {
		if os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) == nil {
			return
		}
	}
	for _, dir := range g.dirs {
		if max := filepath.Join(dir, "pids.max"); spec.Exists(max) {
			_ = os.WriteFile(max, []byte("0"), 0) // none can make another one now
		}
		data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 && pid != keeper {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
	}
}

// remove gives the group back. What is still busy is swept by a later server.
func (g *cgroup) remove() {
	for _, f := range g.join {
		f.Close()
	}
	g.join = nil
	for _, dir := range g.dirs {
		for i := 0; i < 10 && unix.Rmdir(dir) == unix.EBUSY; i++ {
			g.kill(0)
			time.Sleep(2 * time.Millisecond) // the kernel does not tell when the last one is gone
		}
	}
}
