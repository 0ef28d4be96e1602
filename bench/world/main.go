// World measures what it costs that a command sees what its session sees:
//
//	go run ./bench/world -server bin/sidecar-ls [-kind shadow|apart] [-n rounds] [dir]
//
// A round runs a sandboxed `true` on the disk, in a world with nothing pending,
// in one with 50 pending edits, and in that with one more edit each time, one
// after the other. The first rounds are dropped; shown are the medians in
// milliseconds, and of what is more than in a world with nothing pending. Then a
// command writes 1,000 files, and reading the changes is compared with that. dir,
// by default the Go distribution's sources, is not changed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

func main() {
	log.SetFlags(0)
	server := flag.String("server", "bin/sidecar-ls", "the server's program")
	rounds := flag.Int("n", 11, "rounds that count")
	kind := flag.String("kind", string(world.Overlay), "the kind of world: overlay, shadow or apart")
	flag.Parse()
	dir := flag.Arg(0)
	if dir == "" {
		dir = filepath.Join(runtime.GOROOT(), "src")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *server, dir, world.Kind(*kind), *rounds)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// edits are pending texts by name.
type edits struct {
	mu    sync.Mutex
	texts map[string][]byte
}

func (e *edits) Lookup(name string) (data []byte, deleted, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	data, ok = e.texts[name]
	return data, false, ok
}

func (e *edits) Names() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.texts))
}

// bench is a tree and its worlds.
type bench struct {
	kind world.Kind
	root string
	box  *sandbox.Sandbox
	m    *world.Manager
	disk *workspace.Disk
}

// command runs a line in the world of a session; it returns how long that took
// and, of it, reading the changes.
func (b *bench) command(ctx context.Context, session string, e *edits, line string) (all, reading time.Duration, err error) {
	began := time.Now()
	r, err := b.m.Begin(world.Request{Session: session, Kind: b.kind, Root: b.root, View: workspace.NewOverlay(b.disk, e)})
	if err != nil {
		return 0, 0, err
	}
	spec := spec.Spec{Root: b.root, Env: spec.Environ(os.Environ())}
	r.Show(&spec)
	err = b.run(ctx, spec, line)
	ended := time.Now()
	if _, e := r.End(true); err == nil {
		err = e
	}
	return time.Since(began), time.Since(ended), err
}

func (b *bench) run(ctx context.Context, spec spec.Spec, line string) error {
	cmd, err := b.box.Command(ctx, spec, spec.Root, "bash", "-c", line)
	if err != nil {
		return err
	}
	return cmd.Run()
}

func run(ctx context.Context, server, dir string, kind world.Kind, rounds int) error {
	self, err := filepath.Abs(server)
	if err != nil {
		return err
	}
	b := &bench{kind: kind, box: sandbox.Open(self, sandbox.Options{})}
	if b.root, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if b.disk, err = workspace.OpenDisk([]workspace.Folder{{Dir: b.root}}, workspace.DiskOptions{}); err != nil {
		return err
	}
	defer b.disk.Close()
	b.m = world.New(world.Options{Box: b.box})
	defer b.box.Close()
	defer b.m.Close()
	if err := b.m.Usable(kind); err != nil {
		return err
	}
	files, err := texts(b.root)
	if err != nil {
		return err
	}
	none, fifty, more := &edits{texts: map[string][]byte{}}, &edits{texts: map[string][]byte{}}, &edits{texts: map[string][]byte{}}
	edit := func(e *edits, name string, n int) error {
		data, err := b.disk.ReadFile(name)
		if err == nil {
			e.texts[name] = fmt.Appendf(data, "// edited %d\n", n)
		}
		return err
	}
	for i, name := range files[:50] {
		for _, e := range []*edits{fifty, more} {
			if err := edit(e, name, i); err != nil {
				return err
			}
		}
	}
	cold, _, err := b.command(ctx, "fifty", fifty, "true")
	if err != nil {
		return err
	}
	ways := []struct {
		name string
		run  func(i int) error
	}{
		{"true on the disk", func(int) error {
			return b.run(ctx, spec.Spec{Root: b.root, LookOnly: true, Env: spec.Environ(os.Environ())}, "true")
		}},
		{"in a world, nothing pending", func(int) error { _, _, err := b.command(ctx, "none", none, "true"); return err }},
		{"with 50 pending edits", func(int) error { _, _, err := b.command(ctx, "fifty", fifty, "true"); return err }},
		{"with one more each time", func(i int) error {
			if err := edit(more, files[50+i], i); err != nil {
				return err
			}
			_, _, err := b.command(ctx, "more", more, "true")
			return err
		}},
	}
	times := make([][]time.Duration, len(ways))
	const warm = 3
	for i := range rounds + warm {
		for j, w := range ways {
			began := time.Now()
			if err := w.run(i); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if i >= warm {
				times[j] = append(times[j], time.Since(began))
			}
		}
	}
	fmt.Printf("%-32s %9s %9s\n", "ms", "wall", "more")
	for j, w := range ways {
		var than []time.Duration
		for i := range times[j] {
			than = append(than, times[j][i]-times[1][i])
		}
		fmt.Printf("%-32s %9.1f %9.1f\n", w.name, cost.Millis(cost.Middle(times[j])), cost.Millis(cost.Middle(than)))
	}
	fmt.Printf("%-32s %9.1f\n", "the first with 50 pending edits", cost.Millis(cold))
	return b.written(ctx, none, rounds)
}

// written measures the reading of 1,000 files that a command wrote.
func (b *bench) written(ctx context.Context, none *edits, rounds int) error {
	var shares []float64
	for i := range min(rounds, 7) {
		line := fmt.Sprintf("for d in {1..40}; do mkdir made%[1]d.$d; for f in {1..25}; do echo 'package made' > made%[1]d.$d/$f.go; done; done", i)
		all, reading, err := b.command(ctx, fmt.Sprint("writes", i), none, line)
		if err != nil {
			return err
		}
		shares = append(shares, 100*reading.Seconds()/(all-reading).Seconds())
		b.m.CloseSession(fmt.Sprint("writes", i))
	}
	slices.Sort(shares)
	fmt.Printf("reading 1,000 files that a command wrote takes %.0f %% of the time of the command\n", shares[len(shares)/2])
	return nil
}

// texts are the names of Go files in a directory.
func texts(root string) (names []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".go") && len(names) < 200 && len(path)%7 == 0 {
			names = append(names, strings.TrimPrefix(path, root+"/"))
		}
		return err
	})
	return names, err
}
