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
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// speedQuestions are asked of any tree: words that are rare and words that are
// everywhere, one and many, names, paths and traces.
var speedQuestions = []string{
	"where is the connection timeout handled",
	"parse command line flags",
	"retry with exponential backoff after an error",
	"mutex lock unlock",
	"how are files watched for changes and the cache invalidated",
	"device driver probe register interrupt handler memory allocation",
	"NewSharedInformerFactory",
	"data",
	"quokka",
	"get value",
	"http.Server.ListenAndServe",
	"fs/ext4/inode.c: ext4_write_begin",
	"drivers/net/ethernet/intel/e1000/e1000_main.c",
	"memory allocation failure error handling in the read and write functions of a driver",
	"set get add remove init free read write open close",
	"BUG: kernel NULL pointer dereference, address: 0000000000000008\n#PF: supervisor read access in kernel mode\n" +
		"RIP: 0010:usb_hcd_unlink_urb (drivers/usb/core/hcd.c:1621)\nCall Trace:\n usb_kill_urb.part.0 (drivers/usb/core/urb.c:713)\n" +
		" usb_disable_device (drivers/usb/core/message.c:1405)\n hub_event (drivers/usb/core/hub.c:5280)\n process_one_work (kernel/workqueue.c:2289)\n",
	"panic: runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 34 [running]:\n" +
		"k8s.io/kubernetes/pkg/kubelet/status.(*manager).syncPod(0xc0000, 0x1)\n\t/go/src/k8s.io/kubernetes/pkg/kubelet/status/status_manager.go:512 +0x3a\n" +
		"net/http.(*conn).serve(0xc0001)\n\t/usr/local/go/src/net/http/server.go:1930 +0x2b0\n",
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
		Files: files, Sources: index.Sources{Language: treesitter.Language},
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
	var all [2]cost.Cost // the most of them, without the graph and with it
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
			all[depth] = cost.Cost{Wall: max(all[depth].Wall, t.Wall), CPU: max(all[depth].CPU, t.CPU)}
			title, _, _ := strings.Cut(q, "\n")
			fmt.Fprintf(w, "%14s ms  %s%s\n", t.Text(2), title, what)
		}
		for _, h := range a.Hits[:min(3, len(a.Hits))] {
			fmt.Fprintf(w, "          %6.2f %s:%d-%d %s %s\n", h.Score, h.Path, h.Start, h.End, h.Kind, h.Name)
		}
	}
	fmt.Fprintf(w, "%14s ms  at most, with the graph %s\n", all[0].Text(2), all[1].Text(2))
	t, err := timed(9, func(int) error {
		var work sync.WaitGroup
		errs := make([]error, len(speedQuestions))
		for i, q := range speedQuestions {
			work.Go(func() { _, errs[i] = ask(files, q, 1) })
		}
		work.Wait()
		return errors.Join(errs...)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%14s ms  all of them at the same time\n", t.Text(2))
	if err := editing(w, files, ask); err != nil {
		return err
	}
	if err := x.Close(); err != nil {
		return err
	}
	t, err = timed(7, func(int) error {
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
