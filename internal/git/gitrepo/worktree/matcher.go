package worktree

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// Ignore tells which names below a directory git's ignore rules exclude, for
// whoever asks about single ones. It keeps what it read, and isn't safe for
// concurrent use.
type Ignore struct {
	dir  string
	dirs map[string]visited
}

// NewIgnore returns the rules that hold below dir, a working tree of r.
func NewIgnore(r *gitrepo.Repo, dir string) *Ignore {
	return &Ignore{dir, map[string]visited{".": {name: ".", rules: withFile(r.IgnoreRules(), dir)}}}
}

// withFile puts the .gitignore of a directory in force.
func withFile(rules workspace.GitRules, dir string) workspace.GitRules {
	text, err := gitfile.ReadNoFollow(filepath.Join(dir, ".gitignore"), gitrepo.MaxPattern)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		rules.AddFile(text)
	}
	return rules
}

// Ignored reports whether a file or directory, or one that it is in, is
// excluded.
func (g *Ignore) Ignored(name string, dir bool) bool {
	at := g.at(path.Dir(name))
	return at.out || at.rules.Ignored([]byte(path.Base(name)), dir)
}

func (g *Ignore) at(name string) visited {
	at, ok := g.dirs[name]
	if !ok {
		at = g.at(path.Dir(name)).enter(path.Base(name))
		at.rules = withFile(at.rules, filepath.Join(g.dir, filepath.FromSlash(name)))
		g.dirs[name] = at
	}
	return at
}
