// Sandbox compares the start of a confined command with that of a bare one:
//
//	go run ./bench/sandbox -server bin/sidecar-ls [-n rounds]
//
// A round runs `bash -c true` bare, and then at each level that the machine
// has, one after the other. The first rounds are dropped; shown are the medians
// of wall and CPU times in milliseconds, and of what is more than bare. The CPU
// time is that of processes that have ended: what stays for the next command is
// not in it, nor are its children.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

func main() {
	log.SetFlags(0)
	server := flag.String("server", "bin/sidecar-ls", "the server's program")
	rounds := flag.Int("n", 21, "rounds that count")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *server, *rounds)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// way is one way to run a command.
type way struct {
	name string
	run  func(ctx context.Context) error
}

func run(ctx context.Context, server string, rounds int) error {
	self, err := filepath.Abs(server)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "bench-sandbox")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	s := sandbox.Open(self, sandbox.Options{})
	without := sandbox.Open(self, sandbox.Options{Bwrap: filepath.Join(root, "none")})
	began := time.Now()
	st := s.Status()
	fmt.Printf("the level was found in %d ms: %s\n", time.Since(began).Milliseconds(), st.Level)
	confined := func(s *sandbox.Sandbox, mode spec.Mode) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			c, err := s.Command(ctx, spec.Spec{Root: root, Env: spec.Environ(os.Environ()), Mode: mode}, root, "bash", "-c", "true")
			if err != nil {
				return err
			}
			return c.Run()
		}
	}
	ways := []way{
		{"bash -c true", func(ctx context.Context) error { return exec.CommandContext(ctx, "bash", "-c", "true").Run() }},
		{st.Level.String(), confined(s, spec.Auto)},
		{without.Status().Level.String(), confined(without, spec.Auto)},
		{"off", confined(s, spec.Off)},
	}
	costs := make([][]cost.Cost, len(ways))
	const warm = 3
	for i := range rounds + warm {
		for j, w := range ways {
			c, err := measure(ctx, w.run)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if i >= warm {
				costs[j] = append(costs[j], c)
			}
		}
	}
	fmt.Printf("%-32s %9s %9s %9s %9s\n", "ms", "wall", "cpu", "wall +", "cpu +")
	for j, w := range ways {
		var wall, cpu, moreWall, moreCPU []time.Duration
		for i, c := range costs[j] {
			wall, cpu = append(wall, c.Wall), append(cpu, c.CPU)
			moreWall, moreCPU = append(moreWall, c.Wall-costs[0][i].Wall), append(moreCPU, c.CPU-costs[0][i].CPU)
		}
		fmt.Printf("%-32s %9.1f %9.1f %9.1f %9.1f\n", w.name, cost.Millis(cost.Middle(wall)), cost.Millis(cost.Middle(cpu)), cost.Millis(cost.Middle(moreWall)), cost.Millis(cost.Middle(moreCPU)))
	}
	return nil
}

func measure(ctx context.Context, do func(ctx context.Context) error) (cost.Cost, error) {
	began, used := time.Now(), cost.WithChildren()
	err := do(ctx)
	return cost.Cost{Wall: time.Since(began), CPU: cost.WithChildren() - used}, err
}
