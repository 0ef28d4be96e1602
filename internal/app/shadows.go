package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/session"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// shadows are the shadow workspaces of a core: made and merged for people, and
// the files of the sessions that work in one.
type shadows struct {
	m *shadow.Manager
	c *core

	mu   sync.Mutex
	open map[string]*shadowFiles // by id
}

// shadowFiles are the files of one shadow while a session works in it.
type shadowFiles struct {
	disk *workspace.Disk
	view workspace.View // open documents over disk
	at   os.FileInfo    // of its directory when it was opened
}

// buffered is the files of a shadow below what the user has open. What is
// applied goes to the files; a document with unsaved text differs from it, which is a conflict.
type buffered struct {
	workspace.Files
	files workspace.View
}

func (b buffered) Apply(ctx context.Context, changes ...workspace.Change) error {
	return b.files.Apply(ctx, changes...)
}

// buffers are what lies over the disk in the view of the main tree, as far as
// it lies in a directory in there.
type buffers struct {
	main workspace.View
	dir  string
}

func (b buffers) Names() []string {
	over := workspace.Overlaid(b.main)
	if len(over) == 0 {
		return nil
	}
	prefix, err := b.main.Resolve(b.dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range over {
		if rest, ok := strings.CutPrefix(name, prefix+"/"); ok {
			names = append(names, rest)
		}
	}
	return names
}

func (b buffers) Lookup(name string) (data []byte, deleted, ok bool) {
	if !slices.Contains(b.Names(), name) {
		return nil, false, false
	}
	full, err := b.main.Resolve(filepath.Join(b.dir, filepath.FromSlash(name)))
	if err == nil {
		data, err = b.main.ReadFile(full)
	}
	return data, false, err == nil
}

func newShadows(c *core, d door, dir string) (*shadows, error) {
	if c.keeps {
		return &shadows{m: d.before.shadows.m, c: c, open: map[string]*shadowFiles{}}, nil
	}
	m, err := shadow.New(shadow.Options{
		Dir: dir, StateDir: c.home.State(), Prepare: c.home.Prepare, Trusted: c.settings.Trusted, Log: d.log,
		Limits: func() shadow.Limits {
			set := c.settings.Now()
			return shadow.Limits{Shadows: set.Int("shadow.max"), Files: set.Int("shadow.maxFiles"), Bytes: int64(set.Int("shadow.maxMegabytes")) << 20, Pool: cmp.Or(set.Int("shadow.keep"), -1)}
		},
		Hidden: func(name string) bool {
			return workspace.Sensitive(name) && !c.settings.Dispatch().SensitiveOK(name)
		},
	})
	if err != nil {
		return nil, err
	}
	return &shadows{m: m, c: c, open: map[string]*shadowFiles{}}, nil
}

// Create makes a shadow from what the user sees.
func (s *shadows) Create(ctx context.Context, r shadow.CreateRequest) (shadow.Shadow, error) {
	r.View = s.c.live
	return s.m.Create(ctx, r)
}

// List describes the shadows.
func (s *shadows) List(ctx context.Context) ([]shadow.Shadow, error) { return s.m.List(ctx) }

// Diff compares a shadow with how it began.
func (s *shadows) Diff(ctx context.Context, id string) (shadow.Diff, error) { return s.m.Diff(ctx, id) }

// Names of what a merge goes into.
const (
	intoReview = "review"
	intoTree   = "tree"
)

// mergeTool is who proposes what a merge puts into the review queue.
const mergeTool = "shadow merge"

// Merge merges a shadow into the review queue, over what waits there already,
// or, for "tree", into the files as the user sees them. That a person asked
// for it is the permission: nothing that a model can call comes here.
func (s *shadows) Merge(ctx context.Context, id, into string) (shadow.Merge, error) {
	var view workspace.View
	switch {
	case into == intoTree:
		view = s.c.live
	case s.c.review == nil:
		return shadow.Merge{}, tools.Errorf(tools.Unavailable, "the review queue can't take the changes: %v; merge into the tree, or open the queue", s.c.reviewErr)
	default:
		view = s.c.review.For(pendingedits.Proposer{Session: session.Default, Tool: mergeTool, Batch: s.c.batch(session.Default)})
	}
	for try := 1; ; try++ {
		m, err := s.m.Merge(ctx, id, view)
		if into == intoTree {
			leaveForReview(&m)
		}
		if err != nil || len(m.Changes) == 0 {
			return m, err
		}
		err = view.Apply(ctx, m.Changes...)
		switch {
		case err == nil || !errors.Is(err, workspace.ErrConflict):
			return m, err
		case try == mergeTries:
			return m, applyEach(ctx, view, &m)
		}
	}
}

// leaveForReview takes out of a merge what a person is asked about in every
// mode: who asks for a merge has not seen what is in it.
func leaveForReview(m *shadow.Merge) {
	changes := m.Changes
	m.Changes, m.Merged = nil, []string{}
	for _, c := range changes {
		ask := slices.ContainsFunc([]string{c.Path, c.From}, func(name string) bool {
			return name != "" && (workspace.Protected(name) != workspace.NotProtected || workspace.Sensitive(name))
		})
		if ask {
			m.Skipped = append(m.Skipped, shadow.Skipped{Path: c.Path, Reason: "the file may hold secrets, or be run or obeyed by other programs; merge it into review and look at it"})
			continue
		}
		if c.AfterLink && workspace.LeadsOut(c.Path, string(c.After)) {
			m.Skipped = append(m.Skipped, shadow.Skipped{Path: c.Path, Reason: "it is a link that leads out of the workspace, or to a file that is protected or may hold secrets; merge it into review and look at it"})
			continue
		}
		m.Changes, m.Merged = append(m.Changes, c), append(m.Merged, c.Path)
	}
}

// mergeTries is how often a merge is begun anew because something was changed
// meanwhile.
const mergeTries = 3

// applyEach makes the changes of a merge one by one. What can't be made is a
// conflict: another session's batch has the file, for instance.
func applyEach(ctx context.Context, view workspace.View, m *shadow.Merge) error {
	changes := m.Changes
	m.Changes, m.Merged = nil, []string{}
	for _, c := range changes {
		err := view.Apply(ctx, c)
		switch {
		case err == nil:
			m.Changes, m.Merged = append(m.Changes, c), append(m.Merged, c.Path)
		case errors.Is(err, workspace.ErrConflict):
			m.Conflicts = append(m.Conflicts, shadow.ConflictOf(c, err))
		default:
			return err
		}
	}
	return nil
}

// Discard removes a shadow. Sessions that work in it are told so by their next
// call.
func (s *shadows) Discard(ctx context.Context, id string) (shadow.Discarded, error) {
	d, err := s.m.Discard(ctx, id)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(id)
		err = os.RemoveAll(s.journal(id))
	}
	return d, err
}

