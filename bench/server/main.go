// Server measures the language server as its users do: a process that is
// spoken to over its standard streams. Peers are measured in the same run, in
// turn with it:
//
//	go run ./bench/server -server bin/sidecar-ls
//
// Shown are medians over the rounds, the first of which is dropped.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

var (
	binary = flag.String("server", "bin/sidecar-ls", "the server to measure")
	rounds = flag.Int("n", 9, "rounds, besides the first")
	only   = flag.String("only", "", "run only figures whose name contains this")
)

// row is one figure: what we take, what a peer takes, what was to be reached.
type row struct {
	name    string
	ours    string
	peer    string
	reach   string
	measure func(ctx context.Context, r *row) error
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	ctx := context.Background()
	rows := []*row{
		{name: "G10 small call over stdio, p50", reach: "≤ 60 µs", measure: smallCall},
		{name: "G10 result of 1 MiB over stdio", reach: "≤ 2.5 ms", measure: bigResult},
		{name: "G10 cancel to reply", reach: "≤ 1 ms", measure: cancelCall},
		{name: "10,000 concurrent calls", reach: "0 lost, 0 doubled, peak ≤ 150 MB", measure: concurrent},
		{name: "G11 start to initialize", reach: "≤ 10 ms", measure: start},
		{name: "G11 memory after initialize", reach: "≤ 20 MiB", measure: memory},
		{name: "G11 start to the first tool answer", reach: "≤ 50 ms", measure: firstAnswer},
		{name: "edit of one line in 10,000, pending with its hunks", reach: "≤ 5 ms", measure: lineEdit},
		{name: "list of 1,000 pending files", reach: "≤ 20 ms", measure: listThousand},
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tours\tbeside\treach")
	for _, r := range rows {
		if !strings.Contains(r.name, *only) {
			continue
		}
		if err := r.measure(ctx, r); err != nil {
			log.Fatalf("%s: %v", r.name, err)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.name, r.ours, r.peer, r.reach)
	}
	if err := t.Flush(); err != nil {
		log.Fatal(err)
	}
}

// running is a started server with its workspace.
type running struct {
	*fakeeditor.Editor
	cmd *exec.Cmd
	dir string
}

func launch(ctx context.Context, files map[string]string) (*running, error) {
	dir, err := os.MkdirTemp("", "sidecar-bench-")
	if err != nil {
		return nil, err
	}
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	return launchIn(ctx, dir)
}

func launchIn(ctx context.Context, dir string) (*running, error) {
	cmd := exec.CommandContext(ctx, *binary, "serve", "--log-level", "error")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir)
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: dir})
	if err != nil {
		return nil, err
	}
	r := &running{e, cmd, dir}
	_, err = e.Initialize(ctx)
	return r, err
}

func (r *running) stop(ctx context.Context) error {
	return errors.Join(r.Shutdown(ctx), os.RemoveAll(r.dir))
}

type toolResult struct {
	OK      bool   `json:"ok"`
	Content string `json:"content"`
	CallID  string `json:"callId"`
}

func (r *running) call(ctx context.Context, tool string, args any) (toolResult, error) {
	var res toolResult
	err := r.ExecuteCommand(ctx, "sidecar.tools.call", map[string]any{"name": tool, "arguments": args}, &res)
	if err == nil && !res.OK {
		err = fmt.Errorf("%s: %s", tool, res.Content)
	}
	return res, err
}

