package world

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// A stash takes what is not committed out of the files, the user's own lines too, and is
// the session's alone. So the files keep what a stash holds of them, for the user and for
// the other tools; commands see them as git left them, until they take it out again.

// maxStashes bounds the entries of the stash that are looked at.
const maxStashes = 20

// stashedFile is a file of which the stash has a text: base is what git left of it.
type stashedFile struct{ base, kept workspace.Change }

// stashesOf are the files that the stash of commands holds, by name, which the user's does
// not. The newest entry counts.
func stashesOf(w *world) map[string]stashedFile {
	if !ownsGit(w) || w.real[".git"] {
		return nil
	}
	ids := stashIDs(privateOf(w))
	if len(ids) == 0 {
		return nil
	}
	users := stashIDs(repositoryOf(w).common)
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(users, id) })
	files := map[string]stashedFile{}
	for _, id := range ids[max(0, len(ids)-maxStashes):] { // the oldest first
		addStash(w, id, files)
	}
	return files
}

// stashIDs are the entries that the log of a stash has, the oldest first.
func stashIDs(dir string) (ids []string) {
	at := filepath.Join(dir, "logs", "refs", "stash")
	info, err := os.Lstat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxObject {
		return nil
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && hash.MatchString(f[1]) {
			ids = append(ids, f[1])
		}
	}
	return ids
}

// addStash adds the files of one entry: a commit on top of what was checked out, and in a
// third parent the files that git did not track.
func addStash(w *world, id string, files map[string]stashedFile) {
	c, ok := readCommit(privateOf(w), id)
	if !ok || len(c.parents) < 2 {
		return
	}
	for _, f := range treeFiles(w, c.parents[0], c.tree) {
		files[f.Path] = stashedFile{base: workspace.Change{Path: f.Path}, kept: f}
	}
	for _, f := range between(w, c.tree, c.parents[0]) {
		s := files[f.Path]
		s.base = f
		files[f.Path] = s
	}
	if len(c.parents) > 2 {
		if untracked, ok := readCommit(privateOf(w), c.parents[2]); ok {
			for _, f := range treeFiles(w, "", untracked.tree) {
				files[f.Path] = stashedFile{base: workspace.Change{Path: f.Path}, kept: f}
			}
		}
	}
}

// treeFiles are what a tree has otherwise than a commit; "" is none.
func treeFiles(w *world, parent, tree string) []workspace.Change {
	k := compareIn(w, ".")
	was, ok := k.treeOf(parent)
	if k.trees("", was, tree); !ok || k.failed {
		return nil
	}
	return k.files
}

// between are what a commit has otherwise than a tree.
func between(w *world, tree, commit string) []workspace.Change {
	k := compareIn(w, ".")
	now, ok := k.treeOf(commit)
	if k.trees("", tree, now); !ok || k.failed {
		return nil
	}
	return k.files
}

// onlyStashed are the files of which a stash has a text that nothing else has: commands wrote
// it and put it away at once. put are those that keep what is put away.
func onlyStashed(w *world, stashed map[string]stashedFile, put []string) (only []string) {
	for _, rel := range slices.Sorted(maps.Keys(stashed)) {
		n, _ := stashed[rel].keeps()
		if now, _ := w.was(rel); n.there && now.node != n && !slices.Contains(put, rel) {
			only = append(only, rel)
		}
	}
	return only
}

// bringBack has commands see what they put away as the view has it: their stash goes, or
// they have another repository. What git left would be taken for their doing.
func bringBack(w *world) {
	for _, rel := range w.away {
		delete(w.held, rel)
		_ = w.layer.reset(rel) // else it is in the review as a change
	}
	w.away = nil
}

// left reports whether a file is as git left it when it put a text of it away.
func (s stashedFile) left(n node, text []byte) bool {
	if s.base.After == nil {
		return !n.there
	}
	return n.there && n.link == s.base.AfterLink && string(text) == string(s.base.After)
}

// keeps is the text that the stash has of a file.
func (s stashedFile) keeps() (n node, text []byte) {
	switch {
	case s.kept.After == nil:
		return node{}, nil
	case s.kept.AfterLink:
		return linkNode(string(s.kept.After)), s.kept.After
	}
	return fileNode(s.kept.After, workspace.IsExec(s.kept.Mode) && keepsExec), s.kept.After
}
