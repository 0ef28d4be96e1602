// Command server is sidecar-ls for tests: it also takes programs from temporary
// directories, in which those of tests lie.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	self, _ := os.Executable()
	code := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Self: self, Exit: os.Exit, Programs: anywhere.Programs()})
	stop()
	os.Exit(code)
}
