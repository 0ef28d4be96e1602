package rights

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ownTerminal makes standard input the terminal of a session of its own, which
// sends the command the signals that are typed, and those of a change of its size.
func ownTerminal() error {
	if sid, err := unix.Getsid(0); err != nil || sid != unix.Getpid() {
		if _, err := unix.Setsid(); err != nil {
			return err
		}
	}
	return unix.IoctlSetInt(0, unix.TIOCSCTTY, 0)
}

// dropCapabilities takes all capabilities from this thread for ever, root's
// too, and checks that they are gone.
func dropCapabilities() error {
	const noroot = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7 // SECBIT_NOROOT, _NO_SETUID_FIXUP, locked, _KEEP_CAPS_LOCKED, _NO_CAP_AMBIENT_RAISE, locked (linux/securebits.h)
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, noroot, 0, 0, 0)       // needs CAP_SETPCAP; without it there is nothing to drop
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			break // EINVAL after the last one; EPERM without CAP_SETPCAP
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none, now [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("capabilities can't be dropped: %w", err)
	}
	head = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&head, &now[0]); err != nil {
		return fmt.Errorf("capabilities can't be read: %w", err)
	}
	if now != none {
		return errors.New("some capabilities are left")
	}
	return nil
}
