// Soak makes many mixed calls to a server and shows what grows:
//
//	go run ./bench/soak -server bin/sidecar-ls [-n 100000] [-for 10m]
//
// The server runs in this process, over pipes, with a client that keeps
// nothing; its commands and parsers are processes of the program named. After a
// tenth of the calls, and after each further tenth, everything that was asked has
// been answered, and goroutines, processes below this one, descriptors, and the
// memory that is alive after a collection are counted. It fails when the last
// count is above the first by more than noise.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	server := flag.String("server", "bin/sidecar-ls", "the server's program")
	n := flag.Int("n", 100_000, "calls")
	most := flag.Duration("for", 10*time.Minute, "the longest that it may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, *most)
	err := soak(ctx, *server, *n)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// usage is what a server holds on to.
type usage struct {
	goroutines, processes, files int
	heap, rss                    int64 // bytes
}

// allowed is how much of each may come and go: caches and pools are filled, and
// not all at once.
var allowed = usage{goroutines: 5, processes: 1, files: 5, heap: 8 << 20, rss: 48 << 20}

func soak(ctx context.Context, server string, n int) (err error) {
	self, err := filepath.Abs(server)
	if err != nil {
		return err
	}
	if _, err := os.Stat(self); err != nil {
		return fmt.Errorf("%w; make build makes it", err)
	}
	dir, err := workspace(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(dir)) }()
	c, err := start(ctx, self, dir)
	if err != nil {
		return err
	}
	fmt.Printf("%9s %9s %11s %10s %6s %9s %8s %9s\n", "calls", "failed", "goroutines", "processes", "files", "heap MB", "RSS MB", "calls/s")
	const parts = 10
	var first, last usage
	made := 0
	began := time.Now()
	for part := range parts {
		until := n * (part + 1) / parts
		if err := c.calls(ctx, made, until); err != nil {
			return fmt.Errorf("after %d calls: %w", made, err)
		}
		made = until
		last = settled(first, part > 0)
		if part == 0 {
			first = last
		}
		fmt.Printf("%9d %9d %11d %10d %6d %9.1f %8.1f %9.0f\n", made, c.failed.Load(), last.goroutines, last.processes, last.files,
			float64(last.heap)/1e6, float64(last.rss)/1e6, float64(made)/time.Since(began).Seconds())
	}
	if os.Getenv("SOAK_PROFILE") != "" {
		profile()
	}
	if err := c.stop(ctx); err != nil {
		return err
	}
	for _, row := range []struct {
		what              string
		from, to, allowed int64
	}{
		{"goroutines", int64(first.goroutines), int64(last.goroutines), int64(allowed.goroutines)},
		{"processes", int64(first.processes), int64(last.processes), int64(allowed.processes)},
		{"files", int64(first.files), int64(last.files), int64(allowed.files)},
		{"bytes of memory that is alive", first.heap, last.heap, allowed.heap},
		{"bytes of memory", first.rss, last.rss, allowed.rss},
	} {
		if row.to > row.from+row.allowed {
			err = fmt.Errorf("%s grow from %d to %d", row.what, row.from, row.to)
			fmt.Println(err)
		}
	}
	if err == nil {
		fmt.Printf("%d calls, nothing grows\n", made)
	}
	return err
}

// settled counts when what was begun has ended, or has had its time.
func settled(first usage, compare bool) usage {
	var u usage
	for range 40 {
		runtime.GC()
		debug.FreeOSMemory()
		u = count()
		if !compare || u.goroutines <= first.goroutines && u.processes <= first.processes && u.files <= first.files {
			if compare {
				break
			}
		}
		time.Sleep(50 * time.Millisecond) // there is no event for the end of what nobody waits for
	}
	return u
}

func count() usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{goroutines: runtime.NumGoroutine(), processes: below(os.Getpid()), heap: int64(m.HeapAlloc)}
	if names, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(names)
	}
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(data)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			u.rss = pages * int64(os.Getpagesize())
		}
	}
	return u
}

// below counts the processes below one, those that have ended and that nobody
// has taken note of, too.
func below(pid int) int {
	n := 0
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range tasks {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for child := range strings.FieldsSeq(string(data)) {
			if id, err := strconv.Atoi(child); err == nil {
				n += 1 + below(id)
			}
		}
	}
	return n
}

// workspace is a small repository in a directory of its own.
func workspace(ctx context.Context) (string, error) {
	top, err := os.MkdirTemp("", "soak-*")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(top, "work")
	for i := range 200 {
		name := filepath.Join(dir, fmt.Sprintf("pkg%02d", i%20), fmt.Sprintf("file%03d.go", i))
		text := fmt.Sprintf("package pkg%02d\n\n// Func%03d does nothing.\nfunc Func%03d() {}\n\nvar _ = Func%03d\n", i%20, i, i, i)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	for name, value := range map[string]string{"XDG_CONFIG_HOME": filepath.Join(top, "config"), "XDG_CACHE_HOME": filepath.Join(top, "cache")} {
		if err := os.Setenv(name, value); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", "git init -q . && git add . && git -c user.name=a -c user.email=a@example.org commit -qm one")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
}
