package world

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// A command that merges a branch which is ahead makes no commit: git moves the branch to one
// that the repository has. Its files wait like those of a commit, and the branch goes there
// once they are accepted.

// maxForward bounds how many commits are looked at between two.
const maxForward = 10_000

// fastForward is the commit of the user's repository to which commands moved the branch that the
// workspace is on, with what that changes. One of the user's references names it: what is
// lost of the repository is not brought back.
func fastForward(w *world, prefix, to string) (c workspace.Commit, ok bool) {
	user := repositoryOf(w)
	from, branch := headOf(user.own, user.common), branchOf(user.own, "")
	if w.real[".git"] || from == "" || to == "" || from == to || branch == "" || branch != branchOf(privateOf(w), gitBelow(w)) || slices.Contains(w.reported, to) {
		return c, false
	}
	if !slices.Contains(histories(references(user.common, "")), to) {
		return c, false
	}
	k := compareIn(w, prefix)
	if !k.follows(to, from) {
		return c, false
	}
	body, ok := storedObject(k.stored, to, "commit", maxObject)
	_, text, _ := bytes.Cut(body, []byte("\n\n"))
	title, _, _ := strings.Cut(shownMessage(string(text)), "\n")
	c = workspace.Commit{ID: to, Forward: true, Message: fmt.Sprintf("Fast-forward to %.10s: %s", to, title)}
	was, wasOK := k.treeOf(from)
	now, nowOK := k.treeOf(to)
	if k.trees("", was, now); !ok || !wasOK || !nowOK || k.failed || len(k.files) == 0 {
		return c, false // as the news say it
	}
	c.Files = k.files
	return c, true
}

// follows reports whether a commit of the user's repository has another among those before it.
func (k *comparing) follows(to, from string) bool { return k.lead([]string{to}, from) }

// lead reports whether one of some commits of the user's repository is another, or has it among
// those before it.
func (k *comparing) lead(list []string, from string) bool {
	if slices.Contains(list, from) {
		return true
	}
	seen := map[string]bool{}
	for _, id := range list {
		seen[id] = true
	}
	for len(list) > 0 && len(seen) < maxForward {
		at := list[0]
		list = list[1:]
		if at == from {
			return true
		}
		body, ok := storedObject(k.stored, at, "commit", maxObject)
		if !ok {
			continue // of a shallow clone
		}
		header, _, _ := bytes.Cut(body, []byte("\n\n"))
		for line := range strings.Lines(string(header)) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "parent "); ok && !seen[id] {
				seen[id] = true
				list = append(list, id)
			}
		}
	}
	return false
}
