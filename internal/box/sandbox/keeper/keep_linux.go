package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/rights"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// A keeper is a process between the server and its commands, of which it runs
// one at a time: their processes are below it, whatever they do, and end with
// it or with the server. It stays for the next command, because starting it
// takes longer than most commands do.

// treePatience is how long the end of a tree of processes may take. It takes
// moments, but a machine under load ends nothing soon, and what is left then
// stays.
const treePatience = 10 * time.Second

// namespacePatience is how long the kernel may take to end a namespace before
// it is helped.
const namespacePatience = 50 * time.Millisecond

// keeping is what a keeper is told at its start, as JSON on descriptor planFD.
// Its standard input is the socket to the server.
type keeping struct {
	Plain   bool // its commands are not confined: it sets their limits itself
	Limits  spec.Limits
	Cgroups int // so many descriptors after planFD are cgroup.procs files to join
}

// Job is a command for a keeper, as JSON in the first of the descriptors that
// come with a message. Three of them are the command's streams, and the
// others are numbered from planFD.
type Job struct {
	Path      string // "" is looked for as a shell does
	Argv, Env []string
	Dir       string
	Own       string // a directory that goes with the command, also when the server is gone
	Namespace bool   // of processes, which the kernel ends with the command
	Record    string // Spec.Record
	Mounts    bool   // it makes mounts, for itself alone

	// Guarded are directories whose locks are the last of the descriptors. They
	// are held until nothing is left of the command.
	Guarded []string
}

// told is what a keeper says: of each job, whether it runs, and then how it
// ended.
type told struct {
	Failed string // why it does not run
	Ended  bool
	Code   int
	Left   bool // processes that could not be ended
}

// MaxFiles bounds the descriptors of a message.
const MaxFiles = 32

// RunKeeper is the life of a keeper. When the server is gone, after is called with the
// record of its command, and sweep with the directories that it was guarded in.
func RunKeeper(after func(record string), sweep func(dir string)) int {
	runtime.LockOSThread() // rights are a thread's, and so is the death of a parent
	say := func(t told) bool {
		data, err := json.Marshal(t)
		if err == nil {
			err = unix.Sendto(0, data, unix.MSG_NOSIGNAL, nil)
		}
		return err == nil
	}
	if err := beginKeeping(); err != nil {
		say(told{Failed: err.Error()})
		return child.ExitSetup
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	jobs := make(chan []*os.File)
	var has atomic.Pointer[belongings]
	go func() {
		receive(jobs)
		// From here on nothing is begun. And a child that is just being made must
		// not be stopped: until it runs its program this process waits for it, and
		// would not come to end it.
		syscall.ForkLock.Lock()
		// What runs away by making another process of itself all the time may be
		// missed in the table of processes, but not as a child. That the status of
		// the command is lost doesn't matter to anybody.
		endTree(os.Getpid(), treePatience, reapAll)
		for _, dir := range remove(&has) {
			sweep(dir) // what the server would do
		}
		if b := has.Load(); b != nil && b.record != nil && after != nil {
			after(b.record.Name())
		}
		os.Exit(0) // and the record's lock goes
	}()
	for files := range jobs {
		cmd, namespace, err := startJob(files, &has)
		if err != nil {
			remove(&has)
			forget(&has)
			say(told{Failed: err.Error()})
			continue
		}
		if !say(told{}) {
			endTree(os.Getpid(), treePatience, nil)
		}
		end := told{Ended: true, Code: exitCode(cmd.Wait())}
		if namespace {
			reapSoon(ended) // its first process goes a moment later
		}
		if !reapAll() {
			endTree(os.Getpid(), treePatience, reapAll)
			end.Left = !reapAll()
		}
		remove(&has)
		if say(end) {
			forget(&has) // the rest is the server's
		}
	}
	return 0
}

// beginKeeping makes this process one that orphans fall back to, in the groups
// and with the limits of its commands.
func beginKeeping() error {
	var k keeping
	if err := child.Inherited(&k); err != nil {
		return fmt.Errorf("the plan can't be read: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("orphans can't be kept: %w", err)
	}
	// Signals that are meant for the server or a command are not for this one.
	// They are not ignored, which commands would inherit.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE)
	makeThreads(keeperThreads)
	// The first process that Go makes or looks up has it try what the kernel can,
	// by a child that ForkLock knows nothing of: it could be stopped by endTree.
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release()
	}
	for i := range k.Cgroups {
		_, err := unix.Write(child.PlanFD+1+i, []byte("0"))
		if err = errors.Join(err, unix.Close(child.PlanFD+1+i)); err != nil {
			return fmt.Errorf("the control group can't be joined: %w", err)
		}
	}
	// What the server inherited is not for commands.
	if err := unix.CloseRange(child.PlanFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("descriptors can't be closed: %w", err)
	}
	if !k.Plain {
		return nil
	}
	rights.SetLimits(k.Limits, false)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("new privileges can't be ruled out: %w", err)
	}
	return nil
}

