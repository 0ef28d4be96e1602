package dispatch

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
)

// linePaths tells where paths of a command line lead.
type linePaths struct {
	files   workspace.View
	allowed func(name string) bool // a file that may hold secrets by its name may be read all the same; nil: none
}

// resolve is the name of a path of a command line. Lines begin in the first folder, where no cd
// is before them; with several, the names of files begin with that of the folder.
func (at linePaths) resolve(path string) (string, error) {
	if !filepath.IsAbs(path) && len(workspace.FoldersOf(at.files)) > 1 {
		path = filepath.Join(at.files.Abs("."), filepath.FromSlash(path))
	}
	return at.files.Resolve(path)
}

// holdsRepository reports whether git keeps its own files at a path of a command line: the
// queue has none of them.
func (at linePaths) holdsRepository(dir string) bool {
	name, err := at.resolve(dir)
	if err != nil || name == "." {
		return true
	}
	_, err = at.files.Stat(path.Join(name, ".git"))
	return !errors.Is(err, fs.ErrNotExist)
}

// zone tells where a path of a command line leads.
func (at linePaths) zone(path string) shell.Zone {
	if strings.HasPrefix(path, "~") {
		return shell.Outside
	}
	name, err := at.resolve(path)
	if err != nil {
		return shell.Outside
	}
	real, err := at.files.RealName(name)
	if err != nil {
		return shell.Outside
	}
	switch worst := max(workspace.Protected(name), workspace.Protected(real)); {
	case at.secret(name) || at.secret(real):
		return shell.Sensitive
	case worst == workspace.Never:
		return shell.Forbidden
	case worst == workspace.AskFirst:
		return shell.Guarded
	}
	return shell.Inside
}

// secret reports whether a file may hold secrets by its name.
func (at linePaths) secret(name string) bool {
	return workspace.Sensitive(name) && (at.allowed == nil || !at.allowed(name))
}

// hides reports whether a path of a command line leads to a file that is there, and that
// commands don't see.
func (at linePaths) hides(path string) bool {
	if at.zone(path) != shell.Sensitive {
		return false
	}
	name, err := at.resolve(path)
	if err != nil {
		return false
	}
	info, err := at.files.Stat(name)
	return err == nil && !info.IsDir()
}

// secretTime bounds the search for a file that may hold secrets.
const secretTime = time.Second

// aSecret is a file of the workspace that may hold secrets, "" when there is
// none, and words for that when the search took too long to know.
func (at linePaths) aSecret(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, secretTime)
	defer cancel()
	var found atomic.Pointer[string]
	err := at.files.Walk(ctx, workspace.WalkOptions{
		IncludeIgnored: true, Hidden: true,
		Keep: func(name string, dir bool) bool { return dir || at.secret(name) },
	}, func(e *workspace.Entry) error {
		name := e.Path
		found.CompareAndSwap(nil, &name)
		return fs.SkipAll
	})
	switch name := found.Load(); {
	case name != nil:
		return *name
	case err != nil:
		return "some file that was not found in time"
	}
	return ""
}
