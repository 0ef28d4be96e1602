package confine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// A file that is hidden from commands may be in git's objects all the same. So the history of
// each repository in sight is searched for names of such files, and the objects of one that
// has some are hidden from commands that nobody was asked about.

// pasts are what is known of histories, by the directory of the repository.
type pasts struct {
	repos    Repos
	settings Settings

	mu sync.Mutex
	of map[string]*past
}

type past struct {
	busy  sync.Mutex // held by the search
	found gitrepo.Past
	err   error
	at    time.Time // when the last search ended
}

const (
	pastWait  = time.Second     // how long a command waits for a search, which goes on
	pastFresh = 2 * time.Second // how long an answer holds
	maxPasts  = 64              // repositories
)

// notSearched is why it is not known yet.
const notSearched = "git's history has not been searched for secrets yet"

// names are the names that a repository's history has of files that may hold secrets; why is
// set where that is not known.
func (p *pasts) names(r *gitrepo.Repo) (names []string, why string) {
	p.mu.Lock()
	if p.of == nil || len(p.of) >= maxPasts {
		p.of = map[string]*past{}
	}
	one := p.of[r.CommonDir]
	if one == nil {
		one = &past{}
		p.of[r.CommonDir] = one
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		one.busy.Lock()
		defer one.busy.Unlock()
		if time.Since(one.at) > pastFresh || one.err != nil {
			one.err = one.found.Search(context.Background(), r, workspace.Sensitive)
			one.at = time.Now()
		}
	}()
	select {
	case <-done:
	case <-time.After(pastWait):
		return nil, notSearched
	}
	one.busy.Lock()
	defer one.busy.Unlock()
	if one.err != nil {
		return nil, "git's history can't be searched for secrets: " + one.err.Error()
	}
	return one.found.Names(), ""
}

// secrets are the directories of git objects that commands see in which there may be
// secrets, and why, in words; none where no history has any.
func (p *pasts) secrets(ctx context.Context, level box.Level, spec *box.Spec) (dirs []string, why string) {
	suspect := func(because string, of ...string) {
		for _, dir := range of {
			if !slices.Contains(dirs, dir) && readable(level, &Spec{Spec: *spec}, dir) {
				dirs, why = append(dirs, dir), because
			}
		}
	}
	if repo, err := p.repos.Open(ctx, spec.Root); err == nil && repo.CommonDir != filepath.Join(repo.Dir, ".git") {
		of := *spec // commands in a linked working tree read its repository
		of.ReadOnly = append(slices.Clone(spec.ReadOnly), repo.CommonDir)
		spec = &of
	}
	known := map[string]bool{}
	look := func(at, gitDir string) {
		repo, err := p.repos.Open(ctx, at)
		switch {
		case errors.Is(err, gitrepo.ErrNoRepository) && gitDir == "":
			return
		case err != nil:
			suspect("a repository can't be read: "+err.Error(), filepath.Join(gitDir, "objects"))
			return
		case known[repo.CommonDir]:
			return
		}
		known[repo.CommonDir] = true
		objects := append([]string{filepath.Join(repo.CommonDir, "objects")}, repo.Objects.Borrowed()...)
		borrowed := objects[1:]
		names, unknown := p.names(repo)
		if unknown != "" {
			suspect(unknown, objects...)
		} else if name := p.suspicious(spec.Root, repo.Dir, names); name != "" {
			suspect("git's history has "+name+", which may hold secrets", objects...)
		} else {
			suspect("git borrows objects from another repository", borrowed...)
		}
		// What git's helpers keep has the texts of files without their names.
		if len(dirs) > 0 {
			suspect(why, kept(slices.Compact([]string{repo.CommonDir, repo.GitDir}), "lfs", "annex", "rr-cache")...)
		}
		suspect("git keeps a submodule's history", modules(repo.CommonDir, known)...)
	}
	for _, path := range spec.Repositories {
		objects, common := filepath.Join(path, "objects"), gitcmd.CommonDir(path)
		switch {
		case filepath.Base(path) == ".git":
			look(filepath.Dir(path), path)
		case filepath.Base(common) == ".git" && !box.Exists(objects): // what a repository keeps for a linked working tree
			look(filepath.Dir(common), common)
		default:
			suspect("there is a bare repository", objects)
		}
	}
	look(spec.Root, "")
	for _, path := range spec.Bundles {
		rel, err := filepath.Rel(spec.Root, path)
		if err != nil {
			rel = path
		}
		if isBundle(path) && p.suspicious(spec.Root, spec.Root, []string{filepath.ToSlash(rel)}) != "" {
			suspect("there is a git bundle, whose history can't be searched: "+rel, path)
		}
	}
	if others := kept([]string{spec.Root}, others...); len(others) > 0 {
		suspect("there is a history that can't be searched: "+others[0], others...)
	}
	return dirs, why
}

