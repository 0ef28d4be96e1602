// Package proctree starts commands whose processes end together: a command, and
// all that comes of it. On Windows a tree is a job object, which ends with this
// process too, however that ends. Elsewhere it is a session, without a terminal to
// ask at: a process that begins a session of its own leaves it.
package proctree

import (
	"os/exec"
	"sync"
)

// Limits bound a whole tree, where the system can: on Windows. Zero or less is no
// limit.
type Limits struct {
	Processes int64
	Memory    int64 // bytes
}

// Tree is a command that was started, and all processes that come of it.
type Tree struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	over bool // what names the tree may name another one by now
	system
}

// Start starts a command as the root of a tree. When the command has a context, the
// end of that ends the tree.
func Start(cmd *exec.Cmd, l Limits) (*Tree, error) {
	t := &Tree{cmd: cmd}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { t.Kill(); return nil }
	}
	if err := t.start(cmd, l); err != nil {
		return nil, err
	}
	return t, nil
}

// PID is the number of the command's process.
func (t *Tree) PID() int { return t.cmd.Process.Pid }

// Run starts a command as the root of a tree, and waits for it.
func Run(cmd *exec.Cmd) error {
	t, err := Start(cmd, Limits{})
	if err != nil {
		return err
	}
	return t.Wait()
}

// Wait waits for the command, as exec.Cmd.Wait does, and ends what it has left.
func (t *Tree) Wait() error {
	err := t.cmd.Wait()
	t.Kill()
	t.end(false)
	return err
}

// Leave lets what a command has left go on, in the place of Wait: its caller has
// waited for the command itself.
func (t *Tree) Leave() { t.end(true) }

func (t *Tree) end(leave bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.over = true
		t.release(leave)
	}
}

// Kill ends all processes of the tree.
func (t *Tree) Kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.kill(t.cmd)
	}
}

// Terminate asks all processes of the tree to end. It reports whether the system
// can ask that.
func (t *Tree) Terminate() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.over && t.terminate(t.cmd)
}
