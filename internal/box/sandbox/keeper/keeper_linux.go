package keeper

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

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// killPatience bounds the end of a tree that is ended from the server.
const killPatience = 250 * time.Millisecond

// Keeper is the server's side of a keeper.
type Keeper struct {
	use   use
	proc  handle
	conn  *net.UnixConn
	group *cgroup
}

// handle is a hold of the process of a keeper.
type handle interface {
	Pid() int
	Signal(sig syscall.Signal) error
	Wait() error
}

// own is a process that is a child of this one.
type own struct{ *exec.Cmd }

func (o own) Pid() int                        { return o.Process.Pid }
func (o own) Signal(sig syscall.Signal) error { return o.Process.Signal(sig) }

// use is what a keeper was started for.
type use struct {
	plain   bool
	limits  spec.Limits
	network *boxnet.Joint // in which it runs; nil: in that of the machine
}

// Keepers are those that wait for a command, the one that waits longest first.
type Keepers struct {
	Self string // the path of this program

	mu     sync.Mutex
	idle   []*Keeper
	closed bool
}

// MaxIdle bounds them, for each network: commands of one session follow each other, so
// more are for those that were started side by side.
const MaxIdle = 2

// acquire returns a keeper that waits, or nil.
func (p *Keepers) acquire(u use) *Keeper {
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
func (p *Keepers) release(k *Keeper) {
	p.mu.Lock()
	p.idle = append(p.idle, k)
	var out []*Keeper
	if p.closed {
		out, p.idle = p.idle, nil
	} else {
		same, left := 0, make([]*Keeper, 0, len(p.idle))
		for _, i := range slices.Backward(p.idle) {
			if i.use.network == k.use.network {
				same++
			}
			if i.use.network == k.use.network && same > MaxIdle || i.use.over() {
				out = append(out, i)
			} else {
				left = append(left, i)
			}
		}
		slices.Reverse(left)
		p.idle = left
	}
	p.mu.Unlock()
	for _, k := range out {
		k.end()
	}
}

// over reports whether nothing is to be started in its network any more.
func (u use) over() bool {
	if u.network == nil {
		return false
	}
	select {
	case <-u.network.Left():
		return true
	default:
		return u.network.Ended()
	}
}

// Sweep ends the keepers that wait in networks of sessions which have ended.
func (p *Keepers) Sweep() {
	p.mu.Lock()
	var out []*Keeper
	p.idle = slices.DeleteFunc(p.idle, func(k *Keeper) bool {
		if !k.use.over() {
			return false
		}
		out = append(out, k)
		return true
	})
	p.mu.Unlock()
	for _, k := range out {
		k.end()
	}
}

// Idle are the keepers that wait.
func (p *Keepers) Idle() []*Keeper {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.idle)
}

// Close ends the keepers that wait, and those that commands still have after them.
func (p *Keepers) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, k := range idle {
		k.end()
	}
}

