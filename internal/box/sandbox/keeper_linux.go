package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeper is the server's side of a keeper.
type keeper struct {
	use   use
	cmd   *exec.Cmd
	conn  *net.UnixConn
	group *cgroup
}

// use is what a keeper was started for.
type use struct {
	plain  bool
	limits Limits
}

// keepers are those that wait for a command, the one that waits longest first.
type keepers struct {
	mu     sync.Mutex
	idle   []*keeper
	closed bool
}

// maxIdle bounds them: commands of one session follow each other, so more are
// for those that were started side by side.
const maxIdle = 2

// acquire returns a keeper that waits, or nil.
func (p *keepers) acquire(u use) *keeper {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if k := p.idle[i]; k.use == u {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return k
		}
	}
	return nil
}

// release takes a keeper back.
func (p *keepers) release(k *keeper) {
	p.mu.Lock()
	p.idle = append(p.idle, k)
	var out []*keeper
	if n := len(p.idle) - maxIdle; p.closed {
		out, p.idle = p.idle, nil
	} else if n > 0 {
		out, p.idle = p.idle[:n:n], p.idle[n:]
	}
	p.mu.Unlock()
	for _, k := range out {
		k.end()
	}
}

func (p *keepers) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, k := range idle {
		k.end()
	}
}

// newKeeper starts one. It is ready when it answers its first command.
func (s *Sandbox) newKeeper(u use) (_ *keeper, err error) {
	k := &keeper{use: u}
	if k.group, err = newCgroup(s.tools.Cgroups, u.limits); err != nil {
		k.group = &cgroup{} // the others of the limits hold
	}
	ours, theirs, err := socketPair()
	if err != nil {
		k.group.remove()
		return nil, err
	}
	defer theirs.Close()
	data, err := json.Marshal(keeping{Plain: u.plain, Limits: u.limits, Cgroups: len(k.group.join)})
	var plan *os.File
	if err == nil {
		plan, err = pass("keeping", data)
	}
	if err == nil {
		defer plan.Close()
		k.cmd = exec.Command(s.self, InitCommand, roleKeep) //nolint:noctx // it outlives the call that it is started for
		k.cmd.Env = []string{"GOMAXPROCS=2"}
		k.cmd.Dir = "/"
		k.cmd.Stdin = theirs
		k.cmd.ExtraFiles = append([]*os.File{plan}, k.group.join...)
		k.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err = k.cmd.Start(); err != nil {
			err = fmt.Errorf("this program can't be started once more, to watch over commands: %w", err)
		}
	}
	if err != nil {
		_ = ours.Close()
		k.group.remove()
		return nil, err
	}
	k.conn = ours
	return k, nil
}

// socketPair is a connection that keeps messages apart; the other end is for a
// child.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	a, theirs := os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "server")
	defer a.Close()
	conn, err := net.FileConn(a)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil //nolint:forcetypeassert // it was made of such a socket
}

// send hands a command over, and waits until it runs. begun is false when it
// was not even tried.
func (k *keeper) send(j job, files []*os.File) (t told, begun bool, err error) {
	data, err := json.Marshal(j)
	if err != nil {
		return t, true, err
	}
	f, err := pass("job", data)
	if err != nil {
		return t, true, err
	}
	defer f.Close()
	fds := []int{int(f.Fd())}
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	_ = k.cmd.Process.Signal(syscall.SIGCONT) // a command may have stopped it
	if _, _, err = k.conn.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil); err != nil {
		return t, false, err
	}
	if t, err = k.hear(); err != nil {
		info, failed := f.Stat()
		begun = failed != nil || info.Size() > int64(len(data)) // see receiveJob
	}
	return t, begun, err
}

// errKeeperGone is the end of a keeper before that of its command.
var errKeeperGone = errors.New("the process that kept the command's processes together has ended, which only another process can have caused; what was left of the command was ended")

// hear waits for what a keeper says.
func (k *keeper) hear() (t told, err error) {
	var b [8 << 10]byte
	n, err := k.conn.Read(b[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return t, err
	}
	if err != nil || n == 0 {
		return t, errKeeperGone
	}
	return t, json.Unmarshal(b[:n], &t)
}

// kill ends all that is below the keeper.
func (k *keeper) kill() {
	k.group.kill(k.cmd.Process.Pid)
	_ = k.cmd.Process.Signal(syscall.SIGCONT)
	endTree(k.cmd.Process.Pid, killPatience, nil)
}

// leave lets a keeper end what is left, and itself.
func (k *keeper) leave() {
	_ = k.conn.Close()
	_ = k.cmd.Wait()
	k.group.remove()
}

// end gives a keeper up that has nothing to keep.
func (k *keeper) end() {
	_ = k.conn.Close()
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait() // says that it was killed
	k.group.remove()
}

// lent is a keeper that runs a command.
type lent struct {
	s     *Sandbox
	use   use
	job   job
	files []*os.File // that it inherits besides its streams
	locks []*os.File // of job.Guarded, which the keeper holds

	mu     sync.Mutex
	k      *keeper // while it may be alive
	killed bool
}

// start lends a keeper. One that ended while it waited is replaced.
func (c *lent) start(in, out, said *os.File) error {
	files := slices.Concat([]*os.File{in, out, said}, c.files, c.locks)
	for {
		k := c.s.keepers.acquire(c.use)
		waited := k != nil
		if !waited {
			var err error
			if k, err = c.s.newKeeper(c.use); err != nil {
				return err
			}
		}
		c.hold(k)
		t, begun, err := k.send(c.job, files)
		if err == nil && t.Failed == "" {
			return nil
		}
		again := waited && !begun && !c.let(err == nil)
		switch {
		case err == nil:
			return &setupError{t.Failed}
		case !again:
			return &setupError{err.Error()}
		}
	}
}

// hold notes which keeper it is that kill is about.
func (c *lent) hold(k *keeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.k = k; c.killed {
		k.stop()
	}
}

// let is the end of a command for a keeper, which is well and waits for the
// next one, or is not. It reports whether the command was killed.
func (c *lent) let(well bool) (killed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.k
	c.k = nil
	switch {
	case well && !c.killed:
		c.s.keepers.release(k)
	case well:
		k.end()
	case c.killed:
		go k.leave()
	default:
		k.kill()
		go k.leave()
	}
	return c.killed
}

func (c *lent) wait() (int, error) {
	t, err := c.k.hear()
	if c.let(err == nil && !t.Left) {
		return 128 + int(syscall.SIGKILL), nil
	}
	return t.Code, err
}

// kill ends the command's processes. The keeper is done with it, too: control
// groups may not spare it, and it may have to go on ending what is left.
func (c *lent) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed = true; c.k != nil {
		c.k.stop()
	}
}

// stop ends what is below the keeper, which says so, or is not heard any more.
func (k *keeper) stop() {
	k.kill()
	_ = k.conn.SetReadDeadline(time.Now().Add(killPatience))
}
