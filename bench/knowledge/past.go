package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
	"github.com/sidecar-ls/sidecar-ls/pki/touched"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// pasts knows the commits of repositories, which are read once each.
type pasts struct {
	mu    sync.Mutex
	repos map[string]map[string]*pastCommit // by directory and hash

	recent map[string]*history.History // of commits that were asked for lately
}

type pastCommit struct {
	history.Commit
	parents []string
	blobs   [][2]string // of each file, what it was before and after; empty for one that was added or removed
}

// of returns what led to a commit and nothing else: later commits may hold the
// answers.
func (p *pasts) of(ctx context.Context, dir, commit string) (*history.History, error) {
	if err := p.read(ctx, dir); err != nil {
		return nil, err
	}
	return p.known(dir, commit), nil
}

// known is of for a repository that was read.
func (p *pasts) known(dir, commit string) *history.History {
	const few = 32
	name := dir + "@" + commit
	p.mu.Lock()
	all, past := p.repos[dir], p.recent[name]
	p.mu.Unlock()
	if past != nil {
		return past
	}
	past = history.Of(before(all, commit))
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.recent) >= few || p.recent == nil {
		p.recent = map[string]*history.History{}
	}
	p.recent[name] = past
	return past
}

// before are the newest commits that led to one.
func before(all map[string]*pastCommit, commit string) []history.Commit {
	seen := map[string]bool{commit: true}
	var list []*pastCommit
	for queue := []string{commit}; len(queue) > 0; {
		c := all[queue[0]]
		if queue = queue[1:]; c == nil {
			continue // beyond the end of a shallow clone
		}
		if len(c.parents) == 1 && len(c.Files) <= history.MaxFiles {
			list = append(list, c)
		}
		for _, parent := range c.parents {
			if !seen[parent] {
				seen[parent] = true
				queue = append(queue, parent)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *pastCommit) int { return int(b.Time - a.Time) })
	commits := make([]history.Commit, 0, history.MaxCommits)
	for _, c := range list[:min(len(list), history.MaxCommits)] {
		commits = append(commits, c.Commit)
	}
	return commits
}

// read reads the commits of a repository, unless that was done.
func (p *pasts) read(ctx context.Context, dir string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.repos[dir] != nil {
		return nil
	}
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "-c", "core.quotePath=false", "log", "--all", "--no-renames", "--raw", "--abbrev=40",
		"--format=%x01%H%x02%P%x02%ct%x02%B%x02").Output()
	if err != nil {
		return fmt.Errorf("git log of %s: %w", dir, err)
	}
	stops := terms.Stops()
	all := map[string]*pastCommit{}
	for text := range bytes.SplitSeq(out, []byte{1}) {
		f := strings.Split(string(text), "\x02")
		if len(f) != 5 {
			continue
		}
		when, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return err
		}
		c := &pastCommit{parents: strings.Fields(f[1])}
		var files []string
		for line := range strings.Lines(f[4]) {
			meta, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if fields := strings.Fields(meta); ok && len(fields) == 5 && len(files) <= history.MaxFiles { // more are too many, whatever they are
				blobs := [2]string{fields[2], fields[3]}
				if fields[4] != "M" {
					blobs = [2]string{}
				}
				files, c.blobs = append(files, name), append(c.blobs, blobs)
			}
		}
		c.Commit = history.New(when, f[3], files, stops)
		all[f[0]] = c
	}
	if err := readTouched(ctx, dir, all); err != nil {
		return err
	}
	if p.repos == nil {
		p.repos = map[string]map[string]*pastCommit{}
	}
	p.repos[dir] = all
	return nil
}

// change is that of a file by a commit.
type change struct {
	*pastCommit
	file int
}

func (c *change) path() string { return c.Files[c.file] }

// readTouched finds the units that the commits changed.
func readTouched(ctx context.Context, dir string, all map[string]*pastCommit) error {
	var list []change
	for _, c := range all {
		if len(c.parents) != 1 || len(c.Files) > history.MaxFiles {
			continue
		}
		c.Units = make([][]history.Name, len(c.Files))
		for i := range c.Files {
			if c.blobs[i][0] != "" {
				list = append(list, change{c, i})
			}
		}
	}
	slices.SortFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.path(), b.path()), cmp.Compare(b.Time, a.Time), cmp.Compare(a.blobs[a.file][0], b.blobs[b.file][0]))
	})
	defer func() {
		for _, c := range all {
			c.blobs = nil
		}
	}()
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	each(workers, func(k, _ int) {
		shelf := shelf{}
		defer shelf.close()
		repo, err := shelf.open(ctx, dir)
		if err != nil {
			errs[k] = err
			return
		}
		versions := touched.Versions[string]{
			Language: func(name string) string { return treesitter.Language(path.Base(name), nil) },
			Read: func(sha string) ([]byte, error) {
				data, err := repo.read(sha)
				if errors.Is(err, errMissing) {
					return nil, nil
				}
				return data, err
			},
		}
		for i := k * len(list) / workers; i < (k+1)*len(list)/workers && errs[k] == nil; i++ {
			c := &list[i]
			blobs := c.blobs[c.file]
			c.Units[c.file], errs[k] = versions.Touched(c.path(), blobs[0], blobs[1])
		}
	})
	return errors.Join(errs...)
}
