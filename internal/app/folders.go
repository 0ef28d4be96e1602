package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/session"
	"github.com/sidecar-ls/sidecar-ls/internal/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// A core serves one set of folders. When the client has others, a core for
// these comes in its place: it takes over what belongs to the client, and, when
// the first folder stays, what is kept in there. Calls that are on their way end
// in the old one.

// line is what cores that follow each other have in common.
type line struct {
	now    atomic.Pointer[core]
	ending sync.WaitGroup // cores that are no longer the latest, until their calls have ended
	left   []string       // folders that were the first and are not now
	agents *agents        // nil: nobody attaches
}

// visit is what a client keeps while it has no folder at all, and so no core.
type visit struct {
	line *line
	kept *session.Store
}

// sessions are those that the client has had, or new ones.
func (v *visit) sessions(l *line, d door) *session.Store {
	if v == nil {
		return l.sessions(d)
	}
	if v.kept == nil {
		v.kept = l.sessions(d)
	}
	return v.kept
}

// home is the folder that has the settings of the project and the server's
// state.
func (l *line) home() string { return l.now.Load().disk.Folders()[0].Dir }

// dirsOf are the directories of folders.
func dirsOf(folders []workspace.Folder) []string {
	dirs := make([]string, len(folders))
	for i, f := range folders {
		dirs[i] = f.Dir
	}
	return dirs
}

// sessions are kept as long as the client stays.
func (l *line) sessions(d door) *session.Store {
	return session.NewStore(session.Options{
		DefaultMode: func() string { return firstOf(d.mode, l.now.Load().settings.Now().String("mode")) },
		Stricter:    config.StricterMode,
		ValidMode:   func(name string) bool { _, ok := l.now.Load().settings.Mode(name); return ok },
		Root: func(shadow string) (string, error) {
			if shadow != "" {
				return l.now.Load().shadows.root(shadow)
			}
			return l.home(), nil
		},
		Budget: func() session.Budget {
			set := l.now.Load().settings.Now()
			return session.Budget{Tokens: int64(set.Int("budget.tokens")), Calls: int64(set.Int("budget.calls"))}
		},
	})
}

// Head, Commit and Made make line a committer of the latest core's files.
func (l *line) Head(ctx context.Context, r pendingedits.CommitRequest) (string, error) {
	return l.now.Load().committer().Head(ctx, r)
}

func (l *line) Commit(ctx context.Context, r pendingedits.CommitRequest) (string, error) {
	return l.now.Load().committer().Commit(ctx, r)
}

func (l *line) Made(ctx context.Context, head string, r pendingedits.CommitRequest) (string, error) {
	return l.now.Load().committer().Made(ctx, head, r)
}

// inherit takes over what belongs to the client.
func (c *core) inherit(before *core) {
	c.line, c.bus, c.parsers, c.settings, c.sessions = before.line, before.bus, before.parsers, before.settings, before.sessions
}

func (d door) dispatcherBefore() *dispatch.Dispatcher {
	if d.before == nil {
		return nil
	}
	return d.before.dispatch
}

// takeOver is the moment from which a core is the latest.
func (c *core) takeOver(ctx context.Context, before *core) error {
	switch {
	case c.keeps && c.review != nil:
		if err := c.review.Move(ctx, c.live, c.names); err != nil {
			return err
		}
	case c.review != nil && before.review != nil:
		if err := c.takeEdits(ctx, before); err != nil {
			c.problems.add("some pending edits stay with " + before.disk.Folders()[0].Dir + ": " + err.Error())
		}
	}
	if !c.keeps {
		c.line.left = append(c.line.left, before.disk.Folders()[0].Dir)
	}
	c.takeBack(ctx)
	c.line.now.Store(c)
	c.settings.SetFolders(dirsOf(c.disk.Folders()))
	c.admitAgents()
	c.line.ending.Go(func() {
		<-before.dispatch.Retire()
		if !c.keeps {
			if c.review != nil && before.review != nil {
				_ = c.takeEdits(context.WithoutCancel(ctx), before) // that the last calls have proposed
			}
			_ = before.closeState()
		}
		_ = before.closeOwn()
	})
	return nil
}

// takeEdits moves the pending edits of files that are still there out of the
// queue of a folder that is not.
func (c *core) takeEdits(ctx context.Context, before *core) error {
	return c.review.Take(ctx, before.review, func(name string) (string, bool) {
		return c.names.Shown(c.names.(*folderNames).keptAt(before.names.(*folderNames).place(name)))
	})
}

