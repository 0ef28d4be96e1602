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
	k, base, end := c.k, c.base, c.spent
	c.mu.Unlock()
	if k == nil {
		return end, 0
	}
	_, cpu, _ = usage(k.Pid())
	cpu -= base
	for _, p := range Descendants(k.Pid()) {
		own, ended, resident := usage(p.Pid)
		cpu, memory = cpu+own+ended, memory+resident
	}
	return cpu, memory
}

// usage is the CPU time of a process and of its children that have ended, by fields 14 to 17
// of /proc/PID/stat, and its own memory, by /proc/PID/statm: resident pages but shared ones.
func usage(pid int) (own, ended time.Duration, memory int64) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, 0
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
	own, ended = ticks(at(14)+at(15)), ticks(at(16)+at(17))
	pages, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if fields := bytes.Fields(pages); len(fields) > 2 {
		resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
		memory = (resident - shared) * int64(os.Getpagesize())
	}
	return own, ended, memory
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
