package mount

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// A mounter is a process that makes overlays: an ordinary user may, in a
// namespace of users of its own. It keeps each in its table of mounts, over the
// directory that is the kernel's own, and hands out copies as descriptors: only what
// stands in its own table can a process copy before Linux 6.15. Copies go
// with the last process that has them, and the rest with the mounter.

// Mounter is the server's side of it.
type Mounter struct {
	Self string // the path of this program

	mu   sync.Mutex
	cmd  *exec.Cmd
	conn *net.UnixConn
}

// mounting is a request to a mounter about an overlay, and mountAnswer its answer,
// with which a copy may come.
type mounting struct {
	Do string
	spec.Overlay
}

type mountAnswer struct{ Failed string }

// What a mounter does.
const (
	mountMake    = "make"
	mountCopy    = "copy"
	mountRefresh = "refresh"
	mountDrop    = "drop"
)

// Mount is an overlay that is there until it is closed, and as long as a command
// has it.
type Mount struct {
	m    *Mounter
	o    spec.Overlay
	copy *os.File // this process's own
}

// Overlay makes an overlay.
func (m *Mounter) Overlay(o spec.Overlay) (*Mount, error) {
	f, err := m.copyOf(mounting{mountMake, o})
	if err != nil {
		return nil, fmt.Errorf("the overlay can't be mounted: %w", err)
	}
	return &Mount{m, o, f}, nil
}

func (m *Mounter) copyOf(what mounting) (*os.File, error) {
	f, err := m.ask(what)
	if err == nil && f == nil {
		err = errors.New("no mount came")
	}
	return f, err
}

// Path is where this process finds the overlay: the kernel follows that link,
// other than anybody who reads it.
func (m *Mount) Path() string { return fmt.Sprintf("/proc/self/fd/%d", m.copy.Fd()) }

// Refresh makes the kernel forget the names in the overlay that nobody uses: what
// was changed below it since somebody asked for them is seen then.
func (m *Mount) Refresh() error {
	_, err := m.m.ask(mounting{mountRefresh, m.o})
	return err
}

// Close gives the overlay up.
func (m *Mount) Close() {
	m.copy.Close()
	_, _ = m.m.ask(mounting{mountDrop, m.o}) // fails where the mounter was another, and the mount gone with it
}

// Copy is another one for a command.
func (m *Mount) Copy() (*os.File, error) {
	f, err := m.m.copyOf(mounting{mountCopy, m.o})
	if err != nil {
		return nil, fmt.Errorf("there is no copy of the overlay for the command: %w", err)
	}
	return f, nil
}

// ask starts the mounter if it is not there, and asks it.
func (m *Mounter) ask(what mounting) (*os.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Self == "" {
		return nil, errors.New("the server does not know the path of its own program")
	}
	waited := m.conn != nil
	if !waited {
		if err := m.start(); err != nil {
			return nil, err
		}
	}
	f, answered, err := m.exchange(what)
	if answered {
		return f, err
	}
	m.end()
	if !waited {
		return nil, err
	}
	if err := m.start(); err != nil { // it was ended meanwhile
		return nil, err
	}
	f, answered, err = m.exchange(what)
	if !answered {
		m.end()
	}
	return f, err
}

func (m *Mounter) start() error {
	ours, theirs, err := child.SocketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	attr := &syscall.SysProcAttr{Setsid: true}
	child.OwnNamespaces(attr, unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_CHOWN, unix.CAP_FSETID)
	cmd := exec.Command(m.Self, child.InitCommand, child.RoleMount) //nolint:noctx // it ends with its socket
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.SysProcAttr = []string{"GOMAXPROCS=1"}, "/", theirs, attr
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return err
	}
	m.cmd, m.conn = cmd, ours
	return nil
}

// exchange is a question and its answer; answered is false when the mounter is
// gone.
func (m *Mounter) exchange(what mounting) (f *os.File, answered bool, err error) {
	data, err := json.Marshal(what)
	if err != nil {
		return nil, true, err
	}
	if _, _, err := m.conn.WriteMsgUnix(data, nil, nil); err != nil {
		return nil, false, err
	}
	var b [4 << 10]byte
	oob := make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := m.conn.ReadMsgUnix(b[:], oob)
	if err != nil {
		return nil, false, err
	}
	if n == 0 {
		return nil, false, errors.New("the process that mounts has ended")
	}
	if files := child.FilesOf(oob[:oobn]); len(files) == 1 {
		f = files[0]
	}
	var a mountAnswer
	if err = json.Unmarshal(b[:n], &a); err == nil && a.Failed != "" {
		err = errors.New(a.Failed)
	}
	return f, true, err
}

