package probe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// kernelAttempts reach for other processes, for more rights, and for parts of
// the kernel that no command needs.
var kernelAttempts = []attempt{
	{"signal a process outside", spec.Landlock, true, func(w *scene) error { return unix.Kill(w.Victim, 0) }},
	{"trace a process outside", spec.Landlock, false, func(w *scene) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.PtraceSeize(w.Victim); err != nil {
			return err
		}
		_ = unix.PtraceInterrupt(w.Victim)
		_, err := unix.Wait4(w.Victim, nil, unix.WALL, nil)
		return errors.Join(err, unix.PtraceDetach(w.Victim))
	}},
	{"read memory by process_vm_readv", spec.Landlock, false, func(*scene) error {
		from, to := []byte("x"), make([]byte, 1)
		local, remote := []unix.Iovec{{Base: &to[0], Len: 1}}, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&from[0])), Len: 1}}
		_, err := unix.ProcessVMReadv(os.Getpid(), local, remote, 0)
		runtime.KeepAlive(from)
		return err
	}},
	{"take a descriptor of another process", spec.Landlock, false, func(w *scene) error {
		pidfd, err := unix.PidfdOpen(w.Victim, 0)
		if err != nil {
			return err
		}
		defer unix.Close(pidfd)
		fd, err := unix.PidfdGetfd(pidfd, 0, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
	{"make a user namespace", spec.Landlock, true, func(*scene) error { return clone(unix.CLONE_NEWUSER) }},
	{"make a mount namespace", spec.Landlock, false, func(*scene) error { return clone(unix.CLONE_NEWNS) }},
	{"make user and mount namespaces", spec.Landlock, false, func(*scene) error { return clone(unix.CLONE_NEWUSER | unix.CLONE_NEWNS) }},
	{"leave namespaces by unshare", spec.Landlock, false, func(*scene) error {
		return ownThread(func() error { return unix.Unshare(unix.CLONE_NEWUTS) })
	}},
	{"enter a namespace by setns", spec.Landlock, false, func(*scene) error {
		f, err := os.Open("/proc/self/ns/uts")
		if err != nil {
			return err
		}
		defer f.Close()
		return ownThread(func() error { return unix.Setns(int(f.Fd()), unix.CLONE_NEWUTS) })
	}},
	{"mount a file system", spec.Landlock, true, func(w *scene) error {
		return mounted(w.Root+"/mnt", func(at string) error { return unix.Mount("none", at, "tmpfs", 0, "size=4k") })
	}},
	{"mount another directory", spec.Landlock, false, func(w *scene) error {
		return mounted(w.Root+"/mnt", func(at string) error { return unix.Mount("/", at, "", unix.MS_BIND|unix.MS_REC, "") })
	}},
	{"open a tree of mounts", spec.Landlock, false, func(w *scene) error {
		fd, err := unix.OpenTree(unix.AT_FDCWD, w.Root, unix.OPEN_TREE_CLONE)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
	{"make a file system by fsopen", spec.Landlock, false, func(*scene) error {
		fd, err := unix.Fsopen("tmpfs", 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
	{"change the root directory", spec.Landlock, false, func(w *scene) error {
		cmd := exec.Command("/proc/self/exe", child.InitCommand, child.RoleTry, "nothing")
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: "/"}
		return cmd.Run()
	}},
	{"open a file by its handle", spec.Landlock, false, func(w *scene) error {
		handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, w.Root+"/file", 0)
		if err != nil {
			return err
		}
		dir, err := os.Open(w.Root)
		if err != nil {
			return err
		}
		defer dir.Close()
		fd, err := unix.OpenByHandleAt(int(dir.Fd()), handle, unix.O_RDONLY)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
	{"set up io_uring", spec.Landlock, true, func(*scene) error {
		var params [120]byte // struct io_uring_params
		return descriptor(unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0))
	}},
	{"reach the keys of the session", spec.Landlock, false, func(*scene) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	}},
	{"load a program into the kernel", spec.Landlock, false, func(*scene) error {
		attr := [32]uint32{2 /* BPF_MAP_TYPE_ARRAY */, 4, 4, 1}
		return descriptor(unix.Syscall(unix.SYS_BPF, 0 /* BPF_MAP_CREATE */, uintptr(unsafe.Pointer(&attr)), 72))
	}},
	{"count events of the processor", spec.Landlock, false, func(*scene) error {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: unix.PERF_COUNT_SW_TASK_CLOCK, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
		fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
	{"handle page faults", spec.Landlock, false, func(*scene) error {
		return descriptor(unix.Syscall(unix.SYS_USERFAULTFD, 1 /* UFFD_USER_MODE_ONLY */, 0, 0))
	}},
	{"watch all files by fanotify", spec.Landlock, false, func(*scene) error {
		fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
	{"type into a terminal", spec.Landlock, false, func(*scene) error {
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		defer master.Close()
		b := []byte("x")
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, master.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&b[0]))); errno != 0 {
			return errno
		}
		return nil
	}},
	{"name the machine", spec.Landlock, false, func(*scene) error {
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		return unix.Sethostname([]byte(name))
	}},
	{"read the messages of the kernel", spec.Landlock, false, func(*scene) error {
		_, err := unix.Klogctl(unix.SYSLOG_ACTION_SIZE_BUFFER, nil)
		return err
	}},
	{"have capabilities", spec.Landlock, false, func(*scene) error {
		data, err := os.ReadFile("/proc/self/status")
		for line := range strings.Lines(string(data)) {
			if name, value, _ := strings.Cut(line, ":"); strings.HasPrefix(name, "Cap") && name != "CapBnd" && strings.Trim(value, " \t\n0") != "" {
				return err
			}
		}
		return errors.New("all are gone")
	}},
	{"gain privileges by running a program", spec.Landlock, false, func(*scene) error {
		nnp, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		if err == nil && nnp != 0 {
			return errors.New("they are ruled out")
		}
		return err
	}},
}

// networkAttempts reach for the network and for services of the machine.
var networkAttempts = []attempt{
	{"connect over TCP", spec.Landlock, true, func(w *scene) error { return dial("tcp", w.TCP) }},
	{"ask over UDP", spec.Landlock, true, func(w *scene) error { return ask(w.UDP) }},
	{"connect to a socket in a directory outside", spec.Landlock, true, func(w *scene) error { return dial("unix", w.Unix) }},
	{"connect to an abstract socket", spec.Landlock, true, func(w *scene) error { return dial("unix", w.Abstract) }},
	{"ping", spec.Landlock, false, func(*scene) error { return socket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP) }},
	{"send raw packets", spec.Landlock, false, func(*scene) error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
	{"send raw packets over IPv6", spec.Landlock, false, func(*scene) error { return socket(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6) }},
	{"listen to all packets", spec.Landlock, false, func(*scene) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{"speak MPTCP", spec.Landlock, false, func(*scene) error { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) }},
	{"speak to the host of a virtual machine", spec.Landlock, false, func(*scene) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{"speak to the kernel over netlink", spec.Landlock, false, func(*scene) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE) }},
	{"use the cryptography of the kernel", spec.Landlock, false, func(*scene) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }},
}

func dial(network, addr string) error {
	c, err := net.DialTimeout(network, addr, time.Second) //nolint:noctx // it has a time-out
	if err == nil {
		err = c.Close()
	}
	return err
}

func ask(addr string) error {
	c, err := net.Dial("udp", addr) //nolint:noctx // at once
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return askOver(c)
}

// askOver takes for an answer only what it has not said itself: a socket that happens
// to get the port that it asks hears itself, in any sandbox.
func askOver(c net.Conn) error {
	_ = c.SetDeadline(time.Now().Add(300 * time.Millisecond))
	if _, err := c.Write([]byte("question")); err != nil {
		return err
	}
	heard := make([]byte, 64)
	n, err := c.Read(heard)
	if err == nil && string(heard[:n]) != answer {
		err = errors.New("nobody answers")
	}
	return err
}

func socket(family, kind, proto int) error {
	fd, err := unix.Socket(family, kind, proto)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func clone(flags uintptr) error {
	cmd := exec.Command("/proc/self/exe", child.InitCommand, child.RoleTry, "nothing") //nolint:noctx // it ends at once
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	return cmd.Run()
}

// ownThread runs f on a thread that ends with it.
func ownThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}

func mounted(at string, mount func(at string) error) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := mount(at); err != nil {
		return err
	}
	return unix.Unmount(at, unix.MNT_DETACH)
}

func descriptor(fd, _ uintptr, errno syscall.Errno) error {
	if errno != 0 {
		return fmt.Errorf("%w", errno)
	}
	unix.Close(int(fd))
	return nil
}
