package plugin

import (
	"fmt"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// Memory keeps what the user said of plugins, by their paths.
type Memory interface {
	Load() (map[string]Said, error)
	Save(map[string]Said) error
}

// Said is what the user said of a plugin.
type Said struct {
	Trusted  string            `json:"trusted,omitempty"` // the hash of what was trusted
	Files    map[string]string `json:"files,omitempty"`   // of that
	Mine     bool              `json:"mine,omitempty"`
	Off      bool              `json:"off,omitempty"`
	Override []string          `json:"override,omitempty"` // built-in tools that it may stand in for
}

// UserMemory is a file of the user's, which no project can bring along.
type UserMemory struct{ mu sync.Mutex }

func (m *UserMemory) file() string { return config.Beside("plugins.json") }

// Load implements Memory.
func (m *UserMemory) Load() (map[string]Said, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]Said{}
	if err := config.ReadBeside(m.file(), &all); err != nil {
		return nil, fmt.Errorf("%s can't be read, so no plugin is trusted; mend or remove it: %w", m.file(), err)
	}
	return all, nil
}

// Save implements Memory.
func (m *UserMemory) Save(all map[string]Said) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return config.WriteBeside(m.file(), all)
}
