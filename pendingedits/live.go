package pendingedits

import (
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// live is what an entry is compared with: the files that it is about, as they are.
type live struct {
	stamp   stamp
	data    []byte // of the entry's source; nil: no file
	link    bool   // data is the target of a link
	trouble error  // why data could not be read

	there        []byte // what a rename would replace
	thereTrouble error
}

// same reports whether an entry comes to the same in both.
func (l live) same(o live) bool {
	return l.trouble == nil && o.trouble == nil && hunk.Same(l.data, o.data) && l.link == o.link && l.stamp.mode == o.stamp.mode && l.stamp.occupied == o.stamp.occupied
}

// stamp tells cheaply that a file is another.
type stamp struct {
	exists   bool
	size     int64
	modified time.Time
	mode     fs.FileMode // permissions
	link     string      // where an entry of a link has one
	occupied bool        // a rename's new name is taken
}

func readStamp(base workspace.View, e *entry, spoken func(name string) bool) stamp {
	var st stamp
	if info, err := base.Stat(e.source()); err == nil {
		st = stamp{exists: true, size: info.Size(), modified: info.ModTime(), mode: info.Mode().Perm()}
	}
	if e.isLink() {
		n, err := workspace.NodeOf(base, e.name)
		st.link, st.exists = n.Link, err == nil && n.Exists
	}
	if e.from != "" {
		_, err := base.Stat(e.name)
		st.occupied = err == nil && !isElsewhere(base, e.name, spoken)
	}
	return st
}

// readLive reads what e is compared with, whose stamp was read before.
func readLive(base workspace.View, e *entry, st stamp, spoken func(name string) bool) live {
	l := live{stamp: st}
	if e.isLink() {
		var n node
		n, l.trouble = readNode(base, e.name)
		l.data, l.link = n.data, n.link
		return l
	}
	l.data, l.trouble = readFile(base, e.source(), spoken)
	if e.from != "" {
		l.there, l.thereTrouble = readFile(base, e.name, spoken)
	}
	return l
}

// readFile returns a file of the base, nil when there is none. What other names are
// spoken of counts; see isElsewhere.
func readFile(base workspace.View, name string, spoken func(name string) bool) ([]byte, error) {
	if isElsewhere(base, name, spoken) {
		return nil, nil
	}
	data, err := base.ReadFile(name)
	switch {
	case workspace.NoFile(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return file(data), nil
}

// file makes data the content of a file that is there.
func file(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// isElsewhere reports whether the base has the file of that name under another
// spelling, which is spoken of too; nil: none is. Under name there is nothing then,
// although it can be read by it.
func isElsewhere(base workspace.View, name string, spoken func(name string) bool) bool {
	if spoken == nil || base.Folding(path.Dir(name)).Exact() {
		return false
	}
	real, err := base.RealName(name)
	return err == nil && real != name && spoken(real)
}

// oneOf reports whether a name is one of those.
func oneOf(names ...string) func(name string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// node is what a name has in the base, no link followed.
type node struct {
	data []byte // text, or the target of a link; nil: nothing
	link bool
}

func (n node) is(data []byte, link bool) bool {
	return hunk.Same(n.data, data) && (n.data == nil || n.link == link)
}

func readNode(base workspace.View, name string) (node, error) {
	n, err := workspace.NodeOf(base, name)
	if err != nil || !n.Exists {
		return node{}, err
	}
	if n.Link != "" {
		return node{[]byte(n.Link), true}, nil
	}
	data, err := readFile(base, name, nil)
	return node{data: data}, err
}

// modeOf is the mode of a file of the base; 0 when it has none.
func modeOf(base workspace.View, name string) fs.FileMode {
	if info, err := base.Stat(name); err == nil {
		return info.Mode().Perm()
	}
	return 0
}

// isMade reports whether the base has what d makes of its file.
func isMade(base workspace.View, d decided) bool {
	if d.Link() {
		now, err := readNode(base, d.Path)
		return err == nil && now.is(d.After, d.AfterLink)
	}
	now, err := readFile(base, d.Path, oneOf(d.Path, d.From))
	if err != nil || !hunk.Same(now, d.After) {
		return false
	}
	if d.changesMode() && workspace.IsExec(modeOf(base, d.Path)) != workspace.IsExec(d.Mode) {
		return false
	}
	if d.From == "" {
		return true
	}
	old, err := readFile(base, d.From, oneOf(d.Path, d.From))
	return err == nil && old == nil
}
