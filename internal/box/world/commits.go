package world

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Commands have a copy of the repository's index, references and new objects for
// themselves, in the upper layer. What they commit there is read: the commits of
// the user's repository are made of what is accepted.

// maxCommits bounds the commits that one harvest reports.
const maxCommits = 50

// commits are those that commands made since the last harvest, the oldest first, with
// those that were reported before and are gone.
//
// said are sentences about what else they did to the repository, and is not taken over.
func (w *world) commits(prefix string) (made []workspace.Commit, said []string) {
	private := privateOf(w)
	if !ownsGit(w) {
		return nil, nil
	}
	if inTables(repositoryOf(w).common) {
		return nil, tableNews(w)
	}
	again := returned(w)
	head, base := w.head(), ""
	rebasing := strings.Contains(inProgress(private, repositoryOf(w).own), "rebase")
	if head != "" && head != w.committed && !rebasing { // else its commits are not all there
		user := repositoryOf(w)
		until := []string{w.committed, headOf(user.own, user.common)}
		at := head
		for at != "" && len(made) < maxCommits && !slices.Contains(until, at) && !slices.Contains(w.reported, at) {
			c, ok := readCommit(private, at)
			if !ok {
				break // it is the user's
			}
			over := c
			if over.parent = cmp.Or(c.parent, until[1]); c.parent == "" && until[1] != "" {
				title, _, _ := strings.Cut(c.message, "\n")
				said = append(said, fmt.Sprintf("The commit %q begins a history for this session's commands alone: it is made on top of what the workspace has.", title))
			}
			one := workspace.Commit{ID: at, Message: c.message, Files: w.committedFiles(prefix, over)}
			if len(c.parents) > 1 {
				said = append(said, merged(w, &one, c.parents[1:])...)
			}
			made, at = append(made, one), c.parent
		}
		if f, ok := fastForward(w, prefix, at); ok {
			made, at = append(made, f), until[1]
		}
		w.committed, base = head, at
		slices.Reverse(made)
		onBranch(w, made)
		for i := range made {
			made[i].Unseen = unseenOf(w, prefix, made[i:])
		}
	}
	gone := slices.Concat(again, w.gone(private))
	var first, last []workspace.Commit
	if v, ok := viewRefs(w, made, base); ok {
		first, last = offerRefs(w, v, prefix)
		said = append(said, gitNews(w, v)...)
	}
	if len(gone) > 0 && len(made) == 0 {
		made = []workspace.Commit{{}}
	}
	for i := range made {
		if i == 0 {
			made[i].Replaces = gone
		}
		if made[i].ID != "" {
			w.reported = append(w.reported, made[i].ID)
		}
		if made[i].Branch != "" {
			w.elsewhere = append(w.elsewhere, made[i].ID)
		}
	}
	return slices.Concat(first, made, last), said
}

// merged notes what else a merge has for parents: commits of the user's repository. If one of
// them was made by a command, the merge keeps one parent, and a sentence says so.
func merged(w *world, made *workspace.Commit, parents []string) (said []string) {
	user := repositoryOf(w)
	v := refView{was: references(user.common, ""), userHead: headOf(user.own, user.common)}
	for _, id := range parents {
		if !reaches(compareIn(w, "."), v, id) {
			title, _, _ := strings.Cut(made.Message, "\n")
			return []string{fmt.Sprintf("The merge %q is made as a commit with one parent: what it merged does not count as merged.", title)}
		}
	}
	made.Merges = parents
	return nil
}

// unseenOf lists files of the first commit that commands did not change in the working tree.
// A file that a later commit changes again counts for that one.
func unseenOf(w *world, prefix string, made []workspace.Commit) (names []string) {
	if made[0].Forward {
		return nil // its files are looked at
	}
	again := map[string]bool{}
	for _, c := range made[1:] {
		for _, f := range c.Files {
			again[f.Path] = true
		}
	}
	for _, f := range made[0].Files {
		rel := strings.TrimPrefix(f.Path, prefix+"/")
		if again[f.Path] {
			continue
		}
		if now := hasIn(w, rel); now != (f.After != nil) || !now && !onDiskIn(w, rel) {
			names = append(names, f.Path)
		}
	}
	slices.Sort(names)
	return names
}

