package live

import "github.com/sidecar-ls/sidecar-ls/internal/config"

// AddRule adds a command rule to the user's file, and reads all again.
func (s *Settings) AddRule(r config.CommandRule) error {
	if err := config.PutUserRule(r); err != nil {
		return err
	}
	s.Reload()
	return nil
}
