package world

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// New branches and tags of a session, and the branch that it switched to, are offered for review,
// as its commits are. They name a commit of the user's repository, or one that waits. What is
// changed otherwise, such as a branch that was moved or deleted, is only said.

// headName is the name under which a switch is offered.
const headName = "HEAD"

// offered is a reference that was reported: what it named, or the branch of HEAD.
type offered struct {
	is    string
	alone bool   // it waits by itself, and not with the commits that begin it
	own   string // the commit that waits and that it names
}

// refView holds the references of the user's repository and of the session's.
type refView struct {
	user            repository
	was, now        map[string]string
	onto, branch    string // the user's branch, and that of commands
	userHead, doing string
	made            []workspace.Commit
	base            string // the commit that the first of made follows
}

// viewRefs looks at both; ok is false where they can't be compared.
func viewRefs(w *world, made []workspace.Commit, base string) (v refView, ok bool) {
	private := privateOf(w)
	if !ownsGit(w) || w.real[".git"] {
		return v, false
	}
	v = refView{user: repositoryOf(w), made: made, base: base}
	if gitBelow(w) == "" && gitStateOf(v.user) != w.git {
		return v, false // the user changed what was copied
	}
	v.was, v.now = references(v.user.common, ""), references(private, gitBelow(w))
	v.onto, v.branch = branchOf(v.user.own, ""), branchOf(private, gitBelow(w))
	v.userHead, v.doing = headOf(v.user.own, v.user.common), inProgress(private, v.user.own)
	return v, len(v.was) < maxRefs && len(v.now) < maxRefs
}

// offerRefs are the references that changed: what goes before the commits, and what after them.
func offerRefs(w *world, v refView, prefix string) (first, last []workspace.Commit) {
	if w.offered == nil {
		w.offered = map[string]offered{}
	}
	o := &offering{refView: v, offered: w.offered, reported: w.reported, prefix: prefix, k: compareIn(w, prefix), diff: compareIn(w, prefix)}
	first = o.switched()
	names := slices.AppendSeq(slices.Collect(maps.Keys(v.now)), maps.Keys(w.offered))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if c, ok := o.reference(name); ok {
			last = append(last, c)
		}
	}
	return first, last
}

type offering struct {
	refView
	offered  map[string]offered
	reported []string // commits of commands that wait
	prefix   string
	k, diff  *comparing
}

// id is a reference among those of all folders.
func (o *offering) id(name string) string { return o.prefix + ":" + name }

// switched offers the branch that commands are on, if it is not the user's.
func (o *offering) switched() (list []workspace.Commit) {
	ref := "refs/heads/" + o.branch
	if o.branch == o.onto || o.branch == "" || o.doing != "" {
		if _, was := o.offered[headName]; was && o.doing == "" {
			list = append(list, o.takenBack(headName))
		}
		return list
	}
	isNew, at := o.was[ref] == "", o.now[ref]
	commits := len(o.made) > 0 && o.made[0].ID != ""
	if commits {
		at = o.base
	}
	begun := o.offered[ref]
	begins := isNew && (commits && (at == o.userHead || slices.Contains(o.reported, at)) || begun.is != "" && !begun.alone)
	if begins || isNew && o.offered[headName].is == o.branch {
		if begun.alone {
			list = append(list, o.takenBack(ref)) // the commits begin it
		}
		o.offered[ref] = offered{is: o.now[ref]}
	}
	own, known := o.known(at)
	if begins || o.offered[headName].is == o.branch || !isNew && at != o.was[ref] || !known || !goodName(o.branch) {
		return list
	}
	c := workspace.Commit{ID: o.id(headName), Replaces: []string{o.id(headName)}, Ref: workspace.Reference{
		Kind: workspace.RefSwitch, Dir: o.prefix, Name: o.branch, New: isNew, Commit: at, Own: own,
	}}
	if isNew {
		c.Replaces = append(c.Replaces, o.id(ref))
		c.Message = fmt.Sprintf("Switch to the new branch %s on %s", shownName(o.branch), o.named(at, own))
	} else {
		c.Message = fmt.Sprintf("Switch to the branch %s, at %s", shownName(o.branch), o.named(at, own))
	}
	if !own && at != o.userHead {
		if c.Files, known = o.files(o.userHead, at); !known {
			return list
		}
	}
	o.offered[headName] = offered{is: o.branch, alone: true}
	if isNew {
		o.offered[ref] = offered{is: o.now[ref]}
	}
	return append(list, c)
}

