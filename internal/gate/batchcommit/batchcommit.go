// Package batchcommit makes the commits that wait for a batch of the review queue,
// once a person has accepted it.
package batchcommit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// neverError is why a commit is not made, now or later.
type neverError struct{ error }

// Is says so to the queue.
func (neverError) Is(target error) bool { return target == pendingedits.ErrUnseen }

// Committer makes the commits of accepted batches in the repository that has
// their files.
type Committer struct {
	root  string // of the workspace; where a commit of what is staged is made
	repos Repos
	disk  *workspace.Disk
	hooks atomic.Pointer[gitrepo.Hooks]
	made  func(pendingedits.CommitRequest) // hears of each commit; nil: nobody does
}

// Repos opens the repository of a directory: *repos.Repos.
type Repos interface {
	Open(ctx context.Context, dir string) (*gitrepo.Repo, error)
}

// New returns a Committer for the workspace in root, where the names of batches are of the files of disk: it is asked
// as soon as a queue is opened, about commits that a crash interrupted. made hears of each commit.
func New(root string, repos Repos, disk *workspace.Disk, made func(pendingedits.CommitRequest)) *Committer {
	return &Committer{root: root, repos: repos, disk: disk, made: made}
}

// SetHooks says who runs the hooks of repositories from now on. Until then nobody does.
func (c *Committer) SetHooks(hooks gitrepo.Hooks) { c.hooks.Store(&hooks) }

func (c *Committer) runHooks() gitrepo.Hooks {
	if h := c.hooks.Load(); h != nil {
		return *h
	}
	return nil
}

// Staged reports whether something is staged that no commit of the list is to
// take.
func (c *Committer) Staged(ctx context.Context, waiting pendingedits.List) bool {
	if slices.ContainsFunc(waiting.Commits, func(q pendingedits.Commit) bool { return len(q.Files) == 0 }) {
		return false
	}
	repo, err := c.repos.Open(ctx, c.root)
	if err != nil {
		return false
	}
	st, err := repo.Status(ctx, gitrepo.StatusOptions{Untracked: gitrepo.UntrackedNone})
	return err == nil && slices.ContainsFunc(st.Files, func(f gitrepo.FileStatus) bool { return f.Staged != ' ' && !f.Conflict })
}

// Beside reports whether a file is in the same repository as another one, whose name is at:
// "" is the workspace's own repository.
func (c *Committer) Beside(ctx context.Context, at string) func(name string) bool {
	of := map[string]string{} // by directory
	top := func(path string) string {
		dir, _, err := real(path)
		if err != nil {
			return ""
		}
		if _, known := of[dir]; !known {
			of[dir] = ""
			if repo, err := c.repos.Open(ctx, dir); err == nil {
				of[dir] = repo.Dir
			}
		}
		return of[dir]
	}
	own := top(filepath.Join(c.root, "file"))
	if at != "" {
		own = top(c.disk.Abs(at))
	}
	return func(name string) bool { return top(c.disk.Abs(name)) == own }
}

// Head implements pendingedits.Committer.
func (c *Committer) Head(ctx context.Context, r pendingedits.CommitRequest) (string, error) {
	repo, _, err := c.request(ctx, r)
	if err != nil {
		return "", err
	}
	head, err := repo.Head(ctx)
	if err != nil || len(r.Files) > 0 {
		return head, err
	}
	// What is staged tells the commit from others afterwards. An index that is
	// no tree can't be committed either, and git says why.
	tree, _ := repo.StagedTree(ctx)
	return head + stagedMark + tree, nil
}

// stagedMark stands between the commit and the tree in what Head says of a
// commit of what is staged.
const stagedMark = " staged "

// Commit implements pendingedits.Committer.
func (c *Committer) Commit(ctx context.Context, r pendingedits.CommitRequest) (string, error) {
	id, err := c.commit(ctx, r)
	if err == nil && c.made != nil {
		c.made(r)
	}
	return id, err
}

func (c *Committer) commit(ctx context.Context, r pendingedits.CommitRequest) (string, error) {
	repo, req, err := c.request(ctx, r)
	if err != nil {
		return "", err
	}
	if r.Ref.Kind != "" {
		return r.Ref.Commit, c.makeRef(ctx, repo, r.Ref)
	}
	if len(req.Paths) == 0 {
		below, err := filepath.Rel(repo.Dir, c.root)
		if err != nil {
			return "", err
		}
		if below == "." {
			below = ""
		}
		res, err := repo.Commit(ctx, r.Message, r.Models, filepath.ToSlash(below), c.runHooks())
		return res.Hash, err
	}
	if r.Forward != "" {
		err := gitrepo.FastForward(ctx, repo, r.Forward, req.Paths, c.runHooks())
		if errors.Is(err, gitrepo.ErrNotAsThere) || errors.Is(err, gitrepo.ErrNotAhead) {
			err = neverError{err}
		}
		return r.Forward, err
	}
	back := func(context.Context) error { return nil }
	if r.Branch != "" {
		if back, err = gitrepo.StartBranch(ctx, repo, r.Branch); err != nil {
			return "", err
		}
	}
	req.Hooks, req.Merges = c.runHooks(), r.Merges
	res, err := repo.CommitPaths(ctx, req)
	if err != nil { // the workspace is where it was, as its files are
		err = errors.Join(err, back(context.WithoutCancel(ctx)))
	}
	if errors.Is(err, gitrepo.ErrNothingToCommit) {
		err = fmt.Errorf("%w: %w", pendingedits.ErrNothingToCommit, err)
	}
	return res.Hash, err
}

