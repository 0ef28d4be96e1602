// Shadow compares shadow workspaces with git worktree add, on the Go
// distribution's source tree and on the git repositories that are named, of
// which copies are made:
//
//	go run ./bench/shadow [-n rounds] [-lazy] [-tmp dir] [repository...]
//
// A round makes a worktree with git and a shadow in this process, one after
// the other, and asks git status in both. No directory is deleted before the
// end: on ext4 making files soon after deleting some takes many times as long,
// and also when somebody else deleted them. So there is a floor to compare with:
// making the same files empty.
// Then a shadow is discarded and made again from what it left. With -lazy it is
// shadows without files that are measured, with searches in them beside those
// of the main tree. The first round
// is dropped; shown are the medians of wall and CPU time in milliseconds and of
// the ratios in the same round.
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
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

func main() {
	debug.SetGCPercent(serve.GCPercent) // as the server does
	log.SetFlags(0)
	rounds := flag.Int("n", 7, "rounds that count")
	tmp := flag.String("tmp", os.TempDir(), "where the copies go; the file system matters")
	lazy := flag.Bool("lazy", false, "measure shadows without files")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *rounds, *lazy, *tmp, flag.Args())
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, rounds int, lazy bool, tmp string, repos []string) (err error) {
	dir, err := os.MkdirTemp(tmp, "bench-shadow")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	measured := repository
	if lazy {
		fmt.Printf("%d rounds; ms wall/cpu, ratio wall/cpu to the main tree\n\n", rounds)
		measured = lazily
	} else {
		header(rounds)
	}
	for i, from := range append([]string{strings.TrimSpace(string(root))}, repos...) {
		at := filepath.Join(dir, strconv.Itoa(i))
		if err := prepare(ctx, from, filepath.Join(at, "repo"), i == 0); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		if err := measured(ctx, filepath.Base(from), at, rounds); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	return nil
}

func header(rounds int) {
	fmt.Printf("%d rounds; ms wall/cpu, ratio wall/cpu to git\n\n%-10s %8s  %-17s %-17s %-17s %-11s %-17s %-11s %-15s %-15s %-11s\n", rounds,
		"", "files", "git worktree add", "empty files", "shadow", "ratio", "shadow again", "ratio", "status, git's", "status, ours", "ratio")
}

// prepare makes a repository of a copy of from.
func prepare(ctx context.Context, from, to string, plain bool) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "cp", "-r", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	steps := [][]string{{"update-index", "-q", "--really-refresh"}}
	if plain {
		steps = [][]string{
			{"init", "-q", "-b", "main"}, {"add", "-A", "-f", "src", "test", "api", "lib", "doc", "misc"},
			{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "tree"},
		}
	}
	for _, args := range steps {
		if _, err := git(ctx, to, args...); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second) // so that the index is younger than what it vouches for
	_, err := git(ctx, to, "status")
	return err
}

// git runs git, which reads no settings of this machine.
func git(ctx context.Context, dir string, args ...string) (cost.Cost, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	c, err := cost.Run(cmd)
	if err != nil {
		return c, fmt.Errorf("git %s: %w: %s", args[0], err, out.Bytes())
	}
	return c, nil
}

// round is what one round took.
type round struct{ git, empty, ours, again, gitStatus, oursStatus cost.Cost }

func repository(ctx context.Context, name, at string, rounds int) error {
	repo := filepath.Join(at, "repo")
	out, err := exec.CommandContext(ctx, "git", "-C", repo, "ls-files", "-z").Output()
	if err != nil {
		return err
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var list []round
	for i := range rounds + 1 {
		r, err := measure(ctx, repo, filepath.Join(at, fmt.Sprintf("git%d", i)), fmt.Sprintf("s%d", i), files)
		if err != nil {
			return err
		}
		if i > 0 {
			list = append(list, r)
		}
	}
	pick := func(f func(round) cost.Cost) string { return cost.Typical(each(list, f)).Text(0) }
	ratio := func(a, b func(round) cost.Cost) string { return cost.Ratio(each(list, a), each(list, b)) }
	byGit, ours, again := func(r round) cost.Cost { return r.git }, func(r round) cost.Cost { return r.ours }, func(r round) cost.Cost { return r.again }
	gits, ourss := func(r round) cost.Cost { return r.gitStatus }, func(r round) cost.Cost { return r.oursStatus }
	fmt.Printf("%-10s %8d  %-17v %-17v %-17v %-11s %-17v %-11s %-15v %-15v %-11s\n", name, len(files),
		pick(byGit), pick(func(r round) cost.Cost { return r.empty }), pick(ours), ratio(ours, byGit), pick(again), ratio(again, byGit), pick(gits), pick(ourss), ratio(ourss, gits))
	return nil
}

// makeEmpty makes empty files below dir.
func makeEmpty(dir string, files []string) error {
	made := map[string]bool{}
	for _, name := range files {
		path := filepath.Join(dir, name)
		if parent := filepath.Dir(path); !made[parent] {
			if err := os.MkdirAll(parent, 0o755); err != nil {
				return err
			}
			made[parent] = true
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func measure(ctx context.Context, repo, tree, id string, files []string) (r round, err error) {
	m, err := shadow.New(shadow.Options{Dir: repo, Settings: many{}, Prepare: func() error { return excludeFromIndex(repo) }})
	if err != nil {
		return r, err
	}
	defer m.Close()
	create := func(id string) func() error {
		return func() error {
			_, err := m.Create(ctx, shadow.CreateRequest{ID: id})
			return err
		}
	}
	path := filepath.Join(repo, ".sidecar", "shadows", id)
	for _, step := range []struct {
		into *cost.Cost
		do   func() (cost.Cost, error)
	}{
		{&r.git, func() (cost.Cost, error) { return git(ctx, repo, "worktree", "add", "-q", "--detach", tree, "HEAD") }},
		{&r.empty, func() (cost.Cost, error) { return cost.Here(func() error { return makeEmpty(tree+"empty", files) }) }},
		{&r.ours, func() (cost.Cost, error) { return cost.Here(create(id)) }},
		{&r.gitStatus, func() (cost.Cost, error) { return git(ctx, tree, "status", "--porcelain") }},
		{&r.oursStatus, func() (cost.Cost, error) { return git(ctx, path, "status", "--porcelain") }},
		{new(cost.Cost), func() (cost.Cost, error) {
			_, err := m.Discard(ctx, id)
			m.Close() // it is cleaned
			return cost.Cost{}, err
		}},
		{&r.again, func() (cost.Cost, error) { return cost.Here(create(id + "again")) }},
	} {
		if *step.into, err = step.do(); err != nil {
			return r, err
		}
	}
	return r, nil
}

// excludeFromIndex keeps the shadows out of git's sight.
func excludeFromIndex(repo string) error {
	dir := filepath.Join(repo, ".sidecar")
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o644))
}

// each is what f says of each of the rounds.
func each[T any](rounds []T, f func(T) cost.Cost) []cost.Cost {
	var list []cost.Cost
	for _, r := range rounds {
		list = append(list, f(r))
	}
	return list
}

// many are settings with limits that no benchmark meets.
type many struct{}

func (many) Limits() shadow.Limits   { return shadow.Limits{Shadows: 1 << 20} }
func (many) Trusted() bool           { return false }
func (many) Hidden(name string) bool { return workspace.Sensitive(name) }
func (many) Setup() []shadow.Step    { return nil }
