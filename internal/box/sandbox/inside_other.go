//go:build !linux

package sandbox

// Inside is not known here, so that nothing is left undone because of it.
func Inside() bool { return false }