// reference offers a new branch or tag, or takes it back.
func (o *offering) reference(name string) (c workspace.Commit, ok bool) {
	kind := workspace.RefTag
	short, ok := strings.CutPrefix(name, "refs/tags/")
	if !ok {
		kind = workspace.RefBranch
		if short, ok = strings.CutPrefix(name, "refs/heads/"); !ok {
			return c, false
		}
	}
	was, id := o.offered[name], o.now[name]
	switch {
	case id == "" && was.is != "":
		c = o.takenBack(name)
		return c, was.alone
	case was.is == id && was.own != "" && !o.isOwn(was.own):
		return o.takenBack(name), true // what it names waits no more
	case id == "" || o.was[name] != "" || was.is == id:
		return c, false
	case was.is != "" && !was.alone && slices.Contains(o.reported, id):
		o.offered[name] = offered{is: id} // with more commits
		return c, false
	case kind == workspace.RefBranch && short == o.branch, !goodName(short):
		return c, false
	}
	at, message, ok := o.peeled(id)
	own, known := o.known(at)
	if !ok || !known || kind == workspace.RefBranch && at != id {
		if was.is != "" {
			c = o.takenBack(name) // it was moved
		}
		return c, was.alone
	}
	o.offered[name] = offered{is: id, alone: true}
	if own {
		o.offered[name] = offered{is: id, alone: true, own: at}
	}
	says := fmt.Sprintf("New %s %s on %s", kind, shownName(short), o.named(at, own))
	if message != "" {
		says += "\n\n" + message // which is part of what is accepted
	}
	return workspace.Commit{
		ID: o.id(name), Replaces: []string{o.id(name)}, Message: says,
		Ref: workspace.Reference{Kind: kind, Dir: o.prefix, Name: short, Commit: at, Own: own, Message: message},
	}, true
}

// takenBack has a reference that was offered wait no more.
func (o *offering) takenBack(name string) workspace.Commit {
	words := refWords(name)
	if name == headName {
		words = "the switch to " + branchWords(o.offered[headName].is)
	}
	if ref := "refs/heads/" + o.offered[headName].is; name == headName && !slices.Contains(o.reported, o.offered[ref].is) {
		delete(o.offered, ref) // no commit begins it: it is offered as a branch
	}
	delete(o.offered, name)
	return workspace.Commit{Replaces: []string{o.id(name)}, Ref: workspace.Reference{Name: words}}
}

// known reports whether the user's repository has a commit, and a reference leads there: what is
// lost of it is not brought back. own: it is one of commands, which waits.
func (o *offering) known(id string) (own, ok bool) {
	if id == "" {
		return false, false
	}
	if o.isOwn(id) {
		return true, true
	}
	return false, reaches(o.k, o.refView, id)
}

// isOwn reports whether a commit is one of commands.
func (o *offering) isOwn(id string) bool {
	return slices.Contains(o.reported, id) || slices.ContainsFunc(o.made, func(c workspace.Commit) bool { return c.ID == id && !c.Forward })
}

// reaches reports whether a branch or a tag of the user's repository leads to a commit.
func reaches(k *comparing, v refView, id string) bool {
	return k.lead(append(histories(v.was), v.userHead), id)
}

// histories returns the commits that branches and tags name. It leaves out the stash, which holds staged text.
func histories(refs map[string]string) (ids []string) {
	for name, id := range refs {
		if strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") || strings.HasPrefix(name, "refs/remotes/") {
			ids = append(ids, id)
		}
	}
	return ids
}

// peeled is the commit that an object names, and the message of an annotated tag. One that is
// signed is no such: nobody could sign it again.
func (o *offering) peeled(id string) (commit, message string, ok bool) {
	if _, isCommit := o.k.treeOf(id); isCommit {
		return id, "", true
	}
	body, ok := madeObject(o.k.made, id, "tag", maxRefText)
	if !ok {
		body, ok = storedObject(o.k.stored, id, "tag", maxRefText)
	}
	header, text, _ := bytes.Cut(body, []byte("\n\n"))
	for line := range strings.Lines(string(header)) {
		switch word, value, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case word == "object" && commit == "":
			commit = value
		case word == "type" && value != "commit":
			return "", "", false
		}
	}
	_, isCommit := o.k.treeOf(commit)
	message = shownMessage(string(text))
	return commit, message, ok && isCommit && strings.TrimSpace(message) != "" && !strings.Contains(message, "-----BEGIN ")
}

// maxRefText bounds a tag, in bytes.
const maxRefText = 64 << 10

// files returns the files that differ between two commits.
func (o *offering) files(from, to string) ([]workspace.Change, bool) {
	was, wasOK := o.diff.treeOf(from)
	now, nowOK := o.diff.treeOf(to)
	o.diff.trees("", was, now)
	return o.diff.files, wasOK && nowOK && !o.diff.failed
}

// named is a commit as people know it. One of commands gets another hash when it is made.
func (o *offering) named(id string, own bool) string {
	title := ""
	if c, ok := readCommit(o.k.made, id); ok {
		title = c.message
	} else if body, ok := storedObject(o.k.stored, id, "commit", maxObject); ok {
		_, text, _ := bytes.Cut(body, []byte("\n\n"))
		title = shownMessage(string(text))
	}
	title, _, _ = strings.Cut(title, "\n")
	if own {
		return fmt.Sprintf("the commit %q", title)
	}
	return fmt.Sprintf("%.10s: %s", id, title)
}

// maxName bounds the name of a branch, in bytes.
const maxName = 200

// goodName reports whether git takes a name, and people can read it.
func goodName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	strange := strings.ContainsFunc(name, inNoBranch) || len(name) > maxName || name == "@" || strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasPrefix(name, "-")
	return !strange && fs.ValidPath(name) && name != "HEAD" && shownName(name) == name
}
