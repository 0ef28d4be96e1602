package source

import (
	"fmt"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// UserMemory keeps what is known of servers in a file of the user's, which no
// project can bring along.
type UserMemory struct {
	file string
	mu   sync.Mutex
}

// NewUserMemory returns that of the user.
func NewUserMemory() *UserMemory { return &UserMemory{file: config.Beside("mcp-trust.json")} }

// trustFile is the file: by workspace folder and by server.
type trustFile map[string]map[string]Known

func (m *UserMemory) read() (trustFile, error) {
	all := trustFile{}
	if err := config.ReadBeside(m.file, &all); err != nil {
		return nil, fmt.Errorf("%s can't be read, so no MCP server is trusted; remove it: %w", m.file, err)
	}
	return all, nil
}

// Load implements Memory.
func (m *UserMemory) Load(root, server string) (Known, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	return all[root][server], err
}

// Save implements Memory.
func (m *UserMemory) Save(root, server string, k Known) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	if err != nil {
		return err
	}
	if all[root] == nil {
		all[root] = map[string]Known{}
	}
	all[root][server] = k
	return config.WriteBeside(m.file, all)
}