// newKeeper starts one. It is ready when it answers its first command.
func newKeeper(self string, cgroups []string, u use) (_ *Keeper, err error) {
	k := &Keeper{use: u}
	if k.group, err = newCgroup(cgroups, u.limits); err != nil {
		k.group = &cgroup{} // the others of the limits hold
	}
	ours, theirs, err := child.SocketPair()
	if err != nil {
		k.group.remove()
		return nil, err
	}
	defer theirs.Close()
	data, err := json.Marshal(keeping{Plain: u.plain, Limits: u.limits, Cgroups: len(k.group.join)})
	var plan *os.File
	if err == nil {
		plan, err = child.Pass("keeping", data)
	}
	if err == nil {
		defer plan.Close()
		if err = k.begin(self, theirs, append([]*os.File{plan}, k.group.join...)); err != nil {
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

// begin starts the process. In a network of a session, the process that lives there
// starts it.
func (k *Keeper) begin(self string, in *os.File, more []*os.File) error {
	argv, env := []string{self, child.InitCommand, child.RoleKeep}, []string{"GOMAXPROCS=2"}
	if n := k.use.network; n != nil {
		p, err := n.StartProgram(boxnet.Program{Path: self, Argv: argv, Env: env}, in, more...)
		if err == nil {
			k.proc = p
		}
		return err
	}
	cmd := exec.Command(self, argv[1:]...) //nolint:noctx // it outlives the call that it is started for
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.ExtraFiles = env, "/", in, more
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	k.proc = own{cmd}
	return cmd.Start()
}

// send hands a command over, and waits until it runs. begun is false when it
// was not even tried.
func (k *Keeper) send(j Job, files []*os.File) (t told, begun bool, err error) {
	data, err := json.Marshal(j)
	if err != nil {
		return t, true, err
	}
	f, err := child.Pass("job", data)
	if err != nil {
		return t, true, err
	}
	defer f.Close()
	fds := []int{int(f.Fd())}
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	_ = k.proc.Signal(syscall.SIGCONT) // a command may have stopped it
	if _, _, err = k.conn.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil); err != nil {
		return t, false, err
	}
	if t, err = k.hear(); err != nil {
		info, failed := f.Stat()
		begun = failed != nil || info.Size() > int64(len(data)) // see receiveJob
	}
	return t, begun, err
}

// ErrKeeperGone is the end of a keeper before that of its command.
var ErrKeeperGone = errors.New("the process that kept the command's processes together has ended, which only another process can have caused; what was left of the command was ended")

// hear waits for what a keeper says.
func (k *Keeper) hear() (t told, err error) {
	var b [8 << 10]byte
	n, err := k.conn.Read(b[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return t, err
	}
	if err != nil || n == 0 {
		return t, ErrKeeperGone
	}
	return t, json.Unmarshal(b[:n], &t)
}

// kill ends all that is below the keeper.
func (k *Keeper) kill() {
	k.group.kill(k.proc.Pid())
	_ = k.proc.Signal(syscall.SIGCONT)
	endTree(k.proc.Pid(), killPatience, nil)
}

// Leave lets a keeper end what is left, and itself, as it does when the server is gone.
func (k *Keeper) Leave() error {
	_ = k.conn.Close()
	err := k.proc.Wait()
	k.group.remove()
	return err
}

// Pid is the keeper's process.
func (k *Keeper) Pid() int { return k.proc.Pid() }

// Groups are the directories of its control groups.
func (k *Keeper) Groups() []string { return k.group.dirs }

// end gives a keeper up that has nothing to keep.
func (k *Keeper) end() {
	_ = k.conn.Close()
	_ = k.proc.Signal(syscall.SIGKILL)
	_ = k.proc.Wait() // says that it was killed
	k.group.remove()
}

// Run returns the run of a command by one of these keepers, with these directories for
// its control groups. It is plain when nothing else confines it.
func (p *Keepers) Run(cgroups []string, plain bool, limits spec.Limits) *Run {
	return &Run{keepers: p, cgroups: cgroups, use: use{plain: plain, limits: limits}}
}

// Warm starts a keeper in a network, for its first command.
func (p *Keepers) Warm(cgroups []string, limits spec.Limits, n *boxnet.Joint) {
	if k, err := newKeeper(p.Self, cgroups, use{limits: limits, network: n}); err == nil {
		p.release(k)
	}
}

// In has the command run in a network.
func (c *Run) In(n *boxnet.Joint) { c.use.network = n }

// Run is a command that a keeper runs.
type Run struct {
	keepers *Keepers
	cgroups []string
	use     use
	Job     Job
	Files   []*os.File // that it inherits besides its streams
	Locks   []*os.File // of job.Guarded, which the keeper holds

	mu     sync.Mutex
	k      *Keeper // while it may be alive
	killed bool
	base   time.Duration // the CPU time of the keeper's control group before
	tally  tally         // where it has none that counts
	spent  time.Duration // that of this one, once it has ended
}

// Start lends a keeper. One that ended while it waited is replaced.
func (c *Run) Start(in, out, said *os.File) error {
	files := slices.Concat([]*os.File{in, out, said}, c.Files, c.Locks)
	for {
		k := c.keepers.acquire(c.use)
		waited := k != nil
		if !waited {
			var err error
			if k, err = newKeeper(c.keepers.Self, c.cgroups, c.use); err != nil {
				return err
			}
		}
		c.hold(k)
		t, begun, err := k.send(c.Job, files)
		if err == nil && t.Failed == "" {
			return nil
		}
		again := waited && !begun && !c.let(err == nil)
		switch {
		case err == nil:
			return &spec.SetupError{Said: t.Failed}
		case !again:
			return &spec.SetupError{Said: err.Error()}
		}
	}
}

// Keeper is the one that runs it; nil before the start and after the end.
func (c *Run) Keeper() *Keeper {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.k
}

// Process is the keeper's number, while it runs the command: all of its processes are below
// it.
func (c *Run) Process() int {
	if k := c.Keeper(); k != nil {
		return k.Pid()
	}
	return 0
}

// hold notes which keeper it is that kill is about.
func (c *Run) hold(k *Keeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, _ = k.group.cpu()
	c.tally = tally{}
	c.tally.add([]used{usage(k.Pid())})
	if c.k = k; c.killed {
		k.stop()
	}
}

// let is the end of a command for a keeper, which is well and waits for the
// next one, or is not. It reports whether the command was killed.
func (c *Run) let(well bool) (killed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.k
	c.k = nil
	switch {
	case well && !c.killed:
		c.keepers.release(k)
	case well:
		k.end()
	case c.killed:
		go func() { _ = k.Leave() }()
	default:
		k.kill()
		go func() { _ = k.Leave() }()
	}
	return c.killed
}

// Wait waits until nothing is left of the command.
func (c *Run) Wait() (int, error) {
	t, err := c.k.hear()
	c.mu.Lock()
	c.spent = c.count([]used{usage(c.k.Pid())})
	c.mu.Unlock()
	if c.let(err == nil && !t.Left) {
		return 128 + int(syscall.SIGKILL), nil
	}
	return t.Code, err
}

// Kill ends the command's processes. The keeper is done with it, too: control
// groups may not spare it, and it may have to go on ending what is left.
func (c *Run) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed = true; c.k != nil {
		c.k.stop()
	}
}

// stop ends what is below the keeper, which says so, or is not heard any more.
func (k *Keeper) stop() {
	k.kill()
	_ = k.conn.SetReadDeadline(time.Now().Add(killPatience))
}
