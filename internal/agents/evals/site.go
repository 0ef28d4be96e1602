package evals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Ask is what an agent is to do.
type Ask struct {
	Profile string // of the model; "" is the active one
	Prompt  string
	Tokens  int64 // that it may use; 0 is no bound
}

// Told is what came of it.
type Told struct {
	End     string  // the reason, as runs have them
	Why     string  // in words
	Steps   int64   // requests to the model
	Tokens  int64   // read, written and cached
	Cost    float64 // in US dollars
	Priced  bool    // Cost is known
	Refused int     // calls of tools that edit files which failed
}

// Ran is how a command ended.
type Ran struct {
	Code   int
	Output string
}

// Place is a workspace that agents and commands work in. A shadow is "" for the folder.
type Place interface {
	// Work has an agent work until it stops. The end of ctx stops it.
	Work(ctx context.Context, shadow string, a Ask) (Told, error)
	// Run runs a command as an agent's commands are run.
	Run(ctx context.Context, shadow string, argv []string) (Ran, error)
	// Shadow makes a shadow workspace of a commit and returns its directory.
	Shadow(ctx context.Context, commit string) (id, dir string, err error)
	Discard(ctx context.Context, shadow string) error
	Close() error
}

// site is where a task is done once.
type site struct {
	Place
	shadow, dir string
	leave       func() error
}

// sites makes them.
type sites struct {
	programs *lookup.Finder
	open     func(ctx context.Context, dir string) (Place, error)
	dir      string // of the copies
	keep     bool

	mu    sync.Mutex
	repos map[string]Place // by their paths
}

// site brings the files of a task into a copy of a name, or into a shadow.
func (s *sites) site(ctx context.Context, t Task, name string) (*site, error) {
	if t.Repository != "" {
		return s.inShadow(ctx, t)
	}
	return s.inCopy(ctx, t, name)
}

// lacks says which of the commands that a task needs does not work; "" if all do.
func (at *site) lacks(ctx context.Context, t Task) (string, error) {
	for _, argv := range t.Needs {
		ran, err := at.Run(ctx, at.shadow, argv)
		if err != nil {
			return "", err
		}
		if ran.Code != 0 {
			return fmt.Sprintf("%s does not work here: exit code %d", strings.Join(argv, " "), ran.Code), nil
		}
	}
	return "", nil
}

// setUp readies the files.
func (at *site) setUp(ctx context.Context, t Task) error {
	if t.Setup == nil {
		return nil
	}
	ran, err := at.Run(ctx, at.shadow, t.Setup)
	if err == nil && ran.Code != 0 {
		err = fmt.Errorf("setup ends with the exit code %d: %s", ran.Code, ran.Output)
	}
	return err
}

func (s *sites) inCopy(ctx context.Context, t Task, name string) (*site, error) {
	dir := filepath.Join(s.dir, t.Name, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := lay(t.files, repoDir, dir); err != nil {
		return nil, err
	}
	if err := repository(ctx, s.programs, dir); err != nil {
		return nil, err
	}
	p, err := s.open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &site{Place: p, dir: dir, leave: func() error {
		err := p.Close()
		if !s.keep {
			err = errors.Join(err, osfile.RemoveAll(dir))
		}
		return err
	}}, nil
}

func (s *sites) inShadow(ctx context.Context, t Task) (*site, error) {
	p, err := s.repo(ctx, t.Repository)
	if err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	id, dir, err := p.Shadow(ctx, t.Commit)
	if err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	return &site{Place: p, shadow: id, dir: dir, leave: func() error {
		if s.keep {
			return nil
		}
		return p.Discard(context.WithoutCancel(ctx), id)
	}}, nil
}

// repo is a repository, which stays open for all tasks in it.
func (s *sites) repo(ctx context.Context, dir string) (Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.repos[dir]; p != nil {
		return p, nil
	}
	p, err := s.open(ctx, dir)
	if err == nil {
		s.repos[dir] = p
	}
	return p, err
}

// close ends what is open, and removes the copies.
func (s *sites) close() (err error) {
	for _, p := range s.repos {
		err = errors.Join(err, p.Close())
	}
	if !s.keep {
		err = errors.Join(err, osfile.RemoveAll(s.dir))
	}
	return err
}