// keeperThreads is how many threads a keeper has at hand: more than it has
// goroutines.
const keeperThreads = 12

// makeThreads makes so many threads, which the runtime then keeps. Where a
// command has filled its group with processes no further one can be had, and a
// runtime that needs one ends its process.
func makeThreads(n int) {
	var there, gone sync.WaitGroup
	there.Add(n)
	hold := make(chan struct{})
	for range n {
		gone.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			there.Done()
			<-hold
		})
	}
	there.Wait()
	close(hold)
	gone.Wait()
}

// belongings go with a command.
type belongings struct {
	own     string
	record  *os.File // locked; nil: there is none
	guarded []string
	locks   []*os.File // of guarded
}

// remove takes away what goes with a command, and returns the directories that
// it held locks of. Twice does no harm.
func remove(has *atomic.Pointer[belongings]) (guarded []string) {
	b := has.Load()
	if b == nil {
		return nil
	}
	if b.own != "" {
		_ = os.RemoveAll(b.own)
	}
	for _, f := range b.locks {
		f.Close()
	}
	return b.guarded
}

// forget gives up what went with a command.
func forget(has *atomic.Pointer[belongings]) {
	if b := has.Swap(nil); b != nil && b.record != nil {
		b.record.Close()
	}
}

// receive hands on what the server sends, until it is gone or wants the end.
func receive(jobs chan<- []*os.File) {
	oob := make([]byte, unix.CmsgSpace(4*MaxFiles))
	for {
		var b [1]byte
		n, oobn, _, _, err := unix.Recvmsg(0, b[:], oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		jobs <- child.FilesOf(oob[:oobn])
	}
}

// startJob starts a command. The files are closed, but for those that has gets.
func startJob(files []*os.File, has *atomic.Pointer[belongings]) (_ *exec.Cmd, namespace bool, _ error) {
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if len(files) < 4 {
		return nil, false, errors.New("descriptors are missing")
	}
	var j Job
	if err := receiveJob(files[0], &j); err != nil {
		return nil, false, fmt.Errorf("the command can't be read: %w", err)
	}
	locks := max(4, len(files)-len(j.Guarded))
	b := &belongings{own: j.Own, guarded: j.Guarded, locks: files[locks:]}
	if j.Record != "" {
		f, err := os.Open(j.Record)
		if err != nil {
			return nil, false, fmt.Errorf("the record of the command: %w", err)
		}
		b.record = f
		if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil && err != unix.ENOLCK && err != unix.EOPNOTSUPP {
			f.Close()
			return nil, false, fmt.Errorf("the record of the command: %w", err)
		}
	}
	has.Store(b)
	files = files[:locks]
	if info, err := os.Stat(j.Dir); err != nil {
		return nil, false, fmt.Errorf("the working directory: %w", err)
	} else if !info.IsDir() {
		return nil, false, fmt.Errorf("the working directory: %s is none", j.Dir)
	}
	plain := j.Path == ""
	if plain {
		var err error
		if j.Path, err = child.Find(j.Argv[0], j.Env, j.Dir); err != nil {
			return nil, false, err
		}
	}
	cmd := &exec.Cmd{
		Path: j.Path, Args: j.Argv, Env: j.Env, Dir: j.Dir,
		Stdin: files[1], Stdout: files[2], Stderr: files[3], ExtraFiles: files[4:],
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	if cmd.Env == nil {
		cmd.Env = []string{} // a nil one would be the keeper's
	}
	if j.Mounts {
		child.OwnNamespaces(cmd.SysProcAttr, unix.CAP_SYS_ADMIN)
	}
	if plain {
		// The command inherits how willing the kernel is to end it.
		defer rights.SetOOMScore(rights.OOMScore())
		rights.SetOOMScore(rights.Expendable)
	}
	return cmd, j.Namespace, cmd.Start()
}

// receiveJob reads a command. That it did is seen in the file, which the server
// has, too: a command that was never begun is given to another keeper.
func receiveJob(f *os.File, j *Job) error {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 64<<20))
	if err == nil {
		err = json.Unmarshal(data, j)
	}
	if err == nil {
		_, err = f.WriteAt([]byte{'\n'}, int64(len(data)))
	}
	return err
}

// exitCode is that of a command, as shells have it: 128 + n when signal n ended
// it.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return child.ExitSetup
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// reapSoon waits a moment until no child is left; ended tells of each end.
func reapSoon(ended <-chan os.Signal) {
	late := time.After(namespacePatience)
	for !reapAll() {
		select {
		case <-ended:
		case <-late:
			return
		}
	}
}

// reapAll takes note of all children that have ended, and reports whether none
// is left. Then there is nothing below this process, as orphans fall back to it.
func reapAll() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return errors.Is(err, syscall.ECHILD)
		}
		if err == nil && pid == 0 {
			return false
		}
	}
}
