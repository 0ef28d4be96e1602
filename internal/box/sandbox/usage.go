package sandbox

import "time"

// metered is a runner that knows what its command uses.
type metered interface {
	Usage() (cpu time.Duration, memory int64)
	Pause()
	Resume()
}

// Usage is what the command has used so far: CPU time of all its processes, and bytes of
// memory that they have now. ok is false where that is not known.
func (c *Cmd) Usage() (cpu time.Duration, memory int64, ok bool) {
	m, ok := c.proc.(metered)
	if !ok {
		return 0, 0, false
	}
	cpu, memory = m.Usage()
	return cpu, memory, true
}

// Pause stops all its processes until Resume.
func (c *Cmd) Pause() {
	if m, ok := c.proc.(metered); ok {
		m.Pause()
	}
}

// Resume lets them go on.
func (c *Cmd) Resume() {
	if m, ok := c.proc.(metered); ok {
		m.Resume()
	}
}

// Done is closed when the command and all its processes have ended. It has been started.
func (c *Cmd) Done() <-chan struct{} { return c.done }
