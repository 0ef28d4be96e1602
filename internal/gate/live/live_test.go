package live

import (
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// TestStricter: of two modes the second is taken where it is no looser in anything, a mode of
// the settings like a built-in one.
func TestStricter(t *testing.T) {
	s, _ := opened(t, `{"customModes": [{"name": "loose", "base": "autonomous"}, {"name": "waits", "base": "cautious", "destination": "review"}]}`, `{}`)
	for _, c := range []struct{ have, want, got string }{
		{"autonomous", "review", "review"},
		{"review", "autonomous", "review"},
		{"loose", "review", "review"},
		{"review", "loose", "review"},
		{"autonomous", "waits", "waits"},
		{"waits", "autonomous", "waits"},
		{"manual", "review", "manual"}, // it asks about reads
		{"review", "manual", "review"}, // it keeps edits from the disk
		{"cautious", "nobody's", "cautious"},
	} {
		if got := s.Stricter(c.have, c.want); got != c.got {
			t.Errorf("of %s and %s: %s, want %s", c.have, c.want, got, c.got)
		}
	}
}

// TestAllowedByName: a glob in sensitive.allow that is the name of a file means that file, too.
func TestAllowedByName(t *testing.T) {
	s, _ := opened(t, `{}`, `{}`)
	put(t, filepath.Dir(config.UserFile()), "settings.json", `{"sensitive.allow": ["app/[slug]/.env", "*.pem"]}`)
	s.Reload()
	for name, want := range map[string]bool{"app/[slug]/.env": true, "a.pem": true, "app/[id]/.env": false, ".env": false} {
		if got := s.Dispatch().SensitiveOK(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
