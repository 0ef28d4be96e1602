// Ours lists and searches files with the project's own packages and prints
// like ripgrep, so that the two can be measured as processes:
//
//	ours files DIR
//	ours grep [-i] PATTERN DIR
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"strconv"

	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools/search"
)

func main() {
	debug.SetGCPercent(serve.GCPercent) // as the server does
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if name := os.Getenv("CPUPROFILE"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	return errors.Join(do(out, args), out.Flush())
}

func do(out *bufio.Writer, args []string) error {
	if len(args) < 2 {
		return errors.New("usage: ours files DIR | ours grep [-i] PATTERN DIR")
	}
	d, err := open(args[len(args)-1])
	if err != nil {
		return err
	}
	defer d.Close()
	if args[0] == "files" {
		return files(out, d)
	}
	q := search.Query{Pattern: args[len(args)-2], Fold: args[1] == "-i", Walk: workspace.WalkOptions{Workers: 2}}
	m, err := q.Run(context.Background(), d)
	if err != nil {
		return err
	}
	return write(out, m)
}

// files prints unsorted, as rg --files does.
func files(w *bufio.Writer, d *workspace.Disk) error {
	opts := workspace.WalkOptions{Workers: 2}
	names := make([][]byte, opts.Workers)
	err := d.Walk(context.Background(), opts, func(e *workspace.Entry) error {
		names[e.Worker] = append(append(names[e.Worker], e.Path...), '\n')
		return nil
	})
	for _, n := range names {
		w.Write(n)
	}
	return err
}

func open(dir string) (*workspace.Disk, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
}

// write prints like rg -n --no-heading.
func write(w *bufio.Writer, m *search.Matches) error {
	var buf []byte
	for _, f := range m.Files {
		buf = buf[:0]
		for _, l := range f.Lines {
			buf = append(buf, f.Path...)
			buf = append(buf, ':')
			buf = strconv.AppendInt(buf, int64(l.Number), 10)
			buf = append(buf, ':')
			buf = append(buf, f.Text(l)...)
			buf = append(buf, '\n')
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
