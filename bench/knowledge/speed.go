package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
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

// speed measures the index over one tree.
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
	for _, q := range speedQuestions {
		var times []time.Duration
		var a index.Answer
		const rounds = 9
		before := cost.Processor()
		for range rounds {
			start := time.Now()
			if a, err = x.Search(context.Background(), files, index.Query{Text: q, MaxHits: 10, MaxFiles: 5}); err != nil {
				return err
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		fmt.Fprintf(w, "%8v wall, %8v processor  %s\n", times[rounds/2].Round(10*time.Microsecond), ((cost.Processor() - before) / rounds).Round(10*time.Microsecond), q)
		for _, h := range a.Hits[:min(3, len(a.Hits))] {
			fmt.Fprintf(w, "          %6.2f %s:%d-%d %s %s\n", h.Score, h.Path, h.Start, h.End, h.Kind, h.Name)
		}
	}
	if err := x.Close(); err != nil {
		return err
	}
	var restarts []time.Duration
	const restartRounds = 7
	before := cost.Processor()
	for range restartRounds {
		start := time.Now()
		x := index.New(o)
		if _, err := x.Search(context.Background(), files, index.Query{Text: speedQuestions[0], MaxHits: 10, Wait: time.Minute}); err != nil {
			return err
		}
		restarts = append(restarts, time.Since(start))
		if err := x.Close(); err != nil {
			return err
		}
	}
	slices.Sort(restarts)
	fmt.Fprintf(w, "%8v wall, %8v processor from a restart to an answer, every file looked at\n",
		restarts[restartRounds/2].Round(time.Millisecond), ((cost.Processor() - before) / restartRounds).Round(time.Millisecond))
	return nil
}

func resident() int64 {
	var n int64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		_, _ = fmt.Sscanf(string(text), "%d %d", new(int64), &n)
	}
	return n * int64(os.Getpagesize())
}
