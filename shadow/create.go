package shadow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// CreateRequest says what shadow is wanted.
type CreateRequest struct {
	ID   string // "": one is made
	Base string // a commit; "": HEAD

	// IncludeUncommitted brings along what the main tree has and no commit:
	// staged or not, new files that no ignore rule excludes, deletions. It is
	// part of the state that the shadow begins with, so it is no change of its.
	IncludeUncommitted bool

	// Lazy makes no files: they are seen, and read from where they are. A
	// repository of a kind that only git makes working trees of gets them all
	// the same.
	Lazy bool

	// View is the main tree as the user sees it: what lies over the disk there,
	// such as open buffers, is uncommitted too. nil: the disk.
	View workspace.Files

	// Progress is called now and then while files are made.
	Progress func(done, total int)
}

// Create makes a shadow: a linked working tree at the commit, on no branch.
// Until it is complete git knows nothing of it, and an error leaves nothing.
func (m *Manager) Create(ctx context.Context, r CreateRequest) (Shadow, error) {
	if err := m.wait(ctx); err != nil {
		return Shadow{}, err
	}
	r.ID, r.Base = cmp.Or(r.ID, newID()), cmp.Or(r.Base, "HEAD")
	if err := errors.Join(checkID(r.ID), checkBase(r.Base)); err != nil {
		return Shadow{}, err
	}
	repo, err := m.repo()
	if err != nil {
		return Shadow{}, err
	}
	if err := m.makeHome(); err != nil {
		return Shadow{}, err
	}
	unlock, err := m.lock(ctx, r.ID, briefly)
	if err != nil {
		return Shadow{}, err
	}
	defer unlock()
	if err := m.free(repo, r.ID); err != nil {
		return Shadow{}, err
	}
	c, err := m.plan(ctx, repo, r)
	if err != nil {
		return Shadow{}, err
	}
	t, err := c.make(ctx)
	if err != nil {
		return Shadow{}, err
	}
	m.log("shadow created", "id", t.ID, "base", t.Base, "kept", c.filled.Kept, "copied", c.filled.Copied, "decoded", c.filled.Decoded)
	return t.Shadow, nil
}

// free fails when the name is taken.
func (m *Manager) free(repo *gitrepo.Repo, id string) error {
	taken := func(by string) error {
		return fmt.Errorf("%w: %s: there is %s; choose another id", ErrExists, id, by)
	}
	if _, err := worktree.Find(repo, id); !errors.Is(err, fs.ErrNotExist) {
		return taken("a working tree of that name")
	}
	if _, err := os.Lstat(m.path(id)); !errors.Is(err, fs.ErrNotExist) {
		return taken(m.path(id))
	}
	return nil
}

// room fails when there are too many shadows, those included that are being
// made, by whichever process.
func (m *Manager) room(repo *gitrepo.Repo) error {
	staged, err := worktree.ListStaged(repo) // before those that they become
	if err != nil {
		return err
	}
	linked, err := worktree.List(repo)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, l := range linked {
		if filepath.Dir(l.Dir) == m.home() {
			names[l.Name] = true
		}
	}
	for _, s := range staged {
		if s.Name == "" || names[s.Name] || !s.BelongsIn(m.home()) {
			continue
		}
		unlock, err := m.tryLock(s.Name)
		if err == nil {
			unlock() // who began it is dead
			continue
		}
		if !errors.Is(err, ErrBusy) {
			return err
		}
		names[s.Name] = true
	}
	if n, most := len(names), m.limits().Shadows; n >= most {
		return fmt.Errorf("%w: there are %d, and at most %d are kept; merge and discard one, or set sidecar.shadow.max", ErrTooMuch, n, most)
	}
	return nil
}

// creation is a shadow that is being made.
type creation struct {
	m       *Manager
	r       CreateRequest
	repo    *gitrepo.Repo
	commit  plumbing.Hash
	want    *index.Index // the files of the commit
	main    mainTree
	changes []uncommitted

	temp   string // the directory until all is in it
	staged *worktree.Staged
	filled worktree.Filled
	smudge func(name string, id plumbing.Hash) ([]byte, error) // see gitrepo.Fill
}

// mainTree is what the main tree's index says, if it can be read.
type mainTree struct {
	index *index.Index
	racy  int64
	err   error
}

