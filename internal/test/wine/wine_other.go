//go:build !windows

package wine

// Running is false: no other system is that.
func Running() bool { return false }