// others are where other programs for versions keep the texts of files.
var others = []string{".svn/pristine", ".hg/store", ".sl/store", ".bzr/repository", "_darcs", ".pijul"}

// isBundle reports whether a file is a bundle of git's, by how it begins. One that can't be
// read is taken for one.
func isBundle(path string) bool {
	const begins = "# v"
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	var b [len(begins)]byte
	_, err = io.ReadFull(f, b[:])
	return err == nil && string(b[:]) == begins
}

// kept are those of names that are directories in one of dirs.
func kept(dirs []string, names ...string) (there []string) {
	for _, dir := range dirs {
		for _, name := range names {
			at := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Lstat(at); err == nil && info.IsDir() {
				there = append(there, at)
			}
		}
	}
	return there
}

// suspicious is the first of names in a repository that the settings don't call harmless.
func (p *pasts) suspicious(root, top string, names []string) string {
	for _, name := range names {
		if p.settings.SensitiveOK(name) {
			continue
		}
		if rel, err := filepath.Rel(root, filepath.Join(top, filepath.FromSlash(name))); err == nil && filepath.IsLocal(rel) && p.settings.SensitiveOK(filepath.ToSlash(rel)) {
			continue
		}
		return name
	}
	return ""
}

// modules are the directories of objects of submodules that a git directory keeps, but for
// those of known repositories.
func modules(gitDir string, known map[string]bool) (dirs []string) {
	_ = filepath.WalkDir(filepath.Join(gitDir, "modules"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil //nolint:nilerr // what can't be read is of no use to a command either
		}
		if e.Name() == "objects" && box.GitDir(filepath.Dir(path)) {
			if !known[filepath.Dir(path)] {
				dirs = append(dirs, path)
			}
			return fs.SkipDir
		}
		return nil
	})
	return dirs
}

// withoutPast hides directories of git's objects from a command, also where its world lends
// them to it.
func (s *Spec) withoutPast(dirs []string) {
	if len(dirs) == 0 {
		return
	}
	s.Hidden = append(slices.Clone(s.Hidden), dirs...)
	lends := func(m box.Merged) box.Merged {
		m.Lent = slices.DeleteFunc(slices.Clone(m.Lent), func(l box.Lent) bool { return slices.Contains(dirs, l.Dir) })
		return m
	}
	if s.Merged != nil {
		seen := lends(*s.Merged)
		s.Merged = &seen
	}
	s.Beside = slices.Clone(s.Beside)
	for i := range s.Beside {
		s.Beside[i].Merged = lends(s.Beside[i].Merged)
	}
	// go asks git about each main package that it builds, and fails with it.
	flags := "GOFLAGS=-buildvcs=false"
	for i, v := range s.Env {
		if old, ok := strings.CutPrefix(v, "GOFLAGS="); ok {
			s.Env = slices.Delete(slices.Clone(s.Env), i, i+1)
			flags = "GOFLAGS=" + strings.TrimSpace(old+" -buildvcs=false")
			break
		}
	}
	s.Env = append(s.Env, flags)
}