// takeBack takes over the edits that a folder has kept since it was the first
// one.
func (c *core) takeBack(ctx context.Context) {
	if c.review == nil {
		return
	}
	folders := c.disk.Folders()
	for i, f := range folders {
		at := slices.Index(c.line.left, f.Dir)
		if i == 0 || at < 0 {
			continue
		}
		theirs := slices.Insert(slices.Delete(slices.Clone(folders), i, i+1), 0, f)
		err := statedir.Dir(f.Dir).Check()
		var from *pendingedits.Store
		if err == nil {
			from, err = pendingedits.Open(statedir.Dir(f.Dir).Queue(), c.live, pendingedits.Options{Names: namesOf(theirs)})
		}
		if err == nil {
			err = errors.Join(c.review.Take(ctx, from, func(name string) (string, bool) { return name, true }), from.Close())
		}
		if err != nil {
			c.problems.add("the pending edits of " + f.Dir + " come back when it is the first folder again: " + err.Error())
			continue
		}
		c.line.left = slices.Delete(c.line.left, at, at+1)
	}
}

// follow returns the core that comes in the place of c for other folders, and
// what is wrong with these. The first folder stays the first, as long as it is
// one. With no folder left there is no core.
func (c *core) follow(ctx context.Context, folders []workspace.Folder) (next *core, problems []string, err error) {
	folders, problems = usable(folders)
	if len(folders) == 0 {
		return nil, problems, c.close()
	}
	home := c.disk.Folders()[0].Dir
	if i := slices.IndexFunc(folders, func(f workspace.Folder) bool { return f.Dir == home }); i > 0 {
		first := folders[i]
		folders = slices.Insert(slices.Delete(folders, i, i+1), 0, first)
	}
	if slices.Equal(folders, c.disk.Folders()) {
		return c, problems, nil
	}
	c.line.left = slices.DeleteFunc(c.line.left, func(dir string) bool { return dir == folders[0].Dir }) // its queue is opened
	d := c.door
	d.before = c
	next, err = open(ctx, folders, d)
	if err != nil {
		return nil, nil, err
	}
	return next, problems, nil
}

// usable are the folders that can be opened, each once.
func usable(folders []workspace.Folder) (good []workspace.Folder, problems []string) {
	seen := map[string]string{}
	for _, f := range folders {
		real, err := filepath.EvalSymlinks(f.Dir)
		if err == nil {
			var info os.FileInfo
			if info, err = os.Stat(real); err == nil && !info.IsDir() {
				err = errors.New("it is not a directory")
			}
		}
		switch other, twice := seen[real]; {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s is left out: %v", f.Dir, err))
		case twice:
			problems = append(problems, fmt.Sprintf("%s is left out: it is %s", f.Dir, other))
		default:
			seen[real] = f.Dir
			good = append(good, f)
		}
	}
	return good, problems
}

// folderNames are what the log of the review queue calls files: those of its
// own folder by their path in there, others after the folder's directory. So
// they outlive that folders come and go.
type folderNames struct{ folders []workspace.Folder }

// elsewhere begins the names in the log of files of other folders. No tool
// writes below .sidecar, so no file of the own folder is called like that.
const elsewhere = ".sidecar/folders/"

func namesOf(folders []workspace.Folder) *folderNames { return &folderNames{slices.Clone(folders)} }

// place is the folder of a file of the view, and its path in there.
func (n *folderNames) place(name string) (dir, rel string) {
	if len(n.folders) == 1 {
		return n.folders[0].Dir, name
	}
	first, rel, _ := strings.Cut(name, "/")
	for _, f := range n.folders {
		if f.Name == first {
			return f.Dir, rel
		}
	}
	return n.folders[0].Dir, name
}

func (n *folderNames) keptAt(dir, rel string) string {
	if dir == n.folders[0].Dir {
		return rel
	}
	return path.Join(elsewhere+url.PathEscape(dir), rel)
}

// Kept implements pendingedits.Names.
func (n *folderNames) Kept(name string) string { return n.keptAt(n.place(name)) }

// Shown implements pendingedits.Names.
func (n *folderNames) Shown(kept string) (name string, ok bool) {
	dir, rel := n.folders[0].Dir, kept
	if rest, other := strings.CutPrefix(kept, elsewhere); other {
		escaped, below, _ := strings.Cut(rest, "/")
		d, err := url.PathUnescape(escaped)
		if err != nil {
			return "", false
		}
		dir, rel = d, below
	}
	for _, f := range n.folders {
		switch {
		case f.Dir != dir:
		case len(n.folders) == 1:
			return rel, true
		default:
			return path.Join(f.Name, rel), true
		}
	}
	return "", false
}
