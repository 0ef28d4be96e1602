package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// smallCall alternates blocks of calls with blocks through a process that
// only echoes bytes, which is what the kernel takes.
func smallCall(ctx context.Context, r *row) error {
	s, err := launchRaw(ctx, map[string]string{"a.txt": "one line\n"})
	if err != nil {
		return err
	}
	cat, err := startEcho(ctx)
	if err != nil {
		return err
	}
	back := make([]byte, 90)
	const block = 200
	var ours, bare, command, echoed []time.Duration
	for range *rounds + 1 {
		for range block {
			begin := time.Now()
			if _, err := s.Command("sidecar.mode.get", "{}"); err != nil {
				return err
			}
			command = append(command, time.Since(begin))
		}
		for range block { // the whole way of a call, to a tool that finds nothing to do
			begin := time.Now()
			if _, err := s.Command("sidecar.tools.call", `{"name":"read_result","arguments":{"cursor":"none"}}`); err != nil {
				return err
			}
			bare = append(bare, time.Since(begin))
		}
		for range block {
			begin := time.Now()
			if _, err := s.Tool("read_file", map[string]string{"path": "a.txt"}); err != nil {
				return err
			}
			ours = append(ours, time.Since(begin))
		}
		for range block {
			begin := time.Now()
			if err := cat.echo(back); err != nil {
				return err
			}
			echoed = append(echoed, time.Since(begin))
		}
	}
	bash, err := timed(*rounds, func() error { return exec.CommandContext(ctx, "bash", "-c", "true").Run() })
	if err != nil {
		return err
	}
	o, d, c, e := cost.Middle(ours[block:]), cost.Middle(bare[block:]), cost.Middle(command[block:]), cost.Middle(echoed[block:])
	r.ours = fmt.Sprintf("%v dispatched, %v with a file read, %v a command without a tool", d.Round(100*time.Nanosecond), o.Round(100*time.Nanosecond), c.Round(100*time.Nanosecond))
	r.peer = fmt.Sprintf("byte echo %v (%.1f×), bash -c true %v", e.Round(100*time.Nanosecond), float64(d)/float64(e), bash.Round(time.Microsecond))
	return errors.Join(cat.stop(), s.stop())
}

func bigResult(ctx context.Context, r *row) error {
	line := strings.Repeat("word ", 15) + "\n"
	text := strings.Repeat(line, (1<<20)/len(line))
	s, err := launchRaw(ctx, map[string]string{"big.txt": text, "sidecar/settings.json": `{"result.maxBytes":1000000}`})
	if err != nil {
		return err
	}
	cat, err := startEcho(ctx)
	if err != nil {
		return err
	}
	var ours, peer []time.Duration
	var back []byte
	for range *rounds + 1 {
		begin := time.Now()
		body, err := s.Tool("read_file", map[string]string{"path": "big.txt"})
		if err != nil {
			return err
		}
		ours = append(ours, time.Since(begin))
		if len(back) < len(body) {
			back = make([]byte, len(body))
		}
		begin = time.Now()
		if err := cat.echo(back); err != nil {
			return err
		}
		peer = append(peer, time.Since(begin))
	}
	o, e := cost.Middle(ours[1:]), cost.Middle(peer[1:])
	r.ours = fmt.Sprintf("%v for %d KB", o.Round(10*time.Microsecond), len(back)/1000)
	r.peer = fmt.Sprintf("byte echo of as much %v (%.1f×)", e.Round(10*time.Microsecond), float64(o)/float64(e))
	return errors.Join(cat.stop(), s.stop())
}

// echo is a process that gives back what it gets: what the kernel takes.
type echo struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Reader
	big []byte // what is sent when it does not fit into the pipe
}

func startEcho(ctx context.Context) (*echo, error) {
	e := &echo{cmd: exec.CommandContext(ctx, "cat")}
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if e.out, err = e.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return e, e.cmd.Start()
}

// echo sends the bytes of buf and reads as many back into it.
func (e *echo) echo(buf []byte) error {
	sent := make(chan error, 1)
	if len(buf) <= 4096 { // fits into the pipe
		_, err := e.in.Write(buf)
		sent <- err
	} else {
		if len(e.big) < len(buf) {
			e.big = make([]byte, len(buf))
		}
		go func() { _, err := e.in.Write(e.big[:len(buf)]); sent <- err }()
	}
	_, err := io.ReadFull(e.out, buf)
	return errors.Join(<-sent, err)
}

func (e *echo) stop() error { return errors.Join(e.in.Close(), e.cmd.Wait()) }

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
	r.ours = cost.Middle(took[1:]).String()
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
