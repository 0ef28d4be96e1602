// Command sidecar-ls is the tool layer of a coding agent as a language server.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	self, _ := os.Executable() // without it, parsing is less well guarded
	code := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Self: self, Exit: os.Exit, Machine: cli.MachineHere()})
	stop()
	os.Exit(code)
}
