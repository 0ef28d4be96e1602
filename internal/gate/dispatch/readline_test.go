package dispatch

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
)

// TestReadLine: a line is decided on as the shell reads it that runs it. A rule that
// would allow it in bash does not where it could not be read, in the mode that asks
// least.
func TestReadLine(t *testing.T) {
	for name, c := range map[string]struct {
		unread     string
		rule, want policy.Outcome
	}{
		"bash":              {"", policy.Allow, policy.Allow},
		"could not be read": {"there is no parser", policy.Allow, policy.Ask},
		"nor allowed":       {"there is no parser", policy.Deny, policy.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "autonomous")
			r.settings.Commands = shell.MakeRules([]shell.Rule{{Prefix: []string{"npm", "test"}, Decision: c.rule}})
			r.o.Confined = confinement{unread: c.unread}
			e, err := r.Explain(t.Context(), Request{Name: "shell", Arguments: []byte(`{"command":"npm test"}`)})
			if err != nil || e.Decision != c.want {
				t.Errorf("%+v, %v, want %s", e, err, c.want)
			}
		})
	}
}