// hasIn reports whether commands see something under a name.
func hasIn(w *world, rel string) bool {
	for at := rel; at != "."; at = path.Dir(at) {
		info, err := os.Lstat(filepath.Join(w.upper(), filepath.FromSlash(at)))
		switch {
		case err == nil && at == rel:
			return !isWhiteout(info)
		case err == nil && (!info.IsDir() || w.kind == Overlay && opaque(filepath.Join(w.upper(), filepath.FromSlash(at)))):
			return false
		}
	}
	return w.kind == Overlay && onDiskIn(w, rel)
}

// onDiskIn reports whether the folder has something under a name.
func onDiskIn(w *world, rel string) bool {
	_, err := os.Lstat(filepath.Join(w.root, filepath.FromSlash(rel)))
	return err == nil
}

// returned takes off the list the commits that were reported for another branch, once commands
// are back on the user's: those merged into it are then reported again.
func returned(w *world) (again []string) {
	private, user := privateOf(w), repositoryOf(w)
	if len(w.elsewhere) == 0 || branchOf(private, gitBelow(w)) != branchOf(user.own, "") || inProgress(private, user.own) != "" {
		return nil
	}
	again = slices.DeleteFunc(w.elsewhere, func(id string) bool { return !slices.Contains(w.reported, id) })
	w.reported = slices.DeleteFunc(w.reported, func(id string) bool { return slices.Contains(again, id) })
	w.elsewhere, w.committed = nil, ""
	maps.DeleteFunc(w.offered, func(_ string, o offered) bool { return !o.alone }) // branches that they began
	return again
}

// forgetCommits forgets what was reported of a repository that goes.
func forgetCommits(w *world) {
	w.committed, w.reported, w.elsewhere, w.offered = "", nil, nil, nil
}

// gone takes those of the reported commits off the list to which neither HEAD nor the branch of
// the workspace leads any more: an amend, a rebase or a reset left them. A tag or another branch
// is no reason to make one. While something is in progress, any reference counts.
func (w *world) gone(private string) (gone []string) {
	if len(w.reported) == 0 {
		return nil
	}
	seen := map[string]bool{}
	user := repositoryOf(w)
	from := []string{w.head(), references(private, gitBelow(w))["refs/heads/"+branchOf(user.own, "")]}
	if inProgress(private, user.own) != "" {
		from = append(from, refsOf(private)...)
	}
	for _, at := range from {
		for len(seen) < maxCommits*maxCommits && at != "" && !seen[at] {
			seen[at] = true
			c, _ := readCommit(private, at)
			at = c.parent
		}
	}
	w.reported = slices.DeleteFunc(w.reported, func(id string) bool {
		if !seen[id] {
			gone = append(gone, id)
		}
		return !seen[id]
	})
	return gone
}

// maxRef bounds a file with a reference, in bytes.
const maxRef = 1 << 10

// refsOf are the commits to which references of a git directory lead.
func refsOf(dir string) (ids []string) {
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what can't be read leads nowhere
		}
		if info, err := d.Info(); err == nil && info.Size() <= maxRef {
			if text, err := os.ReadFile(path); err == nil {
				ids = append(ids, strings.TrimSpace(string(text)))
			}
		}
		return nil
	})
	packed := filepath.Join(dir, "packed-refs")
	if info, err := os.Lstat(packed); err == nil && info.Mode().IsRegular() && info.Size() <= maxObject {
		text, _ := os.ReadFile(packed)
		for line := range strings.Lines(string(text)) {
			id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			loose := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Lstat(loose); !filepath.IsLocal(name) || err == nil && info.Mode().IsRegular() {
				continue // the file has the say
			}
			ids = append(ids, id)
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return !hash.MatchString(id) })
}

// head is the commit that commands have checked out.
func (w *world) head() string {
	return headOf(privateOf(w), gitBelow(w))
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
