//go:build cgo && !linux

package treesitter

import "time"

// spent is the time by the clock: there is none of a thread.
func spent() time.Duration { return time.Duration(time.Now().UnixNano()) }
