package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A mounter is a process that makes overlays: an ordinary user may, in a
// namespace of users of its own. The server gets each mount as a descriptor. It
// is in nobody's table, and goes with the last process that has it.

// mounter is the server's side of it.
type mounter struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	conn *net.UnixConn
}

// mounting is a request to a mounter, and mountAnswer its answer. The mount comes with
// the answer, or with the request that is to refresh one.
type mounting struct {
	Overlay
	Refresh bool
}

type mountAnswer struct{ Failed string }

// Overlay makes an overlay.
func (s *Sandbox) Overlay(o Overlay) (*os.File, error) {
	f, err := s.mounter.ask(s.self, mounting{Overlay: o}, nil)
	if err == nil && f == nil {
		err = errors.New("no mount came")
	}
	if err != nil {
		return nil, fmt.Errorf("the overlay can't be mounted: %w", err)
	}
	return f, nil
}

// Refresh makes the kernel forget the names in an overlay that nobody uses: what
// was changed below it since somebody asked for them is seen then.
func (s *Sandbox) Refresh(mount *os.File) error {
	_, err := s.mounter.ask(s.self, mounting{Refresh: true}, mount)
	return err
}

// ask starts the mounter if it is not there, and asks it.
func (m *mounter) ask(self string, what mounting, with *os.File) (*os.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if self == "" {
		return nil, errors.New("the server does not know the path of its own program")
	}
	waited := m.conn != nil
	if !waited {
		if err := m.start(self); err != nil {
			return nil, err
		}
	}
	f, answered, err := m.exchange(what, with)
	if answered {
		return f, err
	}
	m.end()
	if !waited {
		return nil, err
	}
	if err := m.start(self); err != nil { // it was ended meanwhile
		return nil, err
	}
	f, answered, err = m.exchange(what, with)
	if !answered {
		m.end()
	}
	return f, err
}

func (m *mounter) start(self string) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	attr := &syscall.SysProcAttr{Setsid: true}
	ownNamespaces(attr, unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_CHOWN, unix.CAP_FSETID)
	cmd := exec.Command(self, InitCommand, roleMount) //nolint:noctx // it ends with its socket
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.SysProcAttr = []string{"GOMAXPROCS=1"}, "/", theirs, attr
	if err := cmd.Start(); err != nil {
		ours.Close()
		return err
	}
	m.cmd, m.conn = cmd, ours
	return nil
}

// exchange is a question and its answer; answered is false when the mounter is
// gone.
func (m *mounter) exchange(what mounting, with *os.File) (f *os.File, answered bool, err error) {
	data, err := json.Marshal(what)
	if err != nil {
		return nil, true, err
	}
	var rights []byte
	if with != nil {
		rights = unix.UnixRights(int(with.Fd()))
	}
	if _, _, err := m.conn.WriteMsgUnix(data, rights, nil); err != nil {
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
	if files := filesOf(oob[:oobn]); len(files) == 1 {
		f = files[0]
	}
	var a mountAnswer
	if err = json.Unmarshal(b[:n], &a); err == nil && a.Failed != "" {
		err = errors.New(a.Failed)
	}
	return f, true, err
}

// end gives the mounter up.
func (m *mounter) end() {
	if m.conn == nil {
		return
	}
	m.conn.Close()
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait() // says that it was killed
	m.conn = nil
}

func (m *mounter) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end()
}

// runMounter is the life of a mounter.
func runMounter() int {
	runtime.LockOSThread()
	for {
		b := make([]byte, 16<<10)
		oob := make([]byte, unix.CmsgSpace(4))
		n, oobn, _, _, err := unix.Recvmsg(0, b, oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return 0 // the server is gone
		}
		var what mounting
		fd := -1
		err = json.Unmarshal(b[:n], &what)
		files := filesOf(oob[:oobn])
		switch {
		case err != nil:
		case what.Refresh && len(files) == 1:
			err = refresh(int(files[0].Fd()))
		default:
			fd, err = what.Overlay.mount()
		}
		for _, f := range files {
			f.Close()
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

// mount makes the overlay. Its directories are named by descriptors, so that
// their paths may have any characters, and are not shown in the table of mounts
// that a command can read.
func (o Overlay) mount() (int, error) {
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("the kernel has no overlays for this user: %w", err)
	}
	defer unix.Close(fs)
	for _, d := range []struct{ key, path string }{{"lowerdir", o.Lower}, {"upperdir", o.Upper}, {"workdir", o.Work}} {
		dir, err := unix.Open(d.path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, fmt.Errorf("%s: %w", d.path, err)
		}
		defer unix.Close(dir)
		if err := unix.FsconfigSetString(fs, d.key, fmt.Sprintf("/proc/self/fd/%d", dir)); err != nil {
			return -1, fmt.Errorf("%s of the overlay: %w%s", d.key, err, kernelSays(fs))
		}
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
		return " (" + string(b[2:n]) + ")"
	}
	return ""
}

// refresh has the kernel read the mount's settings again, the same ones.
func refresh(mount int) error {
	fs, err := unix.Fspick(mount, "", unix.FSPICK_EMPTY_PATH|unix.FSPICK_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fs)
	return unix.FsconfigReconfigure(fs)
}
