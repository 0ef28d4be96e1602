//go:build !linux

package world

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
)

// Nothing on these systems puts a copy in the place of the workspace: a command
// would go past it wherever it names a file by its path.
var errUnsupported = errors.New("worlds take Linux")

// Manager has no worlds here.
type Manager struct{}

// Run is never made here.
type Run struct{}

// New returns a Manager that has no worlds.
func New(Options) *Manager { return &Manager{} }

// Usable says why there are none.
func (*Manager) Usable(Kind) error { return errUnsupported }

// Fits says why there are none.
func (*Manager) Fits(string) error { return errUnsupported }

// Begin says why there is none.
func (*Manager) Begin(Request) (*Run, error) { return nil, errUnsupported }

// Share says why there is nothing to share.
func (*Manager) Share(root, lower, on string) (layer sandbox.Layer, upper string, err error) {
	return layer, "", errUnsupported
}

// CloseSession has nothing to close, as have its neighbours nothing to do.
func (*Manager) CloseSession(string) {}

// Saved has nobody to tell.
func (*Manager) Saved(string) {}

// Forget has nothing to forget.
func (*Manager) Forget() {}

// Again has nothing to do.
func (*Manager) Again() {}

// Close closes nothing.
func (*Manager) Close() {}

// IsDir knows no directories.
func (*Manager) IsDir(session, root, name string) bool { return false }

// Merged is nothing.
func (*Run) Merged([]string) *sandbox.Merged { return nil }

// Kind is none.
func (*Run) Kind() Kind { return "" }

// Lent is nothing.
func (*Run) Lent() []string { return nil }

// Written is nowhere.
func (*Run) Written() (dir, without string) { return "", "" }

// Again has nobody to show it.
func (*Run) Again() error { return nil }

// Harvest brings nothing.
func (*Run) Harvest() (Harvest, error) { return Harvest{}, nil }

// End ends nothing.
func (*Run) End(bool) (Harvest, error) { return Harvest{}, nil }

// InUse is false.
func InUse() bool { return false }

// Sweep has nothing to remove.
func Sweep(string) error { return nil }
