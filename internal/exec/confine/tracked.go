package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// trackedSecrets knows which files that may hold secrets a repository tracks.
// What looks empty in the sandbox, git there takes for changed: a commit of
// everything would fail, and a status would show what nobody did. So those keep
// their look. It remembers each index as long as that is the same file.
type trackedSecrets struct {
	mu sync.Mutex
	of map[string]trackedIn // by the path of the index
}

type trackedIn struct {
	index os.FileInfo
	names map[string]bool // relative to the top of the working tree, slash-separated
}

// maxIndexes bounds the indexes that are remembered.
const maxIndexes = 16

// split says which of paths, which are absolute, the repository tracks.
func (t *trackedSecrets) split(r *gitrepo.Repo, paths []string) (tracked, others []string) {
	if len(paths) == 0 {
		return nil, nil
	}
	names := t.names(filepath.Join(r.GitDir, "index"))
	for _, path := range paths {
		if rel, err := filepath.Rel(r.Dir, path); err == nil && names[filepath.ToSlash(rel)] {
			tracked = append(tracked, path)
		} else {
			others = append(others, path)
		}
	}
	return tracked, others
}

func (t *trackedSecrets) names(path string) map[string]bool {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have, ok := t.of[path]; ok && os.SameFile(have.index, info) && have.index.Size() == info.Size() && have.index.ModTime().Equal(info.ModTime()) {
		return have.names
	}
	x, err := index.Read(path)
	if err != nil {
		return nil // git will say so
	}
	names := map[string]bool{}
	for i := range x.Entries {
		if name := x.Entries[i].Name; workspace.Sensitive(name) || strings.HasPrefix(name, ".sidecar/") || strings.Contains(name, "/.sidecar/") {
			names[name] = true
		}
	}
	if t.of == nil || len(t.of) == maxIndexes {
		t.of = map[string]trackedIn{}
	}
	t.of[path] = trackedIn{info, names}
	return names
}

// TrackedWords say that what git tracks is not secret from commands.
func TrackedWords(root string, tracked []string) string {
	name := tracked[0]
	if rel, err := filepath.Rel(root, name); err == nil {
		name = filepath.ToSlash(rel)
	}
	more := ""
	if len(tracked) > 1 {
		more = fmt.Sprintf(" and %d more", len(tracked)-1)
	}
	return fmt.Sprintf("git tracks %s%s: commands can't read the file, but they can read what was committed of it (git show HEAD:%s)", name, more, name)
}

// trackedNote says, once in a session's root, that what git tracks can be read
// out of the repository although the files can't.
func trackedNote(c *Confiner, session, root string, sealed []string) string {
	if len(sealed) == 0 {
		return ""
	}
	if _, reported := c.reportedTracked.LoadOrStore(session+"\x00"+root, true); reported {
		return ""
	}
	return "; " + TrackedWords(root, sealed)
}
