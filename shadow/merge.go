package shadow

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Merge is what a shadow's changes come to in the main tree, as data: nothing
// is applied yet. Paths are names of the view that was merged with.
type Merge struct {
	Changes   []workspace.Change `json:"-"`
	Merged    []string           `json:"merged"` // the files that Changes changes
	Conflicts []Conflict         `json:"conflicts"`
	Skipped   []Skipped          `json:"skipped,omitempty"`
}

// Conflict is a file that both trees changed, in ways that don't go together.
// A text is nil where there is no file.
type Conflict struct {
	Path   string  `json:"path"`
	Base   *string `json:"base"`   // as the shadow began
	Ours   *string `json:"ours"`   // as the main tree has it
	Theirs *string `json:"theirs"` // as the shadow has it
	Reason string  `json:"reason"`
}

// Skipped is a change that is not made.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// maxConflict bounds a text of a conflict, in bytes.
const maxConflict = 64 << 10

// Merge merges what was done in a shadow into main: three ways for each file,
// between how the shadow began, what main has now, and what the shadow has.
// Files that main has already as the shadow wants them are no change, so that
// merging again gives nothing new.
func (m *Manager) Merge(ctx context.Context, id string, main workspace.Files) (Merge, error) {
	none := Merge{Merged: []string{}, Conflicts: []Conflict{}}
	if err := m.wait(ctx); err != nil {
		return none, err
	}
	t, err := m.find(id)
	if err != nil {
		return none, err
	}
	out, err := m.merge(ctx, t, main)
	if gone := m.same(t); gone != nil {
		return none, gone
	}
	return out, err
}

func (m *Manager) merge(ctx context.Context, t *tree, main workspace.Files) (Merge, error) {
	out := Merge{Merged: []string{}, Conflicts: []Conflict{}}
	list, err := m.changes(ctx, t)
	if err != nil {
		return out, err
	}
	c, err := t.contents()
	if err != nil {
		return out, err
	}
	defer c.close()
	g := &merging{ctx: ctx, m: m, c: c, main: main, top: t.repo.Dir, out: out, names: map[string]bool{}}
	list = c.renames(ctx, g.respelled(list))
	for _, ch := range list {
		g.names[ch.name()] = true
	}
	if trades(list) {
		slices.SortStableFunc(list, func(a, b change) int { return later(a) - later(b) })
	}
	for _, ch := range list {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		g.one(ch)
	}
	return g.out, g.leftOut()
}

// trades reports whether a file takes the place of a directory, or the other way.
func trades(list []change) bool {
	gone, below := map[string]bool{}, map[string]bool{}
	for _, ch := range list {
		if ch.new.exists() && !ch.renamed() {
			continue
		}
		gone[ch.old.path] = true
		for dir := path.Dir(ch.old.path); dir != "."; dir = path.Dir(dir) {
			below[dir] = true
		}
	}
	return slices.ContainsFunc(list, func(ch change) bool {
		if !ch.new.exists() {
			return false
		}
		trade := below[ch.new.path]
		for dir := path.Dir(ch.new.path); dir != "."; dir = path.Dir(dir) {
			trade = trade || gone[dir]
		}
		return trade
	})
}

// later puts what comes after what goes.
func later(ch change) int {
	if ch.new.exists() {
		return 1
	}
	return 0
}

// goes reports whether the merge takes a file of the main tree away.
func goes(g *merging, name string) bool {
	return slices.ContainsFunc(g.out.Changes, func(c workspace.Change) bool {
		return c.From == name || c.Path == name && c.After == nil
	})
}

// vacated reports whether the merge takes all files of a directory away.
func vacated(g *merging, dir string) bool {
	err := fs.WalkDir(g.main, dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !goes(g, name) {
			err = fs.ErrExist
		}
		return err
	})
	return err == nil
}

// respelled makes renames of files that go and come under two spellings of a name,
// where the main tree has one file by both: whatever their texts are.
func (g *merging) respelled(list []change) []change {
	key := func(file string) string {
		name, err := g.main.Resolve(filepath.Join(g.top, filepath.FromSlash(file)))
		if err != nil {
			return ""
		}
		if f := g.main.Folding(path.Dir(name)); !f.Exact() {
			return f.Key(name)
		}
		return ""
	}
	gone := map[string]int{}
	for i, ch := range list {
		if !ch.new.exists() && !ch.isLink() {
			if k := key(ch.old.path); k != "" {
				gone[k] = i
			}
		}
	}
	if len(gone) == 0 {
		return list
	}
	joined := map[int]bool{}
	for i, ch := range list {
		if ch.old.exists() || ch.isLink() {
			continue
		}
		if at, ok := gone[key(ch.new.path)]; ok && !joined[at] {
			list[i].old, joined[at] = list[at].old, true
		}
	}
	var out []change
	for i, ch := range list {
		if !joined[i] {
			out = append(out, ch)
		}
	}
	return out
}

