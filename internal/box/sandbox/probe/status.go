package probe

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// Status is what trying out told of this machine.
type Status struct {
	Level spec.Level

	// Why says what is missing for the levels above Level; "" at Full.
	Why string

	// Broken is set when a level could be set up and then did not hold what it
	// must hold, or kept ordinary programs from working. Nothing runs then,
	// unless the user turns the sandbox off.
	Broken string
}

// Join makes one text of the reasons that are there.
func Join(reasons ...string) string {
	var said []string
	for _, r := range reasons {
		if r != "" {
			said = append(said, r)
		}
	}
	return strings.Join(said, "; ")
}

// Trial is one attempt to escape, and its control.
type Trial struct {
	Name    string `json:"name"`
	Must    bool   `json:"must"`    // the level is meant to hold it
	Held    bool   `json:"held"`    // it failed in the sandbox
	Control bool   `json:"control"` // it worked outside of it; else its failure shows nothing on this machine
	Error   string `json:"error"`   // what it met in the sandbox
}
