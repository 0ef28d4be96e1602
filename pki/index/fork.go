package index

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Fork makes an index of other files that are mostly the same under the same
// names, such as those of a linked working tree. It shares the memory of what
// is the same, looks for itself at what changes, parses what answers name and
// nothing more, and is stored nowhere. changes is as in Options; where it is nil, the tree is
// looked at before each answer.
func (x *Index) Fork(files workspace.Files, changes func(context.Context) (names, dirs []string, lost bool, err error)) *Index {
	o := x.o
	o.Files, o.Changes, o.Store, o.Bounds.Share, o.Report.Changed, o.Meaning, o.History = files, changes, nil, nil, nil, nil, nil
	y := New(o)
	y.eager = true
	y.ranker, y.meaning = x.ranker, x.meaning
	y.directory.Store(x.directory.Load())
	y.past.known.Store(x.past.known.Load())
	x.mu.Lock()
	defer x.mu.Unlock()
	own := map[*part]*part{}
	for _, p := range x.parts {
		own[p] = &part{seg: p.seg, dead: p.dead, gone: p.gone, shared: true}
		y.parts = append(y.parts, own[p])
	}
	for name, at := range x.byPath {
		y.enter(name, entry{part: own[at.part], file: at.file}) // its text decides, not its time
		y.count(at.record(), 1)
	}
	return y
}
