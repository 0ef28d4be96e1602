//go:build !unix

package agents

import "os"

// lockDir locks nothing: a directory can't be locked here.
func lockDir(string) *os.File { return nil }
