//go:build unix

package server

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// parentCheck is how often the client's process is looked for. Its end nearly
// always shows as the end of the input, at once; this is for a client that dies
// while somebody else holds the pipe open.
const parentCheck = 500 * time.Millisecond

// watchParent calls gone once the process pid has ended. One that is not alive
// when it is first looked for must not be watched: the client is in another
// container, and its number means nothing here.
func watchParent(ctx context.Context, pid int, gone func()) {
	tick := time.NewTicker(parentCheck)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	gone()
}

func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
