package source

import (
	"fmt"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// UserMemory keeps what is known of a workspace's servers in a file of the
// user's, which no project can bring along.
type UserMemory struct {
	file, root string
	mu         sync.Mutex
}

// NewUserMemory returns that of the workspace in root.
func NewUserMemory(root string) *UserMemory {
	return &UserMemory{file: config.Beside("mcp-trust.json"), root: root}
}

// trustFile is the file: by workspace and by server.
type trustFile map[string]map[string]Known

func (m *UserMemory) read() (trustFile, error) {
	all := trustFile{}
	if err := config.ReadBeside(m.file, &all); err != nil {
		return nil, fmt.Errorf("%s can't be read, so no MCP server is trusted; remove it: %w", m.file, err)
	}
	return all, nil
}

// Load implements Memory.
func (m *UserMemory) Load(server string) (Known, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	return all[m.root][server], err
}

// Save implements Memory.
func (m *UserMemory) Save(server string, k Known) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	if err != nil {
		return err
	}
	if all[m.root] == nil {
		all[m.root] = map[string]Known{}
	}
	all[m.root][server] = k
	return config.WriteBeside(m.file, all)
}
