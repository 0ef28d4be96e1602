//go:build !windows

package cli

import (
	"io"
	"os"
)

// ownTerminal is that which controls this process.
func ownTerminal() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
