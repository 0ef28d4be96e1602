package confine

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
)

// ignored are the patterns by which git takes no notice of what stands in for missing names:
// git stash -u and git clean remove empty directories, and give up at those that they can't
// remove. A name that something has, or is to get, is not among them, in none of repositories.
func ignored(c *Confiner, root string, repo *gitrepo.Repo, repositories []string, level box.Level) (patterns []string) {
	if repo == nil || level < box.Bubblewrap || runtime.GOOS != "linux" {
		return nil
	}
	root, err := filepath.EvalSymlinks(root) // for Lstat of fixed names; nothing is opened by it
	if err != nil {
		return nil
	}
	rel, err := filepath.Rel(repo.Dir, root)
	if err != nil || !filepath.IsLocal(rel) || strings.ContainsAny(rel, "*?[\\\n!# ") {
		return nil // nor where it is not said in plain words
	}
	dirs := append([]string{root}, c.o.Folders...)
	for _, path := range repositories {
		dirs = append(dirs, filepath.Dir(path))
	}
	var over []string
	if c.o.Files != nil {
		over = workspace.Overlaid(c.o.Files())
	}
	for _, name := range box.Missing {
		has := func(dir string) bool {
			info, err := os.Lstat(filepath.Join(dir, name))
			return err == nil && (!info.IsDir() || info.Mode()&os.ModeSticky == 0)
		}
		comes := func(over string) bool { return slices.Contains(strings.Split(over, "/"), name) }
		if name != ".git" && !slices.ContainsFunc(dirs, has) && !slices.ContainsFunc(over, comes) {
			patterns = append(patterns, "/"+filepath.ToSlash(filepath.Join(rel, name))+"/")
		}
	}
	return patterns
}

// withoutVCS has Go's builds not ask git about the commit where there is no repository: they
// take what stands in for a missing .git for one, and fail when git does not.
func withoutVCS(env []string, root string) []string {
	const flag = "-buildvcs=false"
	for dir := root; ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		if info, err := os.Lstat(at); err == nil && (!info.IsDir() || info.Mode()&os.ModeSticky == 0 || box.Exists(filepath.Join(at, "HEAD"))) {
			return env
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	env = slices.Clone(env)
	for i, v := range env {
		if flags, ok := strings.CutPrefix(v, "GOFLAGS="); ok {
			if !strings.Contains(flags, "-buildvcs") {
				env[i] = strings.TrimSpace(v + " " + flag)
			}
			return env
		}
	}
	return append(env, "GOFLAGS="+flag)
}
