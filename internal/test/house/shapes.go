package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/test/house/shape"
)

// shapes prints the types of the module with the most methods, and the structs with the most
// functions.
func shapes(w io.Writer) error {
	types, err := shape.Read(os.DirFS("."))
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "type\tmethods\twith its parts\tfunctions")
	for _, t := range slices.SortedFunc(maps.Values(types), func(a, b shape.Type) int {
		return cmp.Or(b.All-a.All, b.Functions-a.Functions, cmp.Compare(a.Name, b.Name))
	}) {
		if t.All > shape.MaxMethods/2 || t.Functions > shape.MaxFunctions/2 {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", t.Name, t.Own, t.All, t.Functions)
		}
	}
	return nil
}
