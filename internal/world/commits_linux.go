package world

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// Commands have a copy of the repository's index, references and new objects for
// themselves, in the upper layer. What they commit there is read: the commits of
// the user's repository are made of what is accepted.

// maxCommits bounds the commits that one harvest reports.
const maxCommits = 50

// commits are those that commands made since the last harvest, the oldest first.
func (w *world) commits(prefix string) (made []workspace.Commit) {
	private := filepath.Join(w.upper(), ".git")
	if _, err := os.Lstat(private); err != nil {
		return nil
	}
	head := w.head()
	if head == "" || head == w.committed {
		return nil
	}
	until := []string{w.committed, headOf(filepath.Join(w.root, ".git"), filepath.Join(w.root, ".git"))}
	for at := head; at != "" && len(made) < maxCommits && !slices.Contains(until, at); {
		c, ok := readCommit(private, at)
		if !ok {
			break // it is the user's
		}
		made = append(made, workspace.Commit{Message: c.message, Files: w.committedFiles(prefix, c)})
		at = c.parent
	}
	w.committed = head
	slices.Reverse(made)
	return made
}

// head is the commit that commands have checked out.
func (w *world) head() string {
	return headOf(filepath.Join(w.upper(), ".git"), filepath.Join(w.root, ".git"))
}

var hash = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// headOf is the commit of HEAD in the first of two git directories that has it;
// "" is none.
func headOf(first, second string) string {
	read := func(name string) string {
		for _, dir := range []string{first, second} {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
				continue
			}
			if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				return strings.TrimSpace(string(data))
			}
		}
		return ""
	}
	head := read("HEAD")
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		ref = ""
	}
	switch {
	case hash.MatchString(head):
		return head
	case !filepath.IsLocal(ref) || !strings.HasPrefix(ref, "refs/"):
		return ""
	}
	if id := read(ref); hash.MatchString(id) {
		return id
	}
	for line := range strings.Lines(read("packed-refs")) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref && hash.MatchString(id) {
			return id
		}
	}
	return ""
}