// end gives the mounter up.
func (m *Mounter) end() {
	if m.conn == nil {
		return
	}
	_ = m.conn.Close()
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait() // says that it was killed
	m.conn = nil
}

// Close ends the mounter. The next overlay starts another.
func (m *Mounter) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end()
}

// RunMounter is the life of a mounter.
func RunMounter() int {
	runtime.LockOSThread()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return child.ExitSetup // nothing of it may be seen outside
	}
	made := map[string]bool{} // by their work directories, over which they stand
	for {
		b := make([]byte, 16<<10)
		n, err := unix.Read(0, b)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return 0 // the server is gone
		}
		var what mounting
		fd := -1
		if err = json.Unmarshal(b[:n], &what); err == nil {
			fd, err = what.carryOut(made)
		}
		var a mountAnswer
		var rights []byte
		if err != nil {
			a.Failed = err.Error()
		} else if fd >= 0 {
			rights = unix.UnixRights(fd)
		}
		data, err := json.Marshal(a)
		if err == nil {
			err = unix.Sendmsg(0, data, rights, nil, unix.MSG_NOSIGNAL)
		}
		if fd >= 0 {
			unix.Close(fd)
		}
		if err != nil {
			return 0
		}
	}
}

// carryOut does what a mounter was asked for.
func (w mounting) carryOut(made map[string]bool) (copied int, err error) {
	at := w.Work
	if w.Do != mountMake && !made[at] {
		return -1, errors.New("it is not mounted any more")
	}
	switch w.Do {
	case mountMake:
		fd, err := mountOverlay(w.Overlay)
		if err != nil {
			return -1, err
		}
		defer unix.Close(fd)
		if err := unix.MoveMount(fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return -1, fmt.Errorf("it can't be put in its place: %w", err)
		}
		made[at] = true
	case mountRefresh:
		return -1, refresh(at)
	case mountDrop:
		delete(made, at)
		return -1, unix.Unmount(at, unix.MNT_DETACH)
	}
	return unix.OpenTree(unix.AT_FDCWD, at, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
}

// mountOverlay makes an overlay. Its directories are named by descriptors, so that
// their paths may have any characters, and are not shown in the table of mounts
// that a command can read.
func mountOverlay(o spec.Overlay) (int, error) {
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("the kernel has no overlays for this user: %w", err)
	}
	defer unix.Close(fs)
	var open []int
	defer func() {
		for _, dir := range open {
			_ = unix.Close(dir)
		}
	}()
	set := func(key string, paths ...string) error {
		var names []string
		for _, path := range paths {
			dir, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			open = append(open, dir)
			names = append(names, fmt.Sprintf("/proc/self/fd/%d", dir))
		}
		if err := unix.FsconfigSetString(fs, key, strings.Join(names, ":")); err != nil {
			return fmt.Errorf("%s of the overlay: %w%s", key, err, kernelSays(fs))
		}
		return nil
	}
	if len(o.Between) > spec.MaxBetween {
		return -1, fmt.Errorf("an overlay has at most %d layers between", spec.MaxBetween)
	}
	if err := errors.Join(set("lowerdir", append(slices.Clone(o.Between), o.Lower)...), set("upperdir", o.Upper), set("workdir", o.Work)); err != nil {
		return -1, err
	}
	// The format on the disk that an ordinary user can write, for root too.
	if err := unix.FsconfigSetFlag(fs, "userxattr"); err != nil {
		return -1, fmt.Errorf("userxattr of the overlay: %w%s", err, kernelSays(fs))
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("%w%s", err, kernelSays(fs))
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

// kernelSays is what the kernel has written down about a mount that failed.
func kernelSays(fs int) string {
	b := make([]byte, 1024)
	if n, err := unix.Read(fs, b); err == nil && n > 2 {
		return " (" + strings.TrimSpace(string(b[2:n])) + ")"
	}
	return ""
}

// refresh has the kernel read the mount's settings again, the same ones.
func refresh(at string) error {
	fs, err := unix.Fspick(unix.AT_FDCWD, at, unix.FSPICK_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fs)
	return unix.FsconfigReconfigure(fs)
}
