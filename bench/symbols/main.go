// Command symbols measures what is known of source files: symbols beside
// universal-ctags, and references in Go beside go/types.
//
//	go run ./bench/symbols [-refs 300] [-files 400] [-lang c,go] [-v] [dir …]
//
// Each dir is a tree of real code; of each language the files are compared that
// lie evenly in it. References are compared over the Go distribution.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	n := flag.Int("refs", 300, "symbols of the Go distribution whose references are compared; 0 for none")
	files := flag.Int("files", 400, "files of each language whose symbols are compared")
	langs := flag.String("lang", "", "only these languages, separated by commas")
	verbose := flag.Bool("v", false, "show samples of what differs")
	flag.Parse()
	var err error
	if flag.NArg() > 0 {
		err = compareSymbols(flag.Args(), *files, strings.FieldsFunc(*langs, func(r rune) bool { return r == ',' }), *verbose)
	}
	if err == nil && *n > 0 {
		err = compareReferences(*n, *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "symbols:", err)
		os.Exit(1)
	}
}
