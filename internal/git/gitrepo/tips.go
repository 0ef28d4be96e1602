package gitrepo

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// Tips are what the references of a repository name that lead to a checkout: HEAD,
// branches, tags, the stash.
type Tips struct {
	head  string
	refs  map[string]string
	other map[string]string // what has git see other objects or a shorter history, by name
}

// Files of a repository by which git sees other objects or a shorter history than it has.
const (
	shallowFile    = "shallow"
	alternatesFile = "objects/info/alternates"
	replaceRefs    = "refs/replace/"
)

// Tips reads them, in process.
func (r *Repo) Tips() (Tips, error) {
	h, err := r.head()
	if err != nil {
		return Tips{}, err
	}
	t := Tips{refs: map[string]string{}, other: map[string]string{}}
	for _, name := range []string{shallowFile, alternatesFile} {
		if text, err := gitfile.ReadSmall(filepath.Join(r.CommonDir, filepath.FromSlash(name)), maxOther); err == nil {
			t.other[name] = string(text)
		}
	}
	if !h.hash.IsZero() {
		t.head = h.hash.String()
		t.refs["HEAD"] = t.head
	}
	iter, err := r.storage.IterReferences()
	if err != nil {
		return t, err
	}
	defer iter.Close()
	return t, iter.ForEach(func(ref *plumbing.Reference) error {
		if name := ref.Name(); strings.HasPrefix(name.String(), replaceRefs) {
			t.other[name.String()] = ref.Hash().String()
		} else if ref.Type() == plumbing.HashReference && (name.IsBranch() || name.IsTag() || name == "refs/stash") {
			t.refs[name.String()] = ref.Hash().String()
		}
		return nil
	})
}

// What is said of references that were moved, and how many are looked at.
const (
	maxTips  = 16
	maxNames = 5
	maxOther = 1 << 20 // bytes of a file
)

// MovedTips says which references name other commits than before, as far as their
// checkout would write files that a person is asked about, or nobody writes.
func (r *Repo) MovedTips(ctx context.Context, before Tips) (said []string) {
	now, err := r.Tips()
	if err != nil {
		return nil // git says so
	}
	said = seenOtherwise(before, now)
	looked := 0
	for _, name := range sortedNames(now.refs) {
		commit := now.refs[name]
		if before.refs[name] == commit || commit == before.head {
			continue
		}
		if looked++; looked > maxTips {
			return append(said, "More references of the repository were moved, and not looked at.")
		}
		files, err := r.differ(ctx, before.head, commit)
		if err == nil && name == "refs/stash" {
			if in, err := r.inStash(ctx, commit); err == nil {
				files = in
			}
		}
		var names []string
		for _, f := range files {
			if workspace.Protected(f.Path) != workspace.NotProtected || workspace.Sensitive(f.Path) || f.Link != "" && workspace.LeadsOut(f.Path, f.Link) {
				names = append(names, gitcmd.Shown(f.Path))
			}
		}
		if more := len(names) - maxNames; more > 0 {
			names = append(names[:maxNames], fmt.Sprintf("%d more", more))
		}
		if len(names) > 0 {
			said = append(said, fmt.Sprintf("%s now names a commit with %s: a checkout of it would write what other programs run or obey, or what may hold secrets", gitcmd.Shown(name), strings.Join(names, ", ")))
		}
	}
	return said
}

// seenOtherwise says what has git see other objects or a shorter history than before.
func seenOtherwise(before, now Tips) (said []string) {
	for _, name := range sortedNames(now.other) {
		text := now.other[name]
		if text == before.other[name] || strings.TrimSpace(text) == "" {
			continue
		}
		switch name {
		case shallowFile:
			said = append(said, "the file shallow of the repository is new or changed: git takes the history to begin at the commits in it, and git gc removes older ones")
		case alternatesFile:
			first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
			said = append(said, fmt.Sprintf("the repository's objects/info/alternates is new or changed: git takes objects from %s, and git gc does not keep them here", gitcmd.Shown(first)))
		default:
			said = append(said, fmt.Sprintf("%s is new or changed: git shows another object in place of that one, until git replace -d removes it", gitcmd.Shown(name)))
		}
		if len(said) == maxNames {
			return append(said, "There may be more of that kind.")
		}
	}
	return said
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
