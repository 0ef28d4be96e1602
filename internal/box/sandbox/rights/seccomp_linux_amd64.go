package rights

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32Bit    = 0x40000000 // __X32_SYSCALL_BIT: the same calls under other numbers
)

// archDenied are what only this machine has.
var archDenied = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS__SYSCTL}

var archModes = []modeAt{{unix.SYS_CHMOD, 1}, {unix.SYS_MKNOD, 1}, {unix.SYS_CREAT, 1}, {unix.SYS_OPEN, 2}}
