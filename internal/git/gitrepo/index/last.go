package index

import "sync"

// Last is an index file as it was read last. It is safe for concurrent
// use.
type Last struct {
	path string

	mu sync.Mutex
	x  *Raw
}

// NewLast reads the index file path when it is asked for.
func NewLast(path string) *Last { return &Last{path: path} }

// Read returns the index, unless it is still the one that was read last.
func (l *Last) Read() (*Raw, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.x != nil && l.Fresh(l.x) {
		return l.x, nil
	}
	x, err := readRaw(l.path)
	if err == nil {
		l.x = x
	}
	return x, err
}

// Fresh reports whether the index file is still the one that was read.
func (l *Last) Fresh(x *Raw) bool { return x.stat.Fresh(l.path) }