// forget closes the files of a shadow; s.mu is held.
func (s *shadows) forget(id string) {
	if f := s.open[id]; f != nil {
		f.disk.Close()
		delete(s.open, id)
	}
}

// journal is where changes of several files of a shadow are noted.
func (s *shadows) journal(id string) string {
	return filepath.Join(s.c.home.State(), "shadows", id+".apply")
}

// root is the directory that stands for the folder in a shadow.
func (s *shadows) root(id string) (string, error) {
	sh, err := s.m.Get(context.Background(), id)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(sh.Root); err != nil {
		return "", errors.New("the folder that is open does not exist at its commit")
	}
	return sh.Root, nil
}

// files are the files of a session's shadow. They are opened once, and anew
// when the directory is another one: a shadow of the same name.
func (s *shadows) files(ctx context.Context, id, root string) (workspace.View, error) {
	info, err := os.Stat(root)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[id]; f != nil {
		if err == nil && os.SameFile(info, f.at) {
			return f.view, nil
		}
		s.forget(id)
	}
	if err != nil {
		return nil, err
	}
	sh, err := s.m.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: root}}, workspace.DiskOptions{StateDir: s.journal(id), Prepare: s.c.home.Prepare, Exclude: sh.Exclude})
	if err != nil {
		return nil, err
	}
	if _, err := disk.Recover(ctx); err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	f := &shadowFiles{disk: disk, at: info}
	files, err := s.m.View(ctx, id, disk)
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	f.view = buffered{workspace.NewOverlay(files, buffers{s.c.live, root}), files}
	s.open[id] = f
	return f.view, nil
}

func (s *shadows) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.open {
		s.forget(id)
	}
	return nil
}

// destinations are the views of a session.
func (c *core) destinations(s *session.Session) dispatch.Destinations {
	if s.Shadow == "" {
		return destinations{c}
	}
	files, err := c.shadows.files(context.Background(), s.Shadow, s.Root)
	if err != nil {
		files = gone{tools.Errorf(tools.Unavailable, "the shadow workspace %s can't be used any more (%v); work in another session", s.Shadow, err)}
	}
	return shadowDestinations{files, func(ctx context.Context) error { return c.shadows.m.Materialize(ctx, s.Shadow) }}
}

// shadowDestinations are the views of a session that works in a shadow: all
// goes into its files, and the merge is what is reviewed.
type shadowDestinations struct {
	files  workspace.View
	toDisk func(context.Context) error
}

func (d shadowDestinations) Live() workspace.View                        { return d.files }
func (d shadowDestinations) Pending(string, string, bool) workspace.View { return d.files }
func (d shadowDestinations) ToDisk(ctx context.Context) error            { return d.toDisk(ctx) }
func (d shadowDestinations) PendingCount() int                           { return 0 }

func (d shadowDestinations) QueueCommit(context.Context, string, string, []string) (int, error) {
	return 0, tools.Errorf(tools.Unavailable, "no commits are queued in a shadow workspace; commit there at once")
}