// refPrefix is where the references of a kind are.
var refPrefix = map[workspace.RefKind]string{workspace.RefTag: "refs/tags/", workspace.RefBranch: "refs/heads/"}

// makeRef makes a branch or a tag, or checks a branch out.
func (c *Committer) makeRef(ctx context.Context, repo *gitrepo.Repo, ref workspace.Reference) (err error) {
	switch ref.Kind {
	case workspace.RefTag:
		err = gitrepo.MakeTag(ctx, repo, ref.Name, ref.Commit, ref.Message)
	case workspace.RefBranch:
		err = gitrepo.MakeBranch(ctx, repo, ref.Name, ref.Commit)
	case workspace.RefSwitch:
		err = gitrepo.SwitchTo(ctx, repo, ref.Name, ref.Commit, ref.New, c.runHooks())
	}
	if errors.Is(err, gitrepo.ErrNotThere) {
		err = neverError{err}
	}
	return err
}

// madeID is an id of what was made, "" of what was not.
func madeID(id string, made bool) string {
	if !made {
		return ""
	}
	return id
}

// Made implements pendingedits.Committer.
func (c *Committer) Made(ctx context.Context, head string, r pendingedits.CommitRequest) (string, error) {
	repo, req, err := c.request(ctx, r)
	if err != nil {
		return "", err
	}
	switch {
	case r.Ref.Kind == workspace.RefSwitch:
		since, _, _ := strings.Cut(head, stagedMark)
		made, err := gitrepo.SwitchMade(ctx, repo, since, r.Ref.Name, r.Ref.Commit)
		return madeID(r.Ref.Commit, made), err
	case r.Ref.Kind != "":
		made, err := gitrepo.RefMade(ctx, repo, refPrefix[r.Ref.Kind]+r.Ref.Name, r.Ref.Commit)
		return madeID(r.Ref.Commit, made), err
	case r.Forward != "":
		made, err := gitrepo.FastForwarded(ctx, repo, head, r.Forward, req.Paths)
		return madeID(r.Forward, made), err
	}
	head, req.Staged, _ = strings.Cut(head, stagedMark)
	hash, _, err := repo.CommitMade(ctx, head, req)
	return hash, err
}

// request is r for the repository of its files, which must be one.
func (c *Committer) request(ctx context.Context, r pendingedits.CommitRequest) (*gitrepo.Repo, gitrepo.CommitRequest, error) {
	req := gitrepo.CommitRequest{Message: r.Message, Models: r.Models}
	if len(r.Files) == 0 {
		at := c.root
		if r.Ref.Kind != "" {
			at = c.disk.Abs(r.Ref.Dir)
		}
		repo, err := c.repos.Open(ctx, at)
		return repo, req, err
	}
	repos := map[string]*gitrepo.Repo{} // by directory
	var repo *gitrepo.Repo
	for _, f := range r.Files {
		dir, base, err := real(c.disk.Abs(f.Name))
		if err != nil {
			return nil, req, err
		}
		at := repos[dir]
		if at == nil {
			if at, err = c.repos.Open(ctx, dir); err != nil {
				return nil, req, fmt.Errorf("%s: %w", f.Name, err)
			}
			repos[dir] = at
		}
		if repo != nil && at.Dir != repo.Dir {
			return nil, req, errors.New("the files of this commit are in more than one repository; reject those of one, or the commit")
		}
		repo = at
		rel, err := filepath.Rel(repo.Dir, filepath.Join(dir, base))
		if err != nil {
			return nil, req, err
		}
		now, err := c.disk.ReadFile(f.Name)
		req.Paths = append(req.Paths, gitrepo.PathState{
			Path: filepath.ToSlash(rel), Data: f.Data, Exists: f.Data != nil, Mode: f.Mode,
			Current: err == nil && f.Data != nil && f.Mode&fs.ModeSymlink == 0 && bytes.Equal(now, f.Data),
		})
	}
	return repo, req, nil
}

// real splits a path into the nearest directory that is there, with its links
// resolved, and the rest.
func real(path string) (dir, rest string, err error) {
	for dir = filepath.Dir(path); ; dir = filepath.Dir(dir) {
		found, err := filepath.EvalSymlinks(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		rest, err = filepath.Rel(dir, path)
		return found, rest, err
	}
}
