package world

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// queue stands for what lies over the disk: pending edits and unsaved text. nil
// is a file that is gone.
type queue struct {
	mu    sync.Mutex
	texts map[string][]byte
}

func (q *queue) Lookup(name string) (data []byte, deleted, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	data, ok = q.texts[name]
	return data, ok && data == nil, ok
}

func (q *queue) Names() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Sorted(maps.Keys(q.texts))
}

// set is an edit; the text that the disk has is none.
func (q *queue) set(disk *workspace.Disk, name string, text []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, err := disk.ReadFile(name)
	if (err != nil) == (text == nil) && bytes.Equal(now, text) {
		delete(q.texts, name)
	} else {
		q.texts[name] = text
	}
}

// kinds are changes in short.
func kinds(changes []workspace.Change) string {
	var list []string
	for _, c := range changes {
		s := c.Kind() + " " + c.Path
		switch {
		case c.From != "":
			s = c.Kind() + " " + c.From + " " + c.Path
		case c.AfterLink:
			s += " link"
		case c.Mode == 0o755:
			s += " x"
		}
		list = append(list, s)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// settled says that what becomes of a harvest is decided.
func settled(h Collected, err error) (Collected, error) {
	if h.Settled != nil {
		h.Settled()
	}
	return h, err
}
