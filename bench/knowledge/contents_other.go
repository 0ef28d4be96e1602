//go:build !unix

package main

import "os"

// contents are those of a file.
func contents(name string) ([]byte, error) { return os.ReadFile(name) }
