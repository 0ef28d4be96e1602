//go:build !linux

package worker

import (
	"syscall"
	"time"
)

// dieWithParent relies on the end of standard input elsewhere.
func dieWithParent() *syscall.SysProcAttr { return nil }

// limitMyself leaves the limits to the parent's time-out elsewhere.
func limitMyself() {}

// processorTime is not known.
func processorTime() time.Duration { return 0 }
