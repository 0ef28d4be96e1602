package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// pasts knows the commits of repositories, which are read once each.
type pasts struct {
	mu    sync.Mutex
	repos map[string]map[string]*pastCommit // by directory and hash
}

type pastCommit struct {
	history.Commit
	parents []string
}

// of returns what led to a commit and nothing else: later commits may hold the
// answers.
func (p *pasts) of(ctx context.Context, dir, commit string) (*history.History, error) {
	all, err := p.read(ctx, dir)
	if err != nil {
		return nil, err
	}
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
	return history.Of(commits), nil
}

func (p *pasts) read(ctx context.Context, dir string) (map[string]*pastCommit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := p.repos[dir]; all != nil {
		return all, nil
	}
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "-c", "core.quotePath=false", "log", "--all", "--no-renames", "--name-only",
		"--format=%x01%H%x02%P%x02%ct%x02%B%x02").Output()
	if err != nil {
		return nil, fmt.Errorf("git log of %s: %w", dir, err)
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
			return nil, err
		}
		var files []string
		if names := strings.Trim(f[4], "\n"); names != "" {
			files = strings.Split(names, "\n")
		}
		if len(files) > history.MaxFiles {
			files = make([]string, history.MaxFiles+1) // too many, whatever they are
		}
		all[f[0]] = &pastCommit{history.New(when, f[3], files, stops), strings.Fields(f[1])}
	}
	if p.repos == nil {
		p.repos = map[string]map[string]*pastCommit{}
	}
	p.repos[dir] = all
	return all, nil
}
