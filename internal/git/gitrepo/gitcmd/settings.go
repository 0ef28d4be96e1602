package gitcmd

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// setting is one line of git's configuration. The section and the last part of
// the key are in lower case.
type setting struct {
	Key, value string
	own        bool   // the repository's own, not the user's or the machine's
	file       string // where it stands
}

// Settings are all that hold for a repository; of equal keys the last counts.
type Settings []setting

// runner is what running git needs to remember of a repository.
type runner struct {
	mu      sync.Mutex
	checked string // the git command whose version is known to do

	list  Settings
	files map[string]gitfile.Stamp // what list was read from; nil: it must be read again
}

// Settings returns the configuration as git sees it. It is read again when one
// of its files has changed.
func (g *Git) Settings(ctx context.Context) (Settings, error) {
	bin, err := g.binary(ctx)
	if err != nil {
		return nil, err
	}
	g.runner.mu.Lock()
	defer g.runner.mu.Unlock()
	if g.runner.current() {
		return g.runner.list, nil
	}
	files := map[string]gitfile.Stamp{}
	for _, f := range append(gitconfig.UserFiles(), filepath.Join(g.CommonDir, "config"), filepath.Join(g.GitDir, "config.worktree")) {
		files[f] = gitfile.StampFile(f) // before it is read: what changes meanwhile is seen next time
	}
	// Listing runs nothing, whatever is in the files.
	cmd := exec.Command(bin, "config", "--list", "-z", "--includes", "--show-scope", "--show-origin") //nolint:noctx // run ends it
	cmd.Dir = g.Dir
	cmd.Env = append(g.environment(operation{}, false), "GIT_CONFIG_COUNT=0")
	cmd.WaitDelay = maxPipeWait
	out, err := run(ctx, cmd, "config", gitconfig.MaxSize)
	if err != nil {
		return nil, g.Explain(err)
	}
	list := parseSettings(string(out))
	inside := map[string]bool{}
	for i, s := range list {
		if s.own || !filepath.IsAbs(s.file) {
			continue
		}
		if _, ok := inside[s.file]; !ok {
			inside[s.file] = !g.outside(s.file)
		}
		list[i].own = inside[s.file] // whoever includes it: it came with the code, or an agent wrote it
	}
	g.runner.list, g.runner.files = list, files
	for _, s := range list {
		if _, ok := files[s.file]; !ok && filepath.IsAbs(s.file) {
			files[s.file] = gitfile.StampFile(s.file)
		}
		if includes(s.Key) { // which files that are is not known for sure
			g.runner.files = nil
		}
	}
	return list, nil
}

func (n *runner) current() bool {
	if n.files == nil {
		return false
	}
	for path, stamp := range n.files {
		if !stamp.Fresh(path) {
			return false
		}
	}
	return true
}

// parseSettings reads scope NUL origin NUL key newline value NUL, or without
// newline and value for a key that is only named.
func parseSettings(out string) Settings {
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var list Settings
	for f := range slices.Chunk(fields, 3) {
		if len(f) < 3 {
			break
		}
		key, value, ok := strings.Cut(f[2], "\n")
		if !ok {
			value = "true"
		}
		// What has no known scope is not trusted.
		list = append(list, setting{Key: key, value: value, own: f[0] != "system" && f[0] != "global", file: strings.TrimPrefix(f[1], "file:")})
	}
	return list
}

// includes reports whether a key makes git read a further file.
func includes(key string) bool {
	section, _, name := gitconfig.SplitKey(key)
	return name == "path" && (section == "include" || section == "includeif")
}

// last is the value that counts.
func (s Settings) last(key string) (setting, bool) {
	for _, one := range slices.Backward(s) {
		if one.Key == key {
			return one, true
		}
	}
	return setting{}, false
}

// Value is the value that counts, or "".
func (s Settings) Value(key string) string {
	one, _ := s.last(key)
	return one.value
}

// users is the value that would count without the repository's own settings.
func (s Settings) users(key string) (string, bool) {
	for _, one := range slices.Backward(s) {
		if one.Key == key && !one.own {
			return one.value, true
		}
	}
	return "", false
}

// Bool reads a boolean setting; what is not set is false.
func (s Settings) Bool(key string) bool {
	one, ok := s.last(key)
	return ok && gitconfig.Values{key: one.value}.Bool(key, false)
}

// Remotes are the names of the remotes, in the order of the settings.
func (s Settings) Remotes() []string {
	var names []string
	for _, one := range s {
		if section, name, last := gitconfig.SplitKey(one.Key); section == "remote" && last == "url" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