// timed runs f n+1 times and returns the median of all but the first.
func timed(n int, f func() error) (time.Duration, error) {
	var took []time.Duration
	for range n + 1 {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	return median(took[1:]), nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// smallCall alternates blocks of calls with blocks through a process that
// only echoes bytes, which is what the kernel takes.
func smallCall(ctx context.Context, r *row) error {
	s, err := launch(ctx, map[string]string{"a.txt": "one line\n"})
	if err != nil {
		return err
	}
	cat := exec.CommandContext(ctx, "cat")
	in, err := cat.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cat.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cat.Start(); err != nil {
		return err
	}
	frame, back := []byte(strings.Repeat("x", 90)), make([]byte, 90)
	const block = 200
	var ours, command, echo []time.Duration
	for range *rounds + 1 {
		for range block {
			begin := time.Now()
			if err := s.ExecuteCommand(ctx, "sidecar.mode.get", nil, nil); err != nil {
				return err
			}
			command = append(command, time.Since(begin))
		}
		for range block {
			begin := time.Now()
			if _, err := s.call(ctx, "read_file", map[string]string{"path": "a.txt"}); err != nil {
				return err
			}
			ours = append(ours, time.Since(begin))
		}
		for range block {
			begin := time.Now()
			if _, err := in.Write(frame); err != nil {
				return err
			}
			if _, err := io.ReadFull(out, back); err != nil {
				return err
			}
			echo = append(echo, time.Since(begin))
		}
	}
	bash, err := timed(*rounds, func() error { return exec.CommandContext(ctx, "bash", "-c", "true").Run() })
	if err != nil {
		return err
	}
	o, c, e := median(ours[block:]), median(command[block:]), median(echo[block:])
	r.ours = fmt.Sprintf("%v read_file, %v a bare command", o.Round(100*time.Nanosecond), c.Round(100*time.Nanosecond))
	r.peer = fmt.Sprintf("byte echo %v (%.1f×), bash -c true %v", e.Round(100*time.Nanosecond), float64(o)/float64(e), bash.Round(time.Microsecond))
	return errors.Join(in.Close(), cat.Wait(), s.stop(ctx))
}

func bigResult(ctx context.Context, r *row) error {
	line := strings.Repeat("word ", 15) + "\n"
	text := strings.Repeat(line, (1<<20)/len(line))
	s, err := launch(ctx, map[string]string{"big.txt": text, ".sidecar/settings.json": `{}`, "sidecar/settings.json": `{"result.maxChars":1000000}`})
	if err != nil {
		return err
	}
	bytes := 0
	took, err := timed(*rounds, func() error {
		var whole toolResult
		if err := s.ExecuteCommand(ctx, "sidecar.tools.call", map[string]any{"name": "read_file", "arguments": map[string]any{"path": "big.txt"}}, &whole); err != nil {
			return err
		}
		bytes = len(whole.Content)
		return nil
	})
	if err != nil {
		return err
	}
	r.ours = fmt.Sprintf("%v for %d KB", took.Round(10*time.Microsecond), bytes/1000)
	return s.stop(ctx)
}

// cancelCall cancels a call that waits for a person, which it would do for
// minutes.
func cancelCall(ctx context.Context, r *row) error {
	s, err := launch(ctx, map[string]string{"a.txt": "one\n"})
	if err != nil {
		return err
	}
	asked := make(chan struct{}, 1)
	s.Answer("window/showMessageRequest", func(ctx context.Context, _ json.RawMessage) (any, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	var took []time.Duration
	for range *rounds + 1 {
		params, err := fakeeditor.Command("sidecar.tools.call", map[string]any{"name": "write_file", "arguments": map[string]string{"path": "a.txt", "content": "two\n"}})
		if err != nil {
			return err
		}
		pending, err := s.Start(ctx, "workspace/executeCommand", params)
		if err != nil {
			return err
		}
		<-asked
		begin := time.Now()
		if err := pending.Cancel(); err != nil {
			return err
		}
		if err := pending.Wait(ctx, nil); err == nil {
			return errors.New("the cancelled call succeeded")
		}
		took = append(took, time.Since(begin))
	}
	r.ours = median(took[1:]).String()
	return s.stop(ctx)
}

func concurrent(ctx context.Context, r *row) error {
	const calls = 10_000
	s, err := launch(ctx, map[string]string{"a.txt": strings.Repeat("0123456789abcde\n", 640)})
	if err != nil {
		return err
	}
	begin := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	failed := 0
	for range calls {
		wg.Go(func() {
			res, err := s.call(ctx, "read_file", map[string]string{"path": "a.txt"})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed++
				return
			}
			seen[res.CallID]++
		})
	}
	wg.Wait()
	took := time.Since(begin)
	peak, err := status(s.cmd.Process.Pid, "VmHWM:")
	if err != nil {
		return err
	}
	doubled := 0
	for _, n := range seen {
		doubled += n - 1
	}
	r.ours = fmt.Sprintf("%d lost, %d doubled, peak %d MB, %v", calls-len(seen), doubled, peak/1000, took.Round(time.Millisecond))
	if failed > 0 {
		r.ours += fmt.Sprintf(", %d failed", failed)
	}
	return s.stop(ctx)
}

// status reads a line of /proc/PID/status, in kB.
func status(pid int, key string) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			var kb int
			_, err := fmt.Sscan(rest, &kb)
			return kb, err
		}
	}
	return 0, fmt.Errorf("no %s in the status of %d", key, pid)
}

