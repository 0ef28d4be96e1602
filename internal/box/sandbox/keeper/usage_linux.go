package keeper

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is the unit of times in /proc: USER_HZ, the same on every machine.
const ticksPerSecond = 100

// Usage is the CPU time of all processes of a command so far, and the bytes of memory that
// they have now for themselves.
func (c *Run) Usage() (cpu time.Duration, memory int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.k == nil {
		return c.spent, 0
	}
	list := []used{usage(c.k.Pid())}
	for _, p := range Descendants(c.k.Pid()) {
		u := usage(p.Pid)
		memory += u.memory
		list = append(list, u)
	}
	return c.count(list), memory
}

// count is the CPU time by now. The control group knows all of it. Without one, a process
// that nobody waits for, as its parent ignores SIGCHLD, takes its time with it when it
// ends: all but what it was seen to use. c.mu is held.
func (c *Run) count(list []used) time.Duration {
	sum := c.tally.add(list)
	if cpu, ok := c.k.group.cpu(); ok {
		return cpu - c.base
	}
	return sum
}

// tally adds up what processes use that come and go between two looks at them.
type tally struct {
	last map[identity]used
	sum  time.Duration
}

// add takes another look into account. The first one says where the sum begins.
func (t *tally) add(list []used) time.Duration {
	now, waited, first := map[identity]used{}, time.Duration(0), t.last == nil
	for _, u := range list {
		before, known := t.last[u.id]
		now[u.id] = u
		switch {
		case known:
			t.sum += max(u.own-before.own, 0)
			waited += u.ended - before.ended
		case !first:
			t.sum += u.own + u.ended
		}
	}
	// The time of ended processes that were waited for has been counted up to the last look.
	for p, u := range t.last {
		if _, there := now[p]; !there {
			waited -= u.own + u.ended
		}
	}
	t.sum += max(waited, 0)
	t.last = now
	return t.sum
}

// identity is a process: its number may be given again, but not with the same start.
type identity struct {
	pid   int
	start int64
}

// used holds the processor time and memory of a process.
type used struct {
	id         identity
	own, ended time.Duration // ended: of its children that it has waited for
	memory     int64
}

// usage is the CPU time of a process and of its children that have ended, by fields 14 to 17
// of /proc/PID/stat, and its own memory, by /proc/PID/statm: resident pages but shared ones.
func usage(pid int) (u used) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return u
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const first = 3 // the number of fields[0]
	at := func(number int) int64 {
		if i := number - first; i < len(fields) {
			n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
			return n
		}
		return 0
	}
	ticks := func(n int64) time.Duration { return time.Duration(n) * time.Second / ticksPerSecond }
	u = used{id: identity{pid, at(22)}, own: ticks(at(14) + at(15)), ended: ticks(at(16) + at(17))}
	pages, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if fields := bytes.Fields(pages); len(fields) > 2 {
		resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
		u.memory = (resident - shared) * int64(os.Getpagesize())
	}
	return u
}

// Pause stops the processes of a command.
func (c *Run) Pause() {
	if k := c.Keeper(); k != nil {
		freeze(k.Pid(), time.Now().Add(killPatience))
	}
}

// Resume lets them go on.
func (c *Run) Resume() {
	if k := c.Keeper(); k != nil {
		for _, p := range Descendants(k.Pid()) {
			_ = unix.Kill(p.Pid, unix.SIGCONT)
		}
	}
}
