package world

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// collect returns what commands changed since the last collect.
func (w *world) collect(prefix string, f *found) (Collected, error) {
	h, err := w.changes(prefix, f)
	if err != nil {
		return h, err
	}
	var said []string
	h.Commits, said = w.commits(prefix)
	h.Said = append(append(h.Said, w.lost...), said...)
	w.lost = nil
	if len(h.Commits) > 0 && w.lacks {
		h.Said = append(h.Said, "The commit is in the session's own copy of the repository: the repository has submodules or names its working tree, so that git would change the workspace itself. git_commit commits in the workspace.")
	}
	return h, nil
}

// changes compares the upper layer with what commands met.
func (w *world) changes(prefix string, f *found) (Collected, error) {
	var h Collected
	fresh := map[string]*held{} // what the upper layer has, of what is another now
	size := int64(0)
	var taken []string
	top, err := w.inside()
	if err != nil {
		return Collected{}, err
	}
	defer top.Close()
	stashed := stashesOf(w)
	var put []string
	note := func(rel string, n node, text []byte) {
		was, ok := w.was(rel)
		if s, ok := stashed[rel]; ok && was.node != n && s.left(n, text) {
			put = append(put, rel)
			if n, text = s.keeps(); was.node == n {
				return // it is as it was, once commands take it out of the stash
			}
		}
		x := &held{node: n, text: text, lower: stampOf(filepath.Join(w.root, filepath.FromSlash(rel))), same: was.same && was.node == n}
		switch {
		case was.node == n:
			if w.held[rel] == nil {
				fresh[rel] = x // a copy that would hide what the user does
			}
			return
		case w.over != nil && w.unseen(rel):
			f.drop(hiddenFrom, rel)
		case !ok && w.over == nil:
			f.drop("the user changed it while the command ran, so what the command made of it is left out", rel)
		case n.link && workspace.LeadsOut(rel, string(text)):
			f.drop("it is a link that leads out of the workspace, or to what is protected", rel)
		default:
			ch := change(path.Join(prefix, rel), was, *x)
			ch.Outdated = !ok
			if w.over != nil && w.held[rel] != nil && !was.same && was.text == nil {
				w.over[rel] = was.word()
			}
			h.Changes = append(h.Changes, ch)
			taken = append(taken, rel)
			size += int64(len(was.text) + len(text))
		}
		fresh[rel] = x
	}
	for _, rel := range slices.Sorted(maps.Keys(f.files)) {
		at := filepath.FromSlash(rel)
		info, err := top.Lstat(at)
		if err == nil && info.Mode().IsRegular() && info.Size() > workspace.MaxFileSize { // of a sparse one nothing is read
			f.drop("it is too large to be reviewed", rel)
			continue
		}
		n, text, err := readNodeOf(regular{top}, at)
		if errors.Is(err, fs.ErrPermission) && info != nil && top.Chmod(at, info.Mode().Perm()|0o400) == nil {
			n, text, err = readNodeOf(regular{top}, at)
		}
		if err != nil {
			f.drop(reason(err), rel)
			continue
		}
		note(rel, n, text)
		if len(h.Changes) > w.o.Limits.Files || size > w.o.Limits.Bytes {
			return Collected{}, &LimitError{len(f.files) + len(f.gone), w.o.Limits}
		}
	}
	for _, rel := range f.gone {
		note(rel, node{}, nil)
	}
	gone := map[string]bool{}
	for _, rel := range f.gone {
		gone[rel] = true
	}
	for _, rel := range slices.Sorted(maps.Keys(w.held)) { // what only the upper layer had leaves nothing there
		if x := w.held[rel]; x.there && !x.same && !f.files[rel] && !gone[rel] && fresh[rel] == nil {
			if _, err := os.Lstat(filepath.Join(w.upper(), filepath.FromSlash(rel))); err != nil {
				note(rel, node{}, nil)
			}
		}
	}
	maps.Copy(w.held, fresh)
	if len(taken) > 0 {
		h.Settled = w.taking(taken)
	}
	h.Changes = renamed(h.Changes)
	w.away = put
	if slices.Sort(put); len(put) > 0 && isNews(w, "stash", strings.Join(put, "\n")) {
		h.Said = append(h.Said, fmt.Sprintf("Put away by git stash: %s. The stash is this session's alone, and goes with it. The files keep what it holds, for the user and the other tools; `git stash pop` brings it back for commands.", some(put)))
	} else if len(put) == 0 {
		delete(w.told, "stash")
	}
	if only := onlyStashed(w, stashed, put); len(only) > 0 && isNews(w, "only stashed", strings.Join(only, "\n")) {
		h.Said = append(h.Said, fmt.Sprintf("Only git stash has what it put away of %s: no file keeps that. The stash is this session's alone, and goes with it.", some(only)))
	} else if len(only) == 0 {
		delete(w.told, "only stashed")
	}
	for _, why := range slices.Sorted(maps.Keys(f.dropped)) {
		h.Said = append(h.Said, fmt.Sprintf("Not taken over: %s: %s.", some(f.dropped[why]), why))
	}
	return h, nil
}

// LimitError is why nothing of a harvest is taken over.
type LimitError struct {
	Files int
	Limits
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("commands changed %d files, and at most %d with %d MiB of text are taken over at a time. Nothing was: the workspace is as it was, and later commands of the session see the changes. Have git ignore what need not be reviewed (.gitignore), or undo the changes", e.Files, e.Limits.Files, e.Bytes>>20)
}

// was returns the file that commands found under a name; ok is false when that is no longer known.
func (w *world) was(rel string) (h held, ok bool) {
	if h := w.held[rel]; h != nil {
		return *h, true
	}
	at := filepath.Join(w.root, filepath.FromSlash(rel))
	h.lower = stampOf(at)
	n, text, err := readNode(at)
	if err != nil {
		return h, false
	}
	h.node, h.text, h.same = n, text, true
	return h, !h.lower.changedSince(w.began) && w.layer.met(rel, h.lower)
}

func reason(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// change returns what a command did to a name, as a change of the workspace.
func change(name string, was, now held) workspace.Change {
	c := workspace.Change{Path: name, BeforeLink: was.link, AfterLink: now.link}
	if was.there {
		c.Before = nonNil(was.text)
	}
	if now.there {
		c.After = nonNil(now.text)
	}
	if now.there && !now.link && (now.exec || was.there && was.exec != now.exec) {
		c.Mode = 0o644
		if now.exec {
			c.Mode = 0o755
		}
	}
	return c
}

// renamed says of a file that went, and of one with the same text that came, that
// it was renamed.
func renamed(changes []workspace.Change) []workspace.Change {
	came := map[string]int{} // by text
	for i, c := range changes {
		if c.Before == nil && len(c.After) > 0 && !c.Link() {
			came[string(c.After)] = i
		}
	}
	var out []workspace.Change
	taken := map[int]bool{}
	for _, c := range changes {
		if i, ok := came[string(c.Before)]; ok && c.After == nil && len(c.Before) > 0 && !c.Link() && !taken[i] {
			taken[i] = true
			changes[i].From, changes[i].Before = c.Path, c.Before
		}
	}
	from := map[string]bool{}
	for i := range taken {
		from[changes[i].From] = true
	}
	for _, c := range changes {
		if c.After != nil || !from[c.Path] {
			out = append(out, c)
		}
	}
	return out
}
