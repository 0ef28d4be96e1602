package live

import (
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// AddHost adds a host to those that commands reach unasked, in the user's file, and reads all
// again.
func (s *Settings) AddHost(h hosts.Host) error {
	if err := config.PutUserHost(h); err != nil {
		return err
	}
	s.Reload()
	return nil
}

// AddRule adds a command rule to the user's file, and reads all again.
func (s *Settings) AddRule(r config.CommandRule) error {
	if err := config.PutUserRule(r); err != nil {
		return err
	}
	s.Reload()
	return nil
}
