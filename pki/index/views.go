package index

import (
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// viewCache keeps what was made of texts that lie over the disk: unsaved
// buffers, pending edits.
type viewCache struct {
	mu   sync.Mutex
	made map[string]made
	turn int // of questions
}

// replace puts what a parser says about a text in the place of what its lines
// say.
func (c *viewCache) replace(name string, hash uint64, seg *segment.Segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.made[name]; ok && m.hash == hash {
		m.seg = seg
		c.made[name] = m
	}
}

type made struct {
	hash uint64
	seg  *segment.Segment
	used int
}

// keep is for how many questions a text is kept that none of them saw.
const keep = 50

// over returns a segment for every name that view shows otherwise than the
// disk, nil for one that it hides.
func (c *viewCache) over(x *Index, view workspace.Files) map[string]*segment.Segment {
	names := workspace.Overlaid(view)
	if len(names) == 0 {
		return nil
	}
	out := make(map[string]*segment.Segment, len(names))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made = map[string]made{}
	}
	c.turn++
	for _, name := range names {
		data, err := view.ReadFile(name)
		if err != nil || x.leftOut(name) {
			out[name] = nil
			continue
		}
		hash := segment.Hash(data)
		x.mu.Lock()
		at, known := x.byPath[name]
		same := known && at.record().Hash == hash
		x.mu.Unlock()
		if same {
			continue
		}
		// Two sessions may see two texts under one name: then the later one's
		// is made again.
		m := c.made[name]
		if m.seg == nil || m.hash != hash {
			m = made{hash: hash, seg: x.build(name, data, int64(len(data)))}
		}
		m.used = c.turn
		c.made[name], out[name] = m, m.seg
	}
	for name, m := range c.made {
		if m.used < c.turn-keep {
			delete(c.made, name)
		}
	}
	return out
}
