package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// arrows prints, for each package, how well its files can be read from the top down. A file
// that uses what another one declares has an arrow to it. Files are put into the order in
// which the fewest arrows run up; their part of all arrows says how tangled the package is.
func arrows(ctx context.Context, w io.Writer, patterns []string, verbose bool) error {
	pkgs, exports, err := list(ctx, patterns)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "package\tfiles\tlines\tarrows\tup\tshare")
	for _, p := range pkgs {
		g, err := read(p, exports)
		if err != nil {
			return err
		}
		order := g.order()
		up := g.up(order)
		share := 0.0
		if n := g.count(); n > 0 {
			share = 100 * float64(len(up)) / float64(n)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.0f %%\n", p.ImportPath, len(g.names), g.lines, g.count(), len(up), share)
		if verbose {
			for _, f := range order {
				fmt.Fprintf(w, "  %s\n", g.names[f])
			}
			for _, a := range up {
				fmt.Fprintf(w, "  up: %s → %s\n", g.names[a[0]], g.names[a[1]])
			}
		}
	}
	return nil
}

// graph is the files of a package and which of them use which.
type graph struct {
	names []string
	lines int
	uses  []map[int]bool // by file: the files that it uses
}

// source is a package as go list tells of it.
type source struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles       []string
	DepOnly                 bool
}

// list finds packages, and the compiled form of all that they import.
func list(ctx context.Context, patterns []string) (pkgs []source, exports map[string]string, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,DepOnly"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, err
	}
	exports = map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p source
		if err := d.Decode(&p); err != nil {
			return nil, nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			pkgs = append(pkgs, p)
		}
	}
	return pkgs, exports, nil
}

// read finds the arrows of a package.
func read(p source, exports map[string]string) (*graph, error) {
	fset := token.NewFileSet()
	g := &graph{}
	number := map[string]int{}
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		file := fset.File(f.Pos())
		number[file.Name()] = len(g.names)
		g.names = append(g.names, name)
		g.lines += file.LineCount()
		g.uses = append(g.uses, map[int]bool{})
	}
	conf := types.Config{
		FakeImportC: true,
		Importer:    importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }),
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := conf.Check(p.ImportPath, fset, files, &info)
	if err != nil {
		return nil, err
	}
	where := func(at token.Pos) (int, bool) {
		n, ok := number[fset.File(at).Name()]
		return n, ok
	}
	for ident, object := range info.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() {
			continue
		}
		from, ok1 := where(ident.Pos())
		to, ok2 := where(object.Pos())
		if ok1 && ok2 && from != to {
			g.uses[from][to] = true
		}
	}
	return g, nil
}

func (g *graph) count() (n int) {
	for _, to := range g.uses {
		n += len(to)
	}
	return n
}

// order puts users before what they use, as far as that is possible: it begins
// with the files by how much more they use than they are used, and then moves
// one file after another to where the fewest arrows run up, until no move helps.
func (g *graph) order() []int {
	more := make([]int, len(g.names))
	for from, to := range g.uses {
		more[from] += len(to)
		for n := range to {
			more[n]--
		}
	}
	order := make([]int, len(g.names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(more[b]-more[a], strings.Compare(g.names[a], g.names[b]))
	})
	for better := true; better; {
		better = false
		for _, f := range slices.Clone(order) {
			better = g.move(order, f) || better
		}
	}
	return order
}

// move moves f to its best place, and reports whether that is a better one. What
// is gained by passing another file is the arrow that no longer runs up, less the
// one that then does.
func (g *graph) move(order []int, f int) bool {
	at := slices.Index(order, f)
	best, most := at, 0
	try := func(i, gain int) {
		if gain > most {
			best, most = i, gain
		}
	}
	for i, gain := at-1, 0; i >= 0; i-- {
		gain += g.weight(f, order[i]) - g.weight(order[i], f)
		try(i, gain)
	}
	for i, gain := at+1, 0; i < len(order); i++ {
		gain += g.weight(order[i], f) - g.weight(f, order[i])
		try(i, gain)
	}
	if most == 0 {
		return false
	}
	copy(order, slices.Insert(slices.Delete(slices.Clone(order), at, at+1), best, f))
	return true
}

// weight is 1 when a uses b.
func (g *graph) weight(a, b int) int {
	if g.uses[a][b] {
		return 1
	}
	return 0
}

// up lists the arrows that run up in an order.
func (g *graph) up(order []int) (list [][2]int) {
	place := make([]int, len(order))
	for i, f := range order {
		place[f] = i
	}
	for _, from := range order {
		for _, to := range slices.Sorted(maps.Keys(g.uses[from])) {
			if place[to] < place[from] {
				list = append(list, [2]int{from, to})
			}
		}
	}
	return list
}
