//go:build !windows

package workspace

import "os"

// matching is for Windows: elsewhere a directory can't be asked for one name.
func matching(*os.Root, string, string) []string { return nil }
