//go:build !linux

package worker

import (
	"syscall"
	"time"
)

// dieWithParent leaves it to the tree of the child elsewhere, or to the end of its input.
func dieWithParent() *syscall.SysProcAttr { return nil }

// limitMyself leaves the limits to the parent's time-out elsewhere.
func limitMyself() {}

// processorTime is not known.
func processorTime() time.Duration { return 0 }
