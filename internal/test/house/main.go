// House counts what makes the code hard to read:
//
//	go run ./internal/test/house ./server ./pendingedits    files of a package that use each other
//	go run ./internal/test/house -types                     types with many methods, structs with many functions
//	go run ./internal/test/house -way accept                the functions that one accept runs through
//
// With -v it lists what it counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
)

func main() {
	log.SetFlags(0)
	verbose := flag.Bool("v", false, "list what is counted")
	types := flag.Bool("types", false, "count the methods of types and the functions among the fields of structs")
	way := flag.String("way", "", "count the functions of one way: edit, accept, undo or command")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	var err error
	switch {
	case *way != "":
		err = walk(ctx, w, *way, *verbose)
	case *types:
		err = shapes(w)
	default:
		err = arrows(ctx, w, flag.Args(), *verbose)
	}
	if err == nil {
		err = w.Flush()
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}
