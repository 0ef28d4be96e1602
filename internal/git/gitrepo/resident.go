package gitrepo

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// Changes tells what may have changed in a working tree.
type Changes interface {
	// Since returns what may have changed since it was asked last, with every
	// change that was made before the call.
	Since(ctx context.Context) (ChangeSet, error)

	// Watched reports whether changes directly in a directory are told. Its path
	// is relative to the top and has a slash at its end, "" is the top.
	Watched(dir string) bool
}

// ChangeSet is what may have changed: paths relative to the top.
type ChangeSet struct {
	Names []string // files and directories
	Below []string // directories below which anything may be different
	All   bool     // anything may be different
}

// Follow makes Status remember what it found, and look again only where
// something may have changed. Changes that nobody reports (through a shared
// memory mapping, or a hard link elsewhere) are then seen as late as git's own
// file system monitor sees them: with the next one that is.
func (r *Repo) Follow(c Changes) {
	r.resident.mu.Lock()
	defer r.resident.mu.Unlock()
	r.resident.changes, r.resident.index = c, nil
}

func (r *Repo) followed() bool {
	r.resident.mu.Lock()
	defer r.resident.mu.Unlock()
	return r.resident.changes != nil
}

// resident is what the last sweep found.
type resident struct {
	mu      sync.Mutex
	changes Changes // nil: nobody follows the changes

	index *index.Raw // what it was compared with; nil: it must be compared
	conf  sweepConfig
	files []gitfile.StampedFile // the ignore files beside the working tree
	dirs  map[string]*dirFind   // by directory, with a slash at its end: where there is something
	blind map[string]bool       // directories that must be looked at each time
	whole int                   // how often everything was looked at
}

// dirFind is what was found directly in one directory of the index.
type dirFind struct {
	changed   []sweptFile
	modules   []int
	untracked []string
}

// maxDirty bounds how many directories are looked at one by one; above it all
// are.
const maxDirty = 256

// worktreeState is a sweep for a status, from what is remembered as far as possible.
func (r *Repo) worktreeState(ctx context.Context, conf gitconfig.Values, o StatusOptions) (*index.Raw, swept, error) {
	s := &sweep{
		r: r, untracked: o.Untracked, over: o.Over, ctx: ctx,
		conf: sweepConfig{fileMode: conf.Bool("core.filemode", true), sparse: conf.Bool("core.sparsecheckout", false)},
	}
	m := &r.resident
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes == nil || o.Untracked != UntrackedNormal || below(o.Below) != "" || len(o.Over) > 0 {
		x, err := r.index.Read()
		if err != nil {
			return nil, swept{}, err
		}
		s.index = x
		found, err := s.run(below(o.Below))
		if err == nil {
			err = r.decide(ctx, x, conf, o.Untracked, &found)
		}
		return x, found, err
	}
	changes, err := m.changes.Since(ctx)
	if err != nil {
		m.index = nil // what it told is lost
		return nil, swept{}, err
	}
	s.watched = m.changes.Watched
	dirty, ok := m.dirty(r, s.conf, changes)
	if ok {
		s.index = m.index
		ok = m.rescan(s, conf, dirty) == nil
	}
	if !ok {
		if err := m.scanAll(s, conf); err != nil {
			m.index = nil
			return nil, swept{}, err
		}
	}
	found := m.found()
	modules := swept{modules: found.modules}
	err = r.decide(ctx, m.index, conf, o.Untracked, &modules) // theirs are repositories of their own
	found.changed = append(found.changed, modules.changed...)
	return m.index, found, err
}

// dirty returns the directories that are to be looked at; ok is false when all
// are.
func (m *resident) dirty(r *Repo, conf sweepConfig, c ChangeSet) (dirs []string, ok bool) {
	if m.index == nil || c.All || conf != m.conf || !r.index.Fresh(m.index) {
		return nil, false
	}
	for _, f := range m.files {
		if !f.Fresh() {
			return nil, false
		}
	}
	for _, name := range c.Names {
		// What is written through one name of a file is told of no other.
		at := filepath.Join(r.Dir, filepath.FromSlash(name))
		if info, err := os.Lstat(at); err == nil && workspace.Linked(at, info) {
			return nil, false
		}
	}
	set := maps.Clone(m.blind)
	for _, name := range append(slices.Clone(c.Names), c.Below...) {
		if name == "." || m.index.HasDir(name+"/") {
			return nil, false
		}
		dir := path.Dir(name)
		for dir != "." && !m.index.HasDir(dir+"/") {
			dir = path.Dir(dir)
		}
		set[below(dir)] = true
	}
	return slices.Collect(maps.Keys(set)), len(set) <= maxDirty
}

// rescan looks at some directories.
func (m *resident) rescan(s *sweep, conf gitconfig.Values, dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	found, err := s.some(dirs)
	if err == nil {
		err = m.settle(s, conf, &found)
	}
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		delete(m.dirs, dir)
	}
	m.remember(found)
	return nil
}

// scanAll looks at everything.
func (m *resident) scanAll(s *sweep, conf gitconfig.Values) error {
	m.files = nil
	m.whole++
	for _, file := range s.r.excludeFiles(conf) {
		m.files = append(m.files, gitfile.NewStampedFile(file)) // before they are read
	}
	x, err := s.r.index.Read()
	if err != nil {
		return err
	}
	s.index = x
	found, err := s.run("")
	if err == nil {
		err = m.settle(s, conf, &found)
	}
	if err != nil {
		return err
	}
	m.index, m.conf, m.dirs, m.blind = x, s.conf, map[string]*dirFind{}, map[string]bool{}
	m.remember(found)
	return nil
}

// settle decides about files whose content has to tell. Submodules are decided
// about each time.
func (m *resident) settle(s *sweep, conf gitconfig.Values, found *swept) error {
	modules := found.modules
	found.modules = nil
	err := s.r.decide(s.ctx, s.index, conf, s.untracked, found)
	found.modules = modules
	return err
}

// remember stores what was found by the directory that it was found in.
func (m *resident) remember(found swept) {
	at := func(name string) *dirFind {
		dir := below(path.Dir(strings.TrimSuffix(name, "/")))
		f := m.dirs[dir]
		if f == nil {
			f = &dirFind{}
			m.dirs[dir] = f
		}
		return f
	}
	x := m.index
	for _, c := range found.changed {
		f := at(x.NameAt(c.entry))
		f.changed = append(f.changed, c)
	}
	for _, i := range found.modules {
		f := at(x.NameAt(i))
		f.modules = append(f.modules, i)
	}
	for _, name := range found.untracked {
		f := at(name)
		f.untracked = append(f.untracked, name)
	}
	maps.Copy(m.blind, found.blind)
}

// found is all that is remembered.
func (m *resident) found() swept {
	var s swept
	for _, f := range m.dirs {
		s.changed = append(s.changed, f.changed...)
		s.modules = append(s.modules, f.modules...)
		s.untracked = append(s.untracked, f.untracked...)
	}
	slices.Sort(s.modules)
	slices.Sort(s.untracked)
	slices.SortFunc(s.changed, func(a, b sweptFile) int { return a.entry - b.entry })
	return s
}
