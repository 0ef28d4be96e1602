// Init is the program that stands between the tests and their commands. It is
// built without the race detector, which takes a tenth of a second to start.
package main

import (
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
)

func main() { os.Exit(sandbox.Init(os.Args[2:], os.Stdout, os.Stderr, nil)) }