// plan finds out what is to be made. It writes nothing.
func (m *Manager) plan(ctx context.Context, repo *gitrepo.Repo, r CreateRequest) (*creation, error) {
	c := &creation{m: m, r: r, repo: repo}
	var err error
	if c.commit, err = repo.Resolve(r.Base); err != nil {
		if errors.Is(err, gitfile.ErrUnsupported) {
			return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
		}
		if !errors.Is(err, gitrepo.ErrRevision) && !errors.Is(err, gitrepo.ErrNoSuchRev) {
			return nil, err
		}
		if _, herr := repo.Resolve("HEAD"); errors.Is(herr, gitrepo.ErrNoCommit) {
			return nil, fmt.Errorf("%w: the repository has no commit yet; make a first one", ErrUnusable)
		}
		return nil, fmt.Errorf("%w: base %q: %w", ErrInvalid, shown(r.Base), err)
	}
	tree, err := repo.TreeOf(c.commit)
	if err != nil {
		return nil, err
	}
	if r.Lazy && worktree.Conversions(repo, index.New()).Plumbing == nil && !r.IncludeUncommitted && !hasInclude(repo.Dir) {
		return c, nil // nothing depends on what the files are
	}
	c.main = readMain(repo)
	if c.want, err = worktree.TreeIndex(ctx, repo, tree, c.main.index); err != nil {
		return nil, err
	}
	var bytes int64
	for i := range c.want.Entries {
		bytes += int64(c.want.Entries[i].Size)
	}
	if n, most := len(c.want.Entries), m.limits(); n > most.Files || bytes > most.Bytes {
		return nil, fmt.Errorf("%w: it would have %d files of %d bytes, and %d files of %d bytes are the most; raise the setting sidecar.shadow.maxMegabytes", ErrTooMuch, n, bytes, most.Files, most.Bytes)
	}
	if r.IncludeUncommitted {
		head, err := repo.Resolve("HEAD")
		if err != nil || head != c.commit {
			return nil, fmt.Errorf("%w: base %q: what is uncommitted can only be included where base is HEAD", ErrInvalid, shown(r.Base))
		}
		if c.changes, err = m.uncommitted(ctx, repo, c.main, c.want, r.View); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readMain reads the index of the main tree. The time is taken first: what is
// written meanwhile counts as too young to be vouched for.
func readMain(repo *gitrepo.Repo) mainTree {
	path := filepath.Join(repo.GitDir, "index")
	info, err := os.Stat(path)
	if err != nil {
		return mainTree{index: index.New()}
	}
	x, err := index.Read(path)
	if err != nil {
		return mainTree{err: err}
	}
	return mainTree{index: x, racy: info.ModTime().Unix()}
}

// make makes what was planned.
func (c *creation) make(ctx context.Context) (_ *tree, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, c.undo())
		}
	}()
	if err := c.stage(ctx); err != nil {
		return nil, err
	}
	if c.want == nil {
		return c.makeLazy(ctx)
	}
	converted := worktree.Conversions(c.repo, c.want)
	if c.main.err != nil || converted.Plumbing != nil {
		return c.byGit(ctx)
	}
	if c.r.Lazy {
		return c.makeLazy(ctx)
	}
	have, err := c.makeDir()
	if err != nil {
		return nil, err
	}
	if err = c.fill(ctx, have, converted.Needed); errors.Is(err, worktree.ErrConversion) {
		return c.byGit(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := c.point(); err != nil {
		return nil, err
	}
	if err := c.staged.WriteIndex(c.want); err != nil {
		return nil, err
	}
	rec := record{Base: c.commit.String(), CreatedAt: time.Now().UTC(), Uncommitted: c.r.IncludeUncommitted, Converted: converted.Needed != nil}
	if err := c.finish(ctx, c.staged.Linked, c.temp, rec); err != nil {
		return nil, err
	}
	return c.publish()
}

// makeLazy makes all but the files.
func (c *creation) makeLazy(ctx context.Context) (*tree, error) {
	below := c.m.below(c.repo)
	if err := c.mkdir(); err != nil {
		return nil, err
	}
	if ok, err := c.repo.HasDir(c.commit, filepath.ToSlash(below)); err != nil {
		return nil, err
	} else if ok { // the folder that is open
		if err := os.MkdirAll(filepath.Join(c.temp, below), 0o777); err != nil {
			return nil, err
		}
	}
	if err := c.point(); err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, u := range c.changes {
		taken[u.path] = !u.deleted // what is deleted is not of the base state either
	}
	maps.DeleteFunc(taken, func(_ string, there bool) bool { return !there })
	if err := writeTaken(filepath.Join(c.staged.Own(), lazyFile), taken); err != nil {
		return nil, err
	}
	rec := record{Base: c.commit.String(), CreatedAt: time.Now().UTC(), Uncommitted: c.r.IncludeUncommitted}
	var err error
	if c.want != nil {
		err = c.finish(ctx, c.staged.Linked, c.temp, rec)
	} else {
		err = rec.write(c.staged.Linked)
	}
	if err != nil {
		return nil, err
	}
	return c.publish()
}

// roomLock is held from the count of shadows until there is one more.
const roomLock = ".room"

// stage makes what the repository has of a working tree, if there is room for
// one more: from then on it counts.
func (c *creation) stage(ctx context.Context) error {
	unlock, err := c.m.lock(ctx, roomLock, time.Minute)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.m.room(c.repo); err != nil {
		return err
	}
	if c.staged, err = worktree.Stage(c.repo, c.r.ID, c.m.path(c.r.ID), c.commit, func() error { return c.m.o.Fail("create.begun") }); err != nil {
		return c.explain(err)
	}
	return c.m.o.Fail("create.staged")
}

// point writes the file that says in a working tree's directory which
// repository it is of.
func (c *creation) point() error {
	return os.WriteFile(filepath.Join(c.temp, ".git"), []byte(c.staged.Pointer()), 0o644)
}

// publish makes a shadow of what is complete.
func (c *creation) publish() (*tree, error) {
	m := c.m
	if err := m.o.Fail("create.filled"); err != nil {
		return nil, err
	}
	if err := os.Rename(c.temp, m.path(c.r.ID)); err != nil {
		return nil, err
	}
	c.temp = m.path(c.r.ID)
	if err := m.o.Fail("create.moved"); err != nil {
		return nil, err
	}
	if err := c.staged.Publish(); err != nil {
		return nil, c.explain(err)
	}
	c.temp, c.staged = "", nil // it is a shadow now
	if err := m.o.Fail("create.published"); err != nil {
		return nil, err
	}
	return m.findIn(c.repo, c.r.ID)
}

// makeDir makes the directory in which the files gather, if possible one that
// was used before: then have says what is in it.
func (c *creation) makeDir() (have *index.Index, err error) {
	temp := c.tempName()
	if have := c.m.fromPool(temp, c.tempName()); have != nil {
		c.temp = temp
		return have, c.m.o.Fail("create.reused")
	}
	return nil, c.mkdir()
}

func (c *creation) mkdir() error {
	temp := c.tempName()
	if err := os.Mkdir(temp, 0o755); err != nil {
		return err
	}
	c.temp = temp
	return c.m.o.Fail("create.dir")
}

func (c *creation) tempName() string {
	return filepath.Join(c.m.home(), newPrefix+random()+"-"+c.r.ID)
}

func (c *creation) fill(ctx context.Context, have *index.Index, converted func(string) bool) error {
	f := worktree.FillOptions{
		Dir: c.temp, Want: c.want, Have: have,
		From: c.repo.Dir, FromIndex: c.main.index, Racy: c.main.racy,
		Converted: converted, Smudge: c.smudge,
	}
	if c.r.Progress != nil {
		f.Progress = func(done int) { c.r.Progress(done, len(c.want.Entries)) }
	}
	var err error
	c.filled, err = worktree.Fill(ctx, c.repo, f)
	if err != nil {
		return err
	}
	return c.m.o.Fail("create.copied")
}

// finish brings in what is not of the commit, and records how the shadow
// began.
func (c *creation) finish(ctx context.Context, l worktree.Linked, dir string, rec record) error {
	base := c.want
	if len(c.changes) > 0 {
		var err error
		if base, err = c.bring(ctx, l, dir); err != nil {
			return err
		}
	}
	if err := c.m.include(ctx, c.repo, base, dir); err != nil {
		return err
	}
	if err := index.Write(filepath.Join(l.Own(), baseFile), base); err != nil {
		return err
	}
	return rec.write(l)
}

// undo removes what was made so far.
func (c *creation) undo() error {
	var errs []error
	if c.staged != nil {
		errs = append(errs, c.staged.Abort())
	}
	if c.temp != "" {
		errs = append(errs, os.RemoveAll(c.temp))
	}
	return errors.Join(errs...)
}

func (c *creation) explain(err error) error {
	if errors.Is(err, worktree.ErrExists) {
		return fmt.Errorf("%w: %w; choose another id", ErrExists, err)
	}
	return err
}

// byGit has the git command make the working tree: files need filters, or the
// repository is of a kind that only git writes.
func (c *creation) byGit(ctx context.Context) (*tree, error) {
	m := c.m
	if err := os.RemoveAll(c.temp); err != nil {
		return nil, err
	}
	c.temp = m.path(c.r.ID)
	if err := worktree.Add(ctx, c.repo, c.temp, c.commit); err != nil {
		return nil, err
	}
	l, err := worktree.Find(c.repo, c.r.ID)
	if err == nil && l.Dir != m.path(c.r.ID) {
		err = fmt.Errorf("%w: git made it under another name", ErrUnusable)
	}
	if err != nil {
		return nil, err
	}
	if err := m.o.Fail("create.added"); err != nil {
		return nil, err
	}
	err = os.Mkdir(l.Own(), 0o755)
	if err == nil {
		err = os.Remove(filepath.Join(l.GitDir, "locked")) // see sweepOne
	}
	if err == nil {
		err = index.StatAll(l.Dir, c.want)
	}
	if err == nil {
		err = c.finish(ctx, l, l.Dir, record{Base: c.commit.String(), CreatedAt: time.Now().UTC(), Uncommitted: c.r.IncludeUncommitted, Converted: true})
	}
	if err != nil {
		return nil, errors.Join(err, worktree.Unregister(c.repo, l))
	}
	c.temp = ""
	_ = c.staged.Abort() // it was only begun; what stays of that goes at the next start
	c.staged = nil
	return m.findIn(c.repo, c.r.ID)
}