func start(ctx context.Context, r *row) error {
	var ours, bash []time.Duration
	for range *rounds + 1 {
		begin := time.Now()
		s, err := launch(ctx, nil)
		if err != nil {
			return err
		}
		ours = append(ours, time.Since(begin))
		if err := s.stop(ctx); err != nil {
			return err
		}
		begin = time.Now()
		if err := exec.CommandContext(ctx, "git", "--version").Run(); err != nil {
			return err
		}
		bash = append(bash, time.Since(begin))
	}
	o, b := median(ours[1:]), median(bash[1:])
	r.ours = o.Round(10 * time.Microsecond).String()
	r.peer = fmt.Sprintf("git --version %v (%.1f×); gopls 107 ms (published anchor)", b.Round(10*time.Microsecond), float64(o)/float64(b))
	return nil
}

func memory(ctx context.Context, r *row) error {
	s, err := launch(ctx, nil)
	if err != nil {
		return err
	}
	kb, err := status(s.cmd.Process.Pid, "VmRSS:")
	if err != nil {
		return err
	}
	r.ours = fmt.Sprintf("%.1f MiB", float64(kb)/1024)
	r.peer = "gopls 31 MiB (published anchor)"
	return s.stop(ctx)
}

func firstAnswer(ctx context.Context, r *row) error {
	took, err := timed(*rounds, func() error {
		s, err := launch(ctx, map[string]string{"a.txt": "needle\n"})
		if err != nil {
			return err
		}
		if _, err := s.call(ctx, "grep", map[string]string{"pattern": "needle"}); err != nil {
			return err
		}
		return s.stop(ctx)
	})
	r.ours = took.Round(10*time.Microsecond).String() + " with the end of the server"
	return err
}

func lineEdit(ctx context.Context, r *row) error {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %d of the file\n", i)
	}
	s, err := launch(ctx, map[string]string{"big.txt": text.String()})
	if err != nil {
		return err
	}
	if err := s.ExecuteCommand(ctx, "sidecar.mode.set", map[string]string{"mode": "review"}, nil); err != nil {
		return err
	}
	n := 0
	took, err := timed(*rounds, func() error {
		n++
		at := 5000 + n
		_, err := s.call(ctx, "edit_file", map[string]string{"path": "big.txt", "search": fmt.Sprintf("line %d of", at), "replace": fmt.Sprintf("LINE %d of", at)})
		return err
	})
	if err != nil {
		return err
	}
	sync, err := timed(*rounds, func() error {
		f, err := os.Create(filepath.Join(s.dir, "probe"))
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, 4096))
		return errors.Join(err, f.Sync(), f.Close())
	})
	r.ours = took.Round(10 * time.Microsecond).String()
	r.peer = fmt.Sprintf("write and sync of 4 KB here: %v", sync.Round(10*time.Microsecond))
	return errors.Join(err, s.stop(ctx))
}

func listThousand(ctx context.Context, r *row) error {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("d%02d/f%03d.txt", i%20, i)] = "one\ntwo\nthree\n"
	}
	s, err := launch(ctx, files)
	if err != nil {
		return err
	}
	if err := s.ExecuteCommand(ctx, "sidecar.mode.set", map[string]string{"mode": "review"}, nil); err != nil {
		return err
	}
	for name := range files {
		if _, err := s.call(ctx, "edit_file", map[string]string{"path": name, "search": "two", "replace": "zwei"}); err != nil {
			return err
		}
	}
	edits := 0
	list, err := timed(*rounds, func() error {
		var got struct {
			Edits []json.RawMessage `json:"edits"`
		}
		err := s.ExecuteCommand(ctx, "sidecar.review.list", nil, &got)
		edits = len(got.Edits)
		return err
	})
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := s.ExecuteCommand(ctx, "sidecar.review.accept", nil, nil); err != nil {
		return err
	}
	accept := time.Since(begin)
	bare, err := bareLoop()
	if err != nil {
		return err
	}
	r.ours = fmt.Sprintf("%v for %d", list.Round(10*time.Microsecond), edits)
	r.peer = fmt.Sprintf("accepting them all %v, a bare loop of write, sync, rename %v (%.1f×)", accept.Round(time.Millisecond), bare.Round(time.Millisecond), float64(accept)/float64(bare))
	return s.stop(ctx)
}

// bareLoop writes a thousand small files anew, each synced and renamed.
func bareLoop() (took time.Duration, err error) {
	dir, err := os.MkdirTemp("", "sidecar-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	begin := time.Now()
	for i := range 1000 {
		name := filepath.Join(dir, fmt.Sprintf("f%03d", i))
		f, err := os.Create(name + ".tmp")
		if err != nil {
			return 0, err
		}
		_, err = f.WriteString("one\nzwei\nthree\n")
		if err := errors.Join(err, f.Sync(), f.Close(), os.Rename(name+".tmp", name)); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}
