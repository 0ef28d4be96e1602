//go:build linux && (amd64 || arm64)

package rights

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data (linux/seccomp.h): int nr; __u32 arch; __u64
// instruction_pointer; __u64 args[6]. Both machines are little endian.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// denied are system calls that no ordinary program needs and that reach other
// processes, other namespaces or little-tested parts of the kernel. They fail
// with EPERM.
var denied = []uint32{
	// other processes
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	// mounts and namespaces
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
	// files by handle, which know no path, and notices about other people's files
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	// parts of the kernel with a history
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_LOOKUP_DCOOKIE,
	// the machine
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
}

// absent are system calls whose arguments lie in memory, where no filter can
// read them. Programs take the older ones when they are told that a kernel
// has not got them.
var absent = []uint32{unix.SYS_CLONE3, unix.SYS_OPENAT2}

const (
	newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	setID         = unix.S_ISUID | unix.S_ISGID
	socketType    = 0xf // SOCK_NONBLOCK and SOCK_CLOEXEC are above it
)

// modeAt is a system call with the mode of a file in an argument.
type modeAt struct{ number, arg uint32 }

// modes are the system calls that can make a file run as its owner.
var modes = append([]modeAt{
	{unix.SYS_FCHMOD, 1}, {unix.SYS_FCHMODAT, 2}, {unix.SYS_FCHMODAT2, 2}, {unix.SYS_MKNODAT, 2}, {unix.SYS_OPENAT, 3},
}, archModes...)

// filter returns the program for the socket families that are allowed; none
// allows no socket at all, but pairs of them.
func filter(families []int) ([]bpf.RawInstruction, error) {
	var p []bpf.Instruction
	deny := func(err unix.Errno) bpf.Instruction {
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(err)}
	}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	load := func(arg uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offArgs + 8*arg, Size: 4} }
	number := bpf.LoadAbsolute{Off: offNumber, Size: 4}
	// on adds what is to happen for one system call. Its body must return, or
	// leave the number loaded.
	on := func(nr uint32, body ...bpf.Instruction) {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: nr, SkipFalse: uint8(len(body))})
		p = append(p, body...)
	}

	p = append(p,
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		deny(unix.EPERM), // system calls of another machine, such as 32 bit ones
		number,
	)
	if x32Bit != 0 {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32Bit, SkipTrue: 1}, deny(unix.EPERM))
	}
	for _, nr := range absent {
		on(nr, deny(unix.ENOSYS))
	}
	for _, nr := range slices.Concat(denied, archDenied) {
		on(nr, deny(unix.EPERM))
	}
	on(unix.SYS_CLONE, load(0), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: newNamespaces, SkipFalse: 1}, deny(unix.EPERM), allow)
	for _, m := range modes {
		on(m.number, load(m.arg), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: setID, SkipFalse: 1}, deny(unix.EPERM), allow)
	}
	// A command must not type into the terminal of the server.
	on(unix.SYS_IOCTL, load(1),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCLINUX, SkipFalse: 1},
		deny(unix.EPERM), allow)
	on(unix.SYS_SOCKETPAIR, load(0), bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 1}, deny(unix.EPERM), allow)

	sock := []bpf.Instruction{load(0)}
	for i, f := range families {
		sock = append(sock, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(f), SkipTrue: uint8(len(families) - i)})
	}
	sock = append(sock, deny(unix.EAFNOSUPPORT))
	if len(families) > 0 {
		sock = append(sock,
			load(1),
			bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: socketType},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 3},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_DGRAM, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_SEQPACKET, SkipTrue: 1},
			deny(unix.EPERM),
			load(2),
		)
		for _, proto := range []uint32{unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6, unix.IPPROTO_MPTCP} {
			sock = append(sock, bpf.JumpIf{Cond: bpf.JumpEqual, Val: proto, SkipFalse: 1}, deny(unix.EPROTONOSUPPORT))
		}
		sock = append(sock, allow)
	}
	on(unix.SYS_SOCKET, sock...)
	p = append(p, allow)
	return bpf.Assemble(p)
}

// applySeccomp filters the system calls of this thread and of all that it
// starts. No new privileges must be set before.
func applySeccomp(families []int) error {
	raw, err := filter(families)
	if err != nil {
		return err
	}
	prog := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		prog[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		return fmt.Errorf("the system calls can't be filtered: %w", errno)
	}
	return nil
}
