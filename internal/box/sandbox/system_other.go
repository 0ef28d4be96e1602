//go:build !linux && !windows

package sandbox

import "os"

const unsupported = "there is no sandbox for this system"

// userDirs are those that a command shares with the user.
func userDirs() map[string]string {
	dirs := map[string]string{"TMPDIR": os.TempDir()}
	if home, err := os.UserHomeDir(); err == nil {
		dirs["HOME"] = home
	}
	return dirs
}
