package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Left is a file that stays as it is.
type Left struct{ Path, Why string }

// Why a file stays as it is.
const (
	changedSince = "it was changed since in the same places"
	goneSince    = "it was deleted or moved since"
	tooLong      = "it is too long to be kept"
)

// Back takes changes back in a view, the newest first. What others changed meanwhile
// stays: where they changed the same lines, the file stays as it is and is among left,
// and so do its changes of before.
func Back(ctx context.Context, view workspace.View, changes []Change) (files []string, left []Left, err error) {
	keep := map[string]bool{}
	for _, c := range slices.Backward(joined(changes)) {
		names := []string{c.Path}
		if c.From != "" {
			names = append(names, c.From)
		}
		if slices.ContainsFunc(names, func(name string) bool { return keep[name] }) {
			for _, name := range names { // an older change of the other name can't be reached either
				keep[name] = true
			}
			continue
		}
		back, why, err := opposite(view, c)
		if err == nil && why == "" && back != nil {
			if err = view.Apply(ctx, *back); errors.Is(err, workspace.ErrConflict) {
				why, err = changedSince, nil
			}
		}
		switch {
		case err != nil:
			return files, left, fmt.Errorf("%s: %w", c.Path, err)
		case why != "":
			for _, name := range names {
				keep[name] = true
			}
			left = append(left, Left{c.Path, why})
		case back != nil && !slices.Contains(files, back.Path):
			files = append(files, back.Path)
		}
	}
	slices.Sort(files)
	return files, left, nil
}

// joined makes one of changes of a text that follow on each other.
func joined(changes []Change) (list []Change) {
	latest := map[string]int{} // the change of a name that was made last
	plain := func(c Change) bool {
		return c.From == "" && !c.Link() && c.Unkept == "" && c.Mode == 0 && c.After != nil
	}
	for _, c := range changes {
		if i, ok := latest[c.Path]; ok && plain(c) && plain(list[i]) && c.Before != nil && bytes.Equal(list[i].After, c.Before) {
			list[i].After = c.After
			continue
		}
		list = append(list, c)
		latest[c.Path] = len(list) - 1
		if c.From != "" {
			latest[c.From] = len(list) - 1
		}
	}
	return list
}

// opposite is the change that takes c back in a view as it is now; nil: there is nothing
// to do. why says that it can't be.
func opposite(view workspace.Files, c Change) (back *workspace.Change, why string, err error) {
	if c.Unkept != "" {
		return nil, tooLong, nil
	}
	now, isLink, err := read(view, c.Path)
	if err != nil {
		return nil, "", err
	}
	if c.From != "" {
		return moveBack(view, c, now)
	}
	switch {
	case c.Link() || isLink:
		if isLink == c.BeforeLink && same(now, c.Before) {
			return nil, "", nil
		}
		if isLink != c.AfterLink || !same(now, c.After) {
			return nil, changedSince, nil
		}
		return &workspace.Change{Path: c.Path, Before: now, BeforeLink: isLink, After: c.Before, AfterLink: c.BeforeLink, Mode: c.Mode}, "", nil
	case same(now, c.Before) && c.Mode == 0, now == nil && c.Before == nil:
		return nil, "", nil
	case now == nil && c.After != nil:
		return nil, goneSince, nil
	}
	text := c.Before
	if !same(now, c.After) {
		if now == nil || c.Before == nil || c.After == nil {
			return nil, changedSince, nil
		}
		if text = merge(c.After, now, c.Before); text == nil {
			return nil, changedSince, nil
		}
	}
	if same(text, now) && c.Mode == 0 {
		return nil, "", nil
	}
	return &workspace.Change{Path: c.Path, Before: now, After: text, Mode: c.Mode}, "", nil
}

// moveBack moves a file back, whose text is now.
func moveBack(view workspace.Files, c Change, now []byte) (back *workspace.Change, why string, err error) {
	old, _, err := read(view, c.From)
	if f := view.Folding(path.Dir(c.From)); err == nil && f.Same(c.From, c.Path) {
		real, err := view.RealName(c.Path)
		if err != nil {
			return nil, "", err
		}
		if real == c.From {
			return nil, "", nil // it is back already
		}
		old = nil // what is found by the old name is the file itself
	}
	switch {
	case err != nil:
		return nil, "", err
	case now == nil && old != nil:
		return nil, "", nil // it was not moved, or is back already
	case now == nil:
		return nil, goneSince, nil
	case old != nil:
		return nil, "another file is at " + c.From + " now", nil
	}
	text := c.Before
	if !same(now, c.After) {
		if text = merge(c.After, now, c.Before); text == nil {
			return nil, changedSince, nil
		}
	}
	return &workspace.Change{Path: c.From, From: c.Path, Before: now, After: text}, "", nil
}

// read returns what a name has: a text, or the target of a link; nil is nothing.
func read(view workspace.Files, name string) (data []byte, isLink bool, err error) {
	if n, err := workspace.NodeOf(view, name); err == nil && n.Link != "" {
		return []byte(n.Link), true, nil
	}
	data, err = view.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if data == nil {
		data = []byte{}
	}
	return data, false, err
}

func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// merge makes in now the change from one text to another; nil: it can't.
func merge(from, now, to []byte) []byte {
	for _, text := range [][]byte{from, now, to} {
		if diff.Binary(string(text)) {
			return nil
		}
	}
	merged, ok := diff.Merge(string(from), string(now), string(to))
	if !ok {
		return nil
	}
	return append([]byte{}, merged...)
}
