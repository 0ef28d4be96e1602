package world

import (
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// rules are git's ignore rules on the way down a tree.
type rules struct{ workspace.GitRules }

// rulesOf are those that come from elsewhere than the tree's own files.
func (o Options) rulesOf(v view) rules { return o.rulesIn(v.Abs(v.name("."))) }

// byProducts are ignore rules for files that interpreters and tests leave behind. They
// count in every project; rules of the user and of the project take precedence.
const byProducts = "__pycache__/\n*.py[co]\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\n.hypothesis/\n.coverage\n.nyc_output/\ncoverage/\n**/node_modules/.cache/\n.gradle/\n.tsbuildinfo\n"

func (o Options) rulesIn(root string) rules {
	var r rules
	r.AddUser([]byte(byProducts))
	return o.addUsers(r, root)
}

// usersRules are those that come from elsewhere and that git knows, too.
func (o Options) usersRules(root string) rules { return o.addUsers(rules{}, root) }

func (o Options) addUsers(r rules, root string) rules {
	if text := workspace.ReadUserIgnore(o.Ignores, root); text != nil {
		r.AddUser(text)
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
