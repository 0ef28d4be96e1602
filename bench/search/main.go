// Search compares the project's grep and walk with ripgrep's, on the Go
// distribution's source tree and on the directories that are named:
//
//	go run ./bench/search [-n rounds] [-rg path] [-only task] [dir...]
//
// A round runs all variants one after another: ripgrep, ours as a process,
// ours in this process. Everything printed goes to memory-backed files. The
// first round is dropped; shown are the medians of the rounds' wall and CPU
// times in milliseconds and of their ratios to ripgrep in the same round. Then
// follows what searches take in a server that stays (-only resident); nothing
// is written, but files are touched.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools/search"
)

// task is one thing to do in all ways.
type task struct {
	name    string
	rg      []string // arguments
	ours    []string
	process func(ctx context.Context, files workspace.Files) error // the same in this process
}

func grep(name, pattern string, fold bool) task {
	t := task{name: name}
	t.rg = []string{"-n", "--no-heading"}
	t.ours = []string{"grep"}
	if fold {
		t.rg, t.ours = append(t.rg, "-i"), append(t.ours, "-i")
	}
	t.rg, t.ours = append(t.rg, "-e", pattern), append(t.ours, pattern)
	t.process = func(ctx context.Context, files workspace.Files) error {
		q := search.Query{Pattern: pattern, Fold: fold, Walk: workspace.WalkOptions{Workers: 2}}
		_, err := q.Run(ctx, files)
		return err
	}
	return t
}

var tasks = []task{
	{
		name: "files", rg: []string{"--files"}, ours: []string{"files"},
		process: func(ctx context.Context, files workspace.Files) error {
			const most = 10_000 // that search_files lists
			_, _, err := search.Files(ctx, nil, files, workspace.WalkOptions{Workers: 2}, most, func(string) bool { return true })
			return err
		},
	},
	grep("absent", "zqxjkvwzz", false),
	grep("rare", "mutex_lock_interruptible|NewSharedInformerFactory|runtime_pollWait", false),
	grep("rare, one word", "SharedInformer", false),
	grep("rare -i", "sharedinformer", true),
	grep("common", "return", false),
	grep("regex", `(func|static int) \(?\w+ \*?\w+\)? ?String\(`, false),
	grep("no literal", `[a-z]+_\d{4}x\d+`, false),
	grep("no literal, wide", `\w+\s*=\s*\w+\[\d+\]\s*\+`, false),
	grep("no literal, common", `[a-z]+\s+[a-z]+\s*\([^)]*\)\s*$`, false),
	grep("no literal, letters", `[A-Za-z]{9,}[0-9]`, false),
	grep("alternatives", `(get|put|set)_[a-z]+_(irq|dma)`, false),
}

func main() {
	debug.SetGCPercent(serve.GCPercent) // as the server does
	log.SetFlags(0)
	rounds := flag.Int("n", 7, "rounds that count")
	rg := flag.String("rg", "rg", "the ripgrep to compare with")
	only := flag.String("only", "", "run only tasks whose name contains this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *rounds, *rg, *only, flag.Args())
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, rounds int, rg, only string, dirs []string) (err error) {
	tmp, err := os.MkdirTemp(memory(), "bench-search")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	ours := filepath.Join(tmp, "ours")
	build := exec.CommandContext(ctx, "go", "build", "-o", ours, "./bench/search/ours")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	version, err := exec.CommandContext(ctx, rg, "--version").Output()
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(version), "\n")
	fmt.Printf("against %s, %d rounds; ms wall/cpu, ratio wall/cpu\n", line, rounds)
	for _, dir := range append([]string{strings.TrimSpace(string(root))}, dirs...) {
		if err := directory(ctx, dir, rg, ours, tmp, rounds, only); err != nil {
			return err
		}
	}
	return nil
}

// memory is a directory whose files stay in memory.
func memory() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

func directory(ctx context.Context, dir, rg, ours, tmp string, rounds int, only string) error {
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		return err
	}
	defer disk.Close()
	if only == "resident" {
		fmt.Printf("\n%s\n", filepath.Base(dir))
		return measureResident(ctx, dir, rg, tmp, rounds, disk)
	}
	fmt.Printf("\n%-16s %-15s %-15s %-15s %-13s %-13s %s\n", filepath.Base(dir), "rg -j2", "process", "in process", "process/rg", "in process/rg", "same lines")
	for _, t := range tasks {
		if !strings.Contains(t.name, only) {
			continue
		}
		var all [3][]cost.Cost
		same := ""
		for i := range rounds + 1 {
			a, err := command(ctx, dir, filepath.Join(tmp, "rg.out"), rg, append([]string{"-j2", "--no-require-git", "--no-config"}, append(t.rg, ".")...)...)
			if err != nil {
				return err
			}
			b, err := command(ctx, dir, filepath.Join(tmp, "ours.out"), ours, append(slices.Clone(t.ours), ".")...)
			if err != nil {
				return err
			}
			c, err := inProcess(ctx, disk, t)
			if err != nil {
				return err
			}
			if i == 0 { // warm-up
				if same, err = compare(tmp); err != nil {
					return err
				}
				continue
			}
			for k, v := range []cost.Cost{a, b, c} {
				all[k] = append(all[k], v)
			}
		}
		fmt.Printf("%-16s %-15s %-15s %-15s %-13s %-13s %s\n", t.name, median(all[0]), median(all[1]), median(all[2]),
			cost.Ratio(all[1], all[0]), cost.Ratio(all[2], all[0]), same)
	}
	if only != "" {
		return nil
	}
	return measureResident(ctx, dir, rg, tmp, rounds, disk)
}

func command(ctx context.Context, dir, out, name string, args ...string) (cost.Cost, error) {
	f, err := os.Create(out)
	if err != nil {
		return cost.Cost{}, err
	}
	defer f.Close()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, f, os.Stderr
	c, err := cost.Run(cmd)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 { // 1: no match
		return c, fmt.Errorf("%s: %w", cmd, err)
	}
	return c, nil
}

func inProcess(ctx context.Context, disk *workspace.Disk, t task) (cost.Cost, error) {
	runtime.GC()
	return cost.Here(func() error { return t.process(ctx, disk) })
}

// median is that of rounds.
func median(rounds []cost.Cost) string { return cost.Typical(rounds).Text(0) }

// compare says whether both printed the same lines; ripgrep's carriage returns
// and ./ don't count, nor does the order.
func compare(tmp string) (string, error) {
	var sorted [2][]string
	for i, name := range []string{"rg.out", "ours.out"} {
		data, err := os.ReadFile(filepath.Join(tmp, name))
		if err != nil {
			return "", err
		}
		for l := range bytes.Lines(data) {
			sorted[i] = append(sorted[i], strings.TrimPrefix(strings.TrimRight(string(l), "\r\n"), "./"))
		}
		slices.Sort(sorted[i])
	}
	if slices.Equal(sorted[0], sorted[1]) {
		return fmt.Sprintf("yes, %d", len(sorted[0])), nil
	}
	return fmt.Sprintf("NO: %d and %d", len(sorted[0]), len(sorted[1])), nil
}
