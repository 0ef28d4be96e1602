// Command demo shows the main job of the server on a real repository: it clones
// one, starts the real binary on it, and lets an agent edit and a user review.
// In another repository an agent installs a package. It fails when anything is
// not as told.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	server := flag.String("server", "bin/sidecar-ls", "the server to show")
	into := flag.String("into", "", "make only the sample repository, in this directory, and keep it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if *into != "" {
		err = makeSample(ctx, *into, os.Stdout)
	} else {
		err = run(ctx, *server, os.Stdout, colourful(os.Stdout))
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run shows everything to w. Nothing is left behind.
func run(ctx context.Context, server string, w io.Writer, colour bool) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if server, err = filepath.Abs(server); err != nil {
		return err
	}
	if _, err := os.Stat(server); err != nil {
		return fmt.Errorf("%w: build the server first", err)
	}
	dir, err := os.MkdirTemp("", "sidecar-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{ctx: ctx, server: server, dir: dir, repo: filepath.Join(dir, "tally"), out: printer{w, colour}}
	err = d.show()
	d.close()
	if log := d.log.String(); err != nil && log != "" {
		err = fmt.Errorf("%w\nthe server's log:\n%s", err, log)
	}
	return err
}
