package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// speedQuestions are asked of any tree.
var speedQuestions = []string{
	"where is the connection timeout handled",
	"parse command line flags",
	"retry with exponential backoff after an error",
	"mutex lock unlock",
	"how are files watched for changes and the cache invalidated",
	"device driver probe register interrupt handler memory allocation",
	"NewSharedInformerFactory",
}

// speed measures the index over one tree, by the clock and of processors.
func speed(w io.Writer, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		return err
	}
	defer disk.Close()
	files := workspace.Guard(disk, nil)
	cpu, wall := cost.Processor(), time.Now()
	kept, err := os.MkdirTemp("", "knowledge")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(kept) }() // a directory of temporary files
	o := index.Options{
		Files: files, Language: treesitter.Language,
		Store: &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(kept) }},
		// Nothing changes but what this program says.
		Changes: func(context.Context) ([]string, []string, bool, error) { return nil, nil, false, nil },
	}
	x := index.New(o)
	x.Start()
	<-x.Ready()
	s := x.Status()
	fmt.Fprintf(w, "%s: %d files, %d symbols; cold %v wall, %v processor; index %d MiB\n", dir, s.Files, s.Symbols,
		time.Since(wall).Round(time.Millisecond), (cost.Processor() - cpu).Round(time.Millisecond), s.Bytes>>20)
	runtime.GC()
	debug.FreeOSMemory()
	fmt.Fprintf(w, "resident %d MiB (%d skipped, %d generated)\n", resident()>>20, s.Skipped, s.Generated)
	ask := func(view workspace.Files, q string, depth int) (a index.Answer, err error) {
		return x.Search(context.Background(), view, index.Query{Text: q, MaxHits: 10, MaxFiles: 5, GraphDepth: depth, MaxGraphHits: 10})
	}
	for _, q := range speedQuestions {
		var a index.Answer
		for depth, what := range []string{"", ", with the graph"} {
			t, err := timed(9, func(int) (err error) {
				a, err = ask(files, q, depth)
				return err
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%14s ms  %s%s\n", t.Text(2), q, what)
		}
		for _, h := range a.Hits[:min(3, len(a.Hits))] {
			fmt.Fprintf(w, "          %6.2f %s:%d-%d %s %s\n", h.Score, h.Path, h.Start, h.End, h.Kind, h.Name)
		}
	}
	if err := editing(w, files, ask); err != nil {
		return err
	}
	if err := x.Close(); err != nil {
		return err
	}
	t, err := timed(7, func(int) error {
		x := index.New(o)
		_, err := x.Search(context.Background(), files, index.Query{Text: speedQuestions[0], MaxHits: 10, Wait: time.Minute})
		return errors.Join(err, x.Close())
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%14s ms  from a restart to an answer, every file looked at\n", t.Text(0))
	return nil
}

// timed is the medians of what something takes.
func timed(rounds int, f func(round int) error) (cost.Cost, error) {
	var list []cost.Cost
	for i := range rounds {
		c, err := cost.Here(func() error { return f(i) })
		if err != nil {
			return cost.Cost{}, err
		}
		list = append(list, c)
	}
	return cost.Cost{
		Wall: cost.Median(list, func(c cost.Cost) time.Duration { return c.Wall }),
		CPU:  cost.Median(list, func(c cost.Cost) time.Duration { return c.CPU }),
	}, nil
}

// editing measures what it adds to a question that a buffer of 20 KB has
// changed since the one before.
func editing(w io.Writer, files workspace.Files, ask func(workspace.Files, string, int) (index.Answer, error)) error {
	var body strings.Builder
	for i := 0; body.Len() < 20<<10; i++ {
		fmt.Fprintf(&body, "// Part%d counts the animals of enclosure %d.\nfunc (z *Zoo) Part%d(keeper string) int {\n\treturn z.count[keeper] + len(z.cages)\n}\n\n", i, i, i)
	}
	const rounds = 31
	for _, changes := range []bool{false, true} {
		t, err := timed(rounds, func(round int) error {
			if !changes {
				round = 0
			}
			name := fmt.Sprintf("Quokkas%dFed", round)
			text := fmt.Sprintf("package zoo\n\nfunc %s() {}\n\n%s", name, body.String())
			a, err := ask(workspace.NewOverlay(files, buffer{"zoo/zoo.go", text}), name, 0)
			if err == nil && (len(a.Hits) == 0 || a.Hits[0].Name != name) {
				err = fmt.Errorf("the buffer is not found")
			}
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%14s ms  a question over a buffer of 20 KB, changed before each: %v\n", t.Text(2), changes)
	}
	return nil
}

// buffer is a layer of one text.
type buffer struct{ name, text string }

func (b buffer) Lookup(name string) (data []byte, deleted, ok bool) {
	return []byte(b.text), false, name == b.name
}

func (b buffer) Names() []string { return []string{b.name} }

func resident() int64 {
	var n int64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		_, _ = fmt.Sscanf(string(text), "%d %d", new(int64), &n)
	}
	return n * int64(os.Getpagesize())
}
