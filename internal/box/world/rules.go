package world

import (
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// rules are git's ignore rules on the way down a tree.
type rules struct{ workspace.GitRules }

// rulesOf are those that come from elsewhere than the tree's own files.
func rulesOf(v view) rules { return rulesIn(v.Abs(v.name("."))) }

func rulesIn(root string) (r rules) {
	if name, err := workspace.UserIgnore(); err == nil {
		if text, err := os.ReadFile(name); err == nil {
			r.AddUser(text)
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, ".git", "info", "exclude")); err == nil {
		r.AddExclude(text)
	}
	return r
}

// at are the rules with those of a directory's own file.
func (r rules) at(text []byte) rules {
	if text != nil {
		r.AddFile(text)
	}
	return r
}

func (r rules) enter(name string) rules { return rules{r.Enter([]byte(name))} }

func (r rules) ignored(name string, dir bool) bool { return r.Ignored([]byte(name), dir) }
