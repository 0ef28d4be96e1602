package pendingedits

import (
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// stage gathers what files shall look like in the queue's view, and turns it
// into entries: whatever was done to a file, its entry is what is between the
// base and that. The queue is locked for as long as a stage lives.
type stage struct {
	s     *queue
	by    Proposer
	want  map[string][]byte // nil: no file
	from  map[string]string // where a renamed file is in the base; "" cuts the tie
	mode  map[string]fs.FileMode
	base  map[string][]byte // what was read of the base, once
	links []*entry          // proposals of links

	unlinked []string // names of which no proposal of a link is left
	created  []string // names for which there must be room, once all is staged

	baseMode map[string]fs.FileMode  // where the base's is about to be another
	user     bool                    // the user makes it: what is in conflict is not kept
	taken    *hunk.Placed            // what is in conflict is kept without what the user takes; see TakeProposed
	outdated map[string][]byte       // what the maker of a change saw, where that is not the base
	again    map[string][]hunk.Owned // whose it is that comes back, in the base's text
	came     map[string][]string     // whose it is that came with a file from another name
	tied     []string                // names of which one may be another's spelling
}

func (s *queue) stage(by Proposer) *stage {
	return &stage{
		s: s, by: by,
		want: map[string][]byte{}, from: map[string]string{}, mode: map[string]fs.FileMode{},
		base: map[string][]byte{}, baseMode: map[string]fs.FileMode{}, came: map[string][]string{},
		outdated: map[string][]byte{},
	}
}

// current is the text of a file in the queue's view.
func (g *stage) current(name string) ([]byte, error) {
	if data, ok := g.want[name]; ok {
		return data, nil
	}
	for _, e := range []*entry{g.s.entries[name], g.s.from[name]} {
		if e == nil {
			continue
		}
		if e, r := g.s.look(e, true); e != nil && r.live.trouble == nil {
			g.base[e.source()] = r.live.data
		}
	}
	if data, gone, ok := g.s.lookup(name); ok {
		if gone {
			return nil, nil
		}
		return data, nil
	}
	return g.read(name)
}

// read returns a file of the base as it was when it was first asked for.
func (g *stage) read(name string) ([]byte, error) {
	if data, ok := g.base[name]; ok {
		return data, nil
	}
	data, err := readFile(g.s.base, name, g.spoken)
	if err == nil {
		g.base[name] = data
	}
	return data, err
}

// spoken reports whether a file goes by that name, too: where its spelling is changed,
// the base has it under one of its names alone.
func (g *stage) spoken(name string) bool {
	if _, ok := g.want[name]; ok || g.s.moves(name) || slices.Contains(g.tied, name) {
		return true
	}
	for _, from := range g.from {
		if from == name {
			return true
		}
	}
	return false
}

// origin is the name in the base of a file that is renamed, else "".
func (g *stage) origin(name string) string {
	if from, ok := g.from[name]; ok {
		return from
	}
	if e := g.s.entries[name]; e != nil {
		return e.from
	}
	return ""
}

// change makes one change on top of what is staged.
func (g *stage) change(c workspace.Change) error {
	source := c.Path
	if c.From != "" {
		source = c.From
	}
	for _, name := range []string{c.Path, source} {
		if !fs.ValidPath(name) || name == "." {
			return refuse(name, fs.ErrInvalid)
		}
	}
	if c.Link() {
		return g.link(c)
	}
	if e := g.s.entries[c.Path]; e != nil && e.isLink() {
		if c.From == "" && !e.afterLink && hunk.Same(e.after, c.Before) && !c.Outdated { // a file in place of the link
			return g.link(workspace.Change{Path: c.Path, Before: e.base, BeforeLink: e.baseLink, After: c.After, Mode: c.Mode})
		}
		return refuse(c.Path, fmt.Errorf("%w: that it is a link, or is one no more, waits for the user", workspace.ErrConflict))
	}
	now, err := g.current(source)
	if err != nil {
		return err
	}
	switch {
	case c.Outdated:
		return g.late(c)
	case !hunk.Same(now, c.Before):
		return refuse(source, workspace.ErrConflict)
	}
	if c.From != "" && c.From != c.Path {
		if now == nil || c.After == nil {
			return refuse(c.From, fs.ErrInvalid)
		}
		g.tied = append(g.tied, c.From)
		if there, err := g.current(c.Path); err != nil {
			return err
		} else if there != nil {
			return refuse(c.Path, workspace.ErrConflict)
		}
		origin := g.origin(c.From)
		if origin == "" {
			origin = c.From
		}
		g.from[c.Path] = origin
		if e := g.s.entries[c.From]; e != nil && g.mode[c.From] == 0 {
			g.mode[c.From] = e.mode
		}
		g.mode[c.Path] = g.mode[c.From]
		g.came[c.Path] = hunk.Union(g.came[c.From], g.s.entries[c.From].owners())
		g.want[c.From], g.from[c.From] = nil, ""
	}
	if c.After != nil && (c.Before == nil || c.From != "") {
		g.created = append(g.created, c.Path)
	}
	if c.After == nil {
		g.from[c.Path] = ""
	}
	g.want[c.Path] = c.After
	if c.Mode != 0 {
		g.mode[c.Path] = c.Mode
	}
	return nil
}

// late makes a change of a text that is another by now. What waits for a file is
// between one base and what is wanted, so nothing else may.
func (g *stage) late(c workspace.Change) error {
	_, staged := g.want[c.Path]
	if c.From != "" || staged || g.s.entries[c.Path] != nil || g.s.from[c.Path] != nil {
		return refuse(c.Path, workspace.ErrConflict)
	}
	g.want[c.Path], g.outdated[c.Path] = c.After, c.Before
	if c.Mode != 0 {
		g.mode[c.Path] = c.Mode
	}
	return nil
}

// roomFor reports what stands in the way of a new file: a file as one of its
// directories, or a directory with its name.
func (g *stage) roomFor(name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := fs.Stat(g.s.base, dir)
		there := err == nil && !info.IsDir() && g.stays(dir)
		if data, ok := g.want[dir]; ok {
			there = data != nil
		} else if _, gone, ok := g.s.lookup(dir); ok {
			there = !gone
		}
		if there {
			return refuse(dir, fmt.Errorf("it is a file, not a directory: %w", fs.ErrExist))
		}
	}
	taken := refuse(name, fmt.Errorf("it is a directory: %w", fs.ErrExist))
	for _, names := range []iter.Seq[string]{maps.Keys(g.s.entries), maps.Keys(g.want)} {
		for other := range names {
			if strings.HasPrefix(other, name+"/") && g.stays(other) {
				return taken
			}
		}
	}
	info, err := fs.Stat(g.s.base, name)
	if err != nil || !info.IsDir() {
		return nil
	}
	return fs.WalkDir(g.s.base, name, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return refuse(name, err)
		case !d.IsDir() && g.stays(file):
			return taken
		}
		return nil
	})
}

