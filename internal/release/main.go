// Command release makes what users install: the binaries of all systems, and what they
// are packed in. `make cross` and `make release` run it in the root of the project. It is a
// module of its own: what it needs is no dependency of the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	version := f.String("version", "", "the version, such as 1.2.0; without one it is the commit's")
	out := f.String("out", "dist", "the directory to write to")
	only := f.String("targets", "", "some of the targets, such as linux-amd64,windows-amd64")
	zig := f.String("zig", "", "the directory that toolchain/setup.sh prints")
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "release [flags] cross    makes the binaries\nrelease [flags] pack     packs them\nrelease [flags] release  does both")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	what := f.Arg(0)
	if f.NArg() != 1 || what != "cross" && what != "pack" && what != "release" {
		f.Usage()
		return errors.New("say cross, pack or release")
	}
	some, err := named(strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
	if err != nil {
		return err
	}
	b, err := newBuild(ctx, *version, *out, *zig)
	if err != nil {
		return err
	}
	if what != "pack" {
		for _, t := range some {
			if err := b.compile(ctx, t); err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
		}
	}
	if what == "cross" {
		return nil
	}
	return b.release(ctx, some)
}