// merging is a merge under way.
type merging struct {
	ctx  context.Context
	m    *Manager
	c    *contents
	main workspace.Files
	top  string
	out  Merge

	base  *index.Index    // how the shadow began; see began
	moves *moves          // what the main tree has renamed; see renamed
	names map[string]bool // that the shadow's changes have, and where they are put
}

// triple is one file in the three states, nil where it isn't.
type triple struct {
	base, ours, theirs []byte
	moved              string // what the main tree has renamed the file to
}

func (g *merging) skip(name, format string, args ...any) {
	g.out.Skipped = append(g.out.Skipped, Skipped{name, fmt.Sprintf(format, args...)})
}

func (g *merging) conflict(name string, t triple, reason string) {
	k := Conflict{Path: name, Reason: reason}
	if g.m.o.Settings.Hidden(name) {
		k.Reason += "; the texts are not shown, because the file may hold secrets"
	} else {
		k.Base, k.Ours, k.Theirs = bounded(t.base), bounded(t.ours), bounded(t.theirs)
	}
	g.out.Conflicts = append(g.out.Conflicts, k)
}

// ConflictOf is a change that could not be applied.
func ConflictOf(c workspace.Change, err error) Conflict {
	k := Conflict{Path: c.Path, Reason: err.Error()}
	if !workspace.Sensitive(c.Path) {
		k.Ours, k.Theirs = bounded(c.Before), bounded(c.After)
	}
	return k
}

// bounded is a text as a conflict shows it.
func bounded(data []byte) *string {
	if data == nil {
		return nil
	}
	text := string(data)
	switch {
	case diff.Binary(text) || !utf8.ValidString(text):
		text = fmt.Sprintf("(binary, %d bytes)", len(data))
	case len(text) > maxConflict:
		cut := maxConflict
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + fmt.Sprintf("\n(cut: %d of %d bytes)\n", cut, len(text))
	}
	return &text
}

// one merges one change.
func (g *merging) one(ch change) {
	if ch.isLink() {
		if name, ok := g.resolve(g.placed(ch)); ok {
			g.link(ch, name)
		}
		return
	}
	name, ok := g.nameOf(g.placed(ch))
	if !ok {
		return
	}
	if (!ch.old.exists() || ch.renamed()) && strings.ContainsFunc(name, unicode.IsControl) {
		g.skip(strconv.Quote(name), "its name has a control character, such as a line break, and can't be shown")
		return
	}
	var t triple
	var err error
	if t.base, err = g.c.old(g.ctx, ch.old); err == nil {
		t.theirs, err = g.c.new(ch.new)
	}
	if err != nil {
		g.skip(name, "it can't be read: %v", err)
		return
	}
	from := name
	if ch.renamed() {
		if from, ok = g.nameOf(ch.old.path); !ok {
			return
		}
	}
	if t.ours, ok = g.ours(from, t); !ok {
		return
	}
	if t.ours == nil && ch.old.exists() {
		if t.moved, t.ours, ok = g.oursMoved(from, ch.old.path, t); !ok {
			return
		}
	}
	switch {
	case ch.renamed() && from == name && t.moved == "":
		g.respell(name, ch.new.path, t, ch.mode())
	case ch.renamed():
		g.rename(from, name, t, ch.mode())
	case !ch.old.exists():
		g.create(name, t, ch.new.mode)
	case !ch.new.exists():
		g.remove(name, t)
	default:
		g.modify(cmp.Or(t.moved, name), t, ch.mode())
	}
}

// mode is the mode that a file got in the shadow, 0 when it kept its own.
func (c change) mode() fs.FileMode {
	if c.old.mode == c.new.mode {
		return 0
	}
	return fs.FileMode(c.new.mode & 0o777)
}

// newMode is mode for a file of the main tree: 0 when that has it already.
func (g *merging) newMode(name string, mode fs.FileMode) fs.FileMode {
	if mode == 0 {
		return 0
	}
	n, err := workspace.NodeOf(g.main, name)
	switch {
	case err != nil:
		g.skip(name, "its mode can't be changed: %v", err)
		return 0
	case n.Exec == workspace.IsExec(mode):
		return 0
	}
	return mode
}

// nameOf is a file's name in the main tree's view.
func (g *merging) nameOf(file string) (string, bool) {
	name, ok := g.resolve(file)
	if !ok {
		return "", false
	}
	if real, err := g.main.RealName(name); err == nil && real != name || errors.Is(err, workspace.ErrOutside) {
		g.skip(name, "in the main tree it is a symbolic link, or lies behind one")
		return "", false
	}
	return name, true
}

// resolve is nameOf for what may be a link.
func (g *merging) resolve(file string) (string, bool) {
	name, err := g.main.Resolve(filepath.Join(g.top, filepath.FromSlash(file)))
	if err != nil {
		g.skip(file, "it is not in the folder that is open")
		return "", false
	}
	if workspace.Protected(name) == workspace.Never {
		g.skip(name, "the path is protected; nobody but you may write it")
		return "", false
	}
	return name, true
}