// stays reports whether a name is there when all that is staged or pending is accepted.
func (g *stage) stays(name string) bool {
	if data, ok := g.want[name]; ok {
		return data != nil
	}
	if slices.ContainsFunc(g.links, func(e *entry) bool { return e.name == name && e.after == nil }) {
		return false
	}
	if e := g.s.entries[name]; e != nil && e.whole {
		return e.after != nil
	}
	_, gone, ok := g.s.lookup(name)
	return !ok || !gone
}

func refuse(name string, err error) error {
	return &fs.PathError{Op: "change", Path: name, Err: err}
}

// record turns what is staged into the entries that say it.
func (g *stage) record() (record, error) {
	for _, name := range g.created {
		if data, ok := g.want[name]; ok && data == nil {
			continue
		}
		if err := g.roomFor(name); err != nil {
			return record{}, err
		}
	}
	// An entry for two names is looked at from both.
	for _, name := range slices.Collect(maps.Keys(g.want)) {
		for _, other := range g.s.tied(name, g.origin(name)) {
			if _, ok := g.want[other]; ok {
				continue
			}
			data, err := g.current(other)
			if err != nil {
				return record{}, err
			}
			g.want[other] = data
		}
	}
	r := record{puts: g.links, drops: g.unlinked}
	moved := map[string]bool{} // by old name
	for _, name := range slices.Sorted(maps.Keys(g.want)) {
		if g.renames(name) {
			moved[g.origin(name)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.want)) {
		var e *entry
		var err error
		switch {
		case moved[name]: // its new name's entry says so
		case g.renames(name):
			e, err = g.whole(name, g.origin(name))
		default:
			e, err = g.entry(name)
		}
		if err != nil {
			return record{}, err
		}
		if e != nil {
			r.puts = append(r.puts, e)
		} else if g.s.entries[name] != nil {
			r.drops = append(r.drops, name)
		}
	}
	return r, nil
}

// renames reports whether name is best said to be another file's new name: the
// base has that file and not this one, the view this one and not that.
func (g *stage) renames(name string) bool {
	from := g.origin(name)
	if from == "" || from == name || g.want[name] == nil {
		return false
	}
	if data, ok := g.want[from]; !ok || data != nil {
		return false
	}
	there, err := g.read(name)
	old, oldErr := g.read(from)
	return err == nil && there == nil && oldErr == nil && old != nil
}

// entry makes what is between the base and what is wanted; nil is nothing.
func (g *stage) entry(name string) (*entry, error) {
	live, err := g.read(name)
	if err != nil {
		return nil, err
	}
	if _, ok := g.outdated[name]; ok {
		return g.against(name), nil
	}
	want := g.want[name]
	mode := g.proposedMode(name, live, want)
	if !hunk.IsText(live) || !hunk.IsText(want) {
		switch {
		case !hunk.Same(live, want):
			return g.whole(name, "")
		case mode == 0:
			return nil, nil
		}
		e := g.made(name)
		e.base, e.mode = live, mode
		e.modeID, e.modeBy = g.modeID(name, mode)
		return e.signed(), nil
	}
	var old hunk.Placed
	if was, r := g.s.entries[name], g.s.resolved[name]; was != nil && !was.whole && r != nil {
		old = r.placed
		if g.taken != nil {
			old = *g.taken
		}
	}
	e := g.made(name)
	taken := map[string]bool{}
	newID := func(h hunk.Hunk) string { return g.s.idFor(&entry{name: name, hunks: []hunk.Hunk{h}}, 0, taken) }
	e.base, e.hunks = hunk.Rework(old, live, want, newID, g.credit(name))
	if mode != 0 {
		e.mode = mode
		e.modeID, e.modeBy = g.modeID(name, mode)
	}
	if len(e.parts()) == 0 {
		return nil, nil
	}
	return e.signed(), nil
}

// against makes the entry of a change of a text that is another by now: how the
// two go together is found out as for any entry of which the user changes the text.
func (g *stage) against(name string) *entry {
	e := g.made(name)
	e.base, e.mode = g.outdated[name], 0
	want, taken := g.want[name], map[string]bool{}
	if e.base == nil {
		e.mode = g.mode[name]
	}
	if e.base != nil && want != nil && hunk.IsText(e.base) && hunk.IsText(want) {
		e.hunks = hunk.Between(e.base, want)
	} else {
		e.whole, e.after, e.hunks = true, want, []hunk.Hunk{{}}
	}
	for i := range e.hunks {
		e.hunks[i].ID, e.hunks[i].By = g.s.idFor(e, i, taken), []string{g.by.Session}
	}
	return e.signed()
}

// whole makes an entry that is taken or left as one.
func (g *stage) whole(name, from string) (*entry, error) {
	e := g.made(name)
	e.whole, e.from, e.after, e.mode = true, from, g.want[name], g.mode[name]
	live, err := g.read(e.source())
	if err != nil {
		return nil, err
	}
	e.base = live
	whose := g.credit(name)
	one := hunk.Hunk{}
	var parts []hunk.Owned
	for _, old := range []*entry{g.s.entries[name], g.s.entries[from]} {
		parts = append(parts, hunk.Everywhere(old.owners()...)...)
	}
	if old := g.s.entries[name]; old != nil && old.whole {
		if old.from == from && hunk.Same(old.base, e.base) && hunk.Same(old.after, e.after) {
			one = hunk.Hunk{ID: old.hunks[0].ID, By: old.hunks[0].By}
		}
		if e.mode == 0 {
			e.mode = old.mode
		}
	}
	e.hunks = []hunk.Hunk{one}
	if one.ID == "" {
		e.hunks[0].ID = g.s.idFor(e, 0, map[string]bool{})
	}
	whose.Give(e.hunks, parts)
	return e.signed(), nil
}

// credit says whose the hunks are that are made of a file.
func (g *stage) credit(name string) hunk.Credit {
	parts := slices.Concat(g.again[name], hunk.Everywhere(g.came[name]...))
	if old := g.s.entries[name]; old != nil && old.whole {
		parts = append(parts, hunk.Everywhere(old.owners()...)...)
	}
	return hunk.Credit{By: []string{g.by.Session}, User: g.user || g.again != nil, Again: parts}
}

func (g *stage) made(name string) *entry {
	batch := g.by.Batch
	for _, old := range []*entry{g.s.entries[name], g.s.from[name]} {
		batch = batch || old != nil && old.batch // a batch is left by a decision alone
	}
	return &entry{name: name, session: g.by.Session, tool: g.by.Tool, command: g.by.Command, batch: batch, updated: g.s.now().UTC()}
}
