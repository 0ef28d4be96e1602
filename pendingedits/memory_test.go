package pendingedits_test

import (
	"context"
	"io/fs"
	"sync"
	"testing/fstest"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// memory is a base in memory, as open buffers are.
type memory struct {
	workspace.Files // nothing else is asked of it

	mu    sync.Mutex
	files fstest.MapFS
	clock int64
}

// Base implements workspace.Files.
func (m *memory) Base() (*workspace.Disk, []string) { return nil, nil }

// Node implements what workspace.NodeOf asks for: there are no links.
func (m *memory) Node(name string) (workspace.Node, error) {
	_, err := m.ReadFile(name)
	return workspace.Node{Exists: err == nil}, nil
}

func newMemory() *memory { return &memory{files: fstest.MapFS{}} }

func (m *memory) set(name, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(name, bytesOf(text))
}

func (m *memory) put(name string, data []byte) {
	m.clock++
	if data == nil {
		delete(m.files, name)
		return
	}
	m.files[name] = &fstest.MapFile{Data: data, ModTime: time.Unix(m.clock, 0)}
}

func (m *memory) ReadFile(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.files.ReadFile(name)
}

func (m *memory) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.files.Stat(name)
}

func (m *memory) Folding(string) workspace.Folding { return workspace.Folding{} }

func (m *memory) RealName(name string) (string, error) { return name, nil }

func (m *memory) Apply(ctx context.Context, changes ...workspace.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range changes {
		from := c.Path
		if c.From != "" {
			from = c.From
			if m.files[c.Path] != nil {
				return workspace.ErrConflict
			}
		}
		now := m.files[from]
		if (now == nil) != (c.Before == nil) || now != nil && string(now.Data) != string(c.Before) {
			return workspace.ErrConflict
		}
	}
	for _, c := range changes {
		if c.From != "" {
			m.put(c.From, nil)
		}
		m.put(c.Path, c.After)
	}
	return nil
}
