// Command symbols measures what is known of source files: symbols beside
// universal-ctags, and references in Go beside go/types.
//
//	go run ./bench/symbols [-refs 300] [-v] [dir …]
//
// Each dir is a tree of real code whose symbols are compared; references are
// compared over the Go distribution.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	n := flag.Int("refs", 300, "symbols of the Go distribution whose references are compared; 0 for none")
	verbose := flag.Bool("v", false, "show samples of what differs")
	flag.Parse()
	if *n > 0 {
		if err := compareReferences(*n, *verbose); err != nil {
			fmt.Fprintln(os.Stderr, "symbols:", err)
			os.Exit(1)
		}
	}
}