// ours reads the main tree's file. What is no file there is a conflict.
func (g *merging) ours(name string, t triple) ([]byte, bool) {
	info, err := g.main.Stat(name)
	switch {
	case workspace.NoFile(err):
		for dir := path.Dir(name); t.theirs != nil && dir != "."; dir = path.Dir(dir) {
			if info, err := g.main.Stat(dir); err == nil && !info.IsDir() && !goes(g, dir) {
				g.conflict(name, t, "in the main tree "+dir+" is a file")
				return nil, false
			}
		}
		return nil, true
	case err != nil:
		g.skip(name, "it can't be read in the main tree: %v", err)
		return nil, false
	case info.IsDir() && vacated(g, name):
		return nil, true
	case info.IsDir():
		g.conflict(name, t, "in the main tree it is a directory")
		return nil, false
	}
	data, err := g.main.ReadFile(name)
	if err != nil {
		g.skip(name, "it can't be read in the main tree: %v", err)
		return nil, false
	}
	return nonNil(data), true
}

func (g *merging) change(c workspace.Change) {
	g.out.Changes, g.out.Merged = append(g.out.Changes, c), append(g.out.Merged, c.Path)
}

func (g *merging) create(name string, t triple, mode filemode.FileMode) {
	switch {
	case t.ours == nil:
		c := workspace.Change{Path: name, After: t.theirs}
		if mode == filemode.Executable {
			c.Mode = 0o755
		}
		g.change(c)
	case !bytes.Equal(t.ours, t.theirs):
		g.conflict(name, t, "both trees have a new file of that name")
	default:
		if perm := g.newMode(name, fs.FileMode(mode&0o777)); perm != 0 {
			g.change(workspace.Change{Path: name, Before: t.ours, After: t.ours, Mode: perm})
		}
	}
}

func (g *merging) remove(name string, t triple) {
	switch {
	case t.moved != "":
		g.conflict(name, t, "it was deleted in the shadow, and renamed to "+t.moved+" in the main tree")
	case t.ours == nil:
	case bytes.Equal(t.ours, t.base):
		g.change(workspace.Change{Path: name, Before: t.ours})
	default:
		g.conflict(name, t, "it was deleted in the shadow and changed in the main tree")
	}
}

func (g *merging) modify(name string, t triple, mode fs.FileMode) {
	if t.ours == nil {
		g.conflict(name, t, "it was changed in the shadow and deleted in the main tree")
		return
	}
	merged, reason := t.merge()
	if reason != "" {
		g.conflict(name, t, reason)
		return
	}
	if mode = g.newMode(name, mode); mode != 0 || !bytes.Equal(merged, t.ours) {
		g.change(workspace.Change{Path: name, Before: t.ours, After: merged, Mode: mode})
	}
}

// respell renames a file to another spelling of its name.
func (g *merging) respell(name, given string, t triple, mode fs.FileMode) {
	to, ok := workspace.Respelled(g.main, name, given)
	if !ok || t.ours == nil { // a directory is spelled otherwise, or it is done
		g.modify(name, t, mode)
		return
	}
	merged, reason := t.merge()
	if reason != "" {
		g.conflict(name, t, reason)
		return
	}
	g.change(workspace.Change{Path: to, From: name, Before: t.ours, After: merged, Mode: g.newMode(name, mode)})
}

func (g *merging) rename(from, name string, t triple, mode fs.FileMode) {
	to, ok := g.ours(name, t)
	switch {
	case !ok:
	case t.moved == name:
		g.modify(name, t, mode)
	case t.moved != "" && to == nil:
		g.conflict(name, t, "it was renamed from "+from+" in the shadow, and to "+t.moved+" in the main tree")
	case t.moved != "":
		t.ours = to
		g.modify(name, t, mode)
	case t.ours == nil && to == nil:
		g.conflict(name, t, "it was renamed from "+from+" in the shadow and deleted in the main tree")
	case t.ours == nil: // renamed in the main tree too, or merged before
		t.ours = to
		g.modify(name, t, mode)
	case to != nil:
		t.ours = to
		g.conflict(name, t, "it was renamed from "+from+" in the shadow, and the main tree has another file of that name")
	default:
		merged, reason := t.merge()
		if reason != "" {
			g.conflict(name, t, reason)
			return
		}
		g.change(workspace.Change{Path: name, From: from, Before: t.ours, After: merged, Mode: g.newMode(from, mode)})
	}
}

// merge merges the three states of a file that has all of them. reason says
// why that is not possible.
func (t triple) merge() (merged []byte, reason string) {
	switch {
	case bytes.Equal(t.ours, t.base), bytes.Equal(t.ours, t.theirs):
		return t.theirs, ""
	case bytes.Equal(t.base, t.theirs):
		return t.ours, ""
	}
	texts := []string{string(t.base), string(t.ours), string(t.theirs)}
	if slices.ContainsFunc(texts, diff.Binary) {
		return nil, "both trees changed it, and it is binary"
	}
	text, ok := diff.Merge(texts[0], texts[1], texts[2])
	if !ok {
		return nil, "both trees changed the same lines"
	}
	return nonNil([]byte(text)), ""
}
