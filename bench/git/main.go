// Git compares the project's git status and log with the git command and with
// go-git, on a repository with a long history that it makes, and on the
// repositories that are named:
//
//	go run ./bench/git [-n rounds] [dir...]
//
// A round runs all variants one after another: git as a process, ours and
// go-git in this process, each from the opening of the repository on; and ours
// with the repository left open, as the server does. The first round is
// dropped; shown are the medians of the rounds' wall and CPU times in
// milliseconds, and of their ratios to git in the same round. go-git is run
// three times only. It reads the objects, not the settings of the user.
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
	"syscall"

	gogit "github.com/go-git/go-git/v5"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
)

// task is one thing to do in all ways.
type task struct {
	name  string
	git   []string
	ours  func(context.Context, *gitrepo.Repo) error
	gogit func(*gogit.Repository) error
}

var tasks = []task{
	{
		"status", []string{"--no-optional-locks", "status", "--porcelain", "--branch"},
		func(ctx context.Context, r *gitrepo.Repo) error {
			_, err := r.Status(ctx, gitrepo.StatusOptions{})
			return err
		},
		func(r *gogit.Repository) error {
			w, err := r.Worktree()
			if err == nil {
				_, err = w.Status()
			}
			return err
		},
	},
	{
		"log -50", []string{"--no-pager", "log", "-50", "--decorate", "--format=%H %s %an %aI %D"},
		func(ctx context.Context, r *gitrepo.Repo) error {
			_, err := r.Log(ctx, gitrepo.LogOptions{Count: 50})
			return err
		},
		func(r *gogit.Repository) error {
			iter, err := r.Log(&gogit.LogOptions{Order: gogit.LogOrderCommitterTime})
			for i := 0; err == nil && i < 50; i++ {
				if _, err = iter.Next(); err != nil {
					return nil // there are fewer
				}
			}
			return err
		},
	},
	{
		"diff", []string{"--no-optional-locks", "--no-pager", "diff"},
		func(ctx context.Context, r *gitrepo.Repo) error {
			_, err := r.Diff(ctx, gitrepo.DiffOptions{})
			return err
		},
		nil, // it has no diff of the working tree
	},
}

func main() {
	debug.SetGCPercent(serve.GCPercent) // as the server does
	log.SetFlags(0)
	rounds := flag.Int("n", 9, "rounds that count")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *rounds, flag.Args())
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, rounds int, dirs []string) (err error) {
	tmp, err := os.MkdirTemp("", "bench-git")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	long := filepath.Join(tmp, "history")
	if err := history(ctx, long); err != nil {
		return err
	}
	version, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return err
	}
	fmt.Printf("against %s, %d rounds; ms wall/cpu, ratio wall/cpu\n", bytes.TrimSpace(version), rounds)
	for _, dir := range append([]string{long}, dirs...) {
		if err := directory(ctx, dir, rounds); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// history makes a repository with 20,000 commits in one pack, and a working
// tree.
func history(ctx context.Context, dir string) error {
	var in bytes.Buffer
	for i := range 20_000 {
		text := fmt.Sprintf("commit %d\n", i)
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter A U Thor <a@example.com> %d +0000\ndata %d\n%s", 1_600_000_000+i*60, len(text), text)
		fmt.Fprintf(&in, "M 100644 inline d%d/e%d/f%d\ndata %d\n%s\n", i%20, i%50, i%1000, len(text), text)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", dir}, {"-C", dir, "fast-import", "--quiet"}, {"-C", dir, "reset", "-q", "--hard"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Stderr = os.Stderr
		if slices.Contains(args, "fast-import") {
			cmd.Stdin = &in
		}
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}

func directory(ctx context.Context, dir string, rounds int) error {
	fmt.Printf("\n%-12s %-14s %-14s %-14s %-14s %-11s %-11s %s\n", filepath.Base(dir), "git", "ours", "open", "go-git", "ours/git", "open/git", "go-git/git")
	open, err := gitrepo.Open(dir, gitrepo.Options{})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		var all [4][]cost.Cost
		theirs, theirRatio := "-", "-"
		for i := range rounds + 1 {
			a, err := command(ctx, dir, t.git)
			if err != nil {
				return err
			}
			b, err := inProcess(func() error {
				r, err := gitrepo.Open(dir, gitrepo.Options{})
				if err != nil {
					return err
				}
				return t.ours(ctx, r)
			})
			if err != nil {
				return err
			}
			c, err := inProcess(func() error { return t.ours(ctx, open) })
			if err != nil {
				return err
			}
			d := cost.Cost{}
			if t.gogit != nil && i <= 3 {
				var failed error
				d, failed = inProcess(func() error {
					r, err := gogit.PlainOpen(dir)
					if err != nil {
						return err
					}
					return t.gogit(r)
				})
				if failed != nil {
					d, theirs = cost.Cost{}, "fails"
				}
			}
			if i == 0 { // warm-up
				continue
			}
			all[0], all[1], all[2] = append(all[0], a), append(all[1], b), append(all[2], c)
			if d.Wall > 0 {
				all[3] = append(all[3], d)
			}
		}
		if len(all[3]) > 0 {
			theirs, theirRatio = median(all[3]), cost.Ratio(all[3], all[0])
		}
		fmt.Printf("%-12s %-14s %-14s %-14s %-14s %-11s %-11s %s\n", t.name, median(all[0]), median(all[1]), median(all[2]), theirs,
			cost.Ratio(all[1], all[0]), cost.Ratio(all[2], all[0]), theirRatio)
	}
	return nil
}

func command(ctx context.Context, dir string, args []string) (cost.Cost, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	c, err := cost.Run(cmd)
	if err != nil {
		return c, fmt.Errorf("%s: %w", cmd, err)
	}
	return c, nil
}

func inProcess(f func() error) (cost.Cost, error) {
	runtime.GC()
	return cost.Here(f)
}

// median is that of rounds.
func median(rounds []cost.Cost) string { return cost.Typical(rounds).Text(2) }
