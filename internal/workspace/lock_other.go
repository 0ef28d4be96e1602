//go:build !unix

package workspace

import "os"

// own can't tell on this system whether a file is in use: two servers must not
// work on one workspace here.
func own(*os.File) (bool, error) { return true, nil }
