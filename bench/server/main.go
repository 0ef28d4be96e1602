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
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wire"
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
		{name: "small call over stdio, p50", reach: "≤ 200 µs", measure: smallCall},
		{name: "result of 1 MiB over stdio", reach: "≤ 12 ms", measure: bigResult},
		{name: "cancel to reply", reach: "≤ 1 ms", measure: cancelCall},
		{name: "10,000 concurrent calls", reach: "0 lost, 0 doubled, peak ≤ 150 MB", measure: concurrent},
		{name: "start to initialize", reach: "≤ 10 ms", measure: start},
		{name: "memory after initialize", reach: "≤ 45 MiB", measure: memory},
		{name: "start to the first tool answer", reach: "≤ 50 ms", measure: firstAnswer},
		{name: "inexact 20-line edit located in 10,000 lines", reach: "≤ 5 ms, right", measure: locate},
		{name: "edit of one line in 10,000, pending with its hunks", reach: "≤ 5 ms", measure: lineEdit},
		{name: "list of 1,000 pending files", reach: "≤ 20 ms", measure: listThousand},
		{name: "accept of a batch of 1,000 files", reach: "≤ 2× a bare loop", measure: acceptBatch},
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

// raw is a started server with a client that costs next to nothing.
type raw struct {
	*wire.Client
	in  io.Closer
	cmd *exec.Cmd
	dir string
}

func launchRaw(ctx context.Context, files map[string]string) (*raw, error) {
	dir, err := workspaceOf(files)
	if err != nil {
		return nil, err
	}
	cmd := command(ctx, dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := wire.New(in, out)
	return &raw{c, in, cmd, dir}, c.Initialize(workspace.FileURI(dir))
}

func (r *raw) stop() error {
	_, err := r.Call("shutdown", nil)
	return errors.Join(err, r.in.Close(), r.cmd.Wait(), os.RemoveAll(r.dir))
}

// running is a started server with its workspace.
type running struct {
	*fakeeditor.Editor
	cmd *exec.Cmd
	dir string
}

func workspaceOf(files map[string]string) (string, error) {
	dir, err := os.MkdirTemp("", "sidecar-bench-")
	if err != nil {
		return "", err
	}
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func command(ctx context.Context, dir string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, *binary, "serve", "--log-level", "error")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir)
	return cmd
}

func launch(ctx context.Context, files map[string]string) (*running, error) {
	dir, err := workspaceOf(files)
	if err != nil {
		return nil, err
	}
	cmd := command(ctx, dir)
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
	return cost.Middle(took[1:]), nil
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
	o, b := cost.Middle(ours[1:]), cost.Middle(bash[1:])
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
	own, err := status(s.cmd.Process.Pid, "RssAnon:")
	if err != nil {
		return err
	}
	// The rest are pages of the program's file. A file that was written just
	// now is in the page cache in large pieces, and more of it is mapped at
	// once than after it was read from the disk; the Makefile has the linker
	// place the program so that pieces of 2 MiB are not mapped whole.
	r.ours = fmt.Sprintf("%.1f MiB, %.1f of its own", float64(kb)/1024, float64(own)/1024)
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
