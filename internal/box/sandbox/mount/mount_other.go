//go:build !linux

package mount

import (
	"errors"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

var errNoOverlays = errors.New("there are no overlays on this system")

// Mounter has nothing to mount elsewhere.
type Mounter struct{ Self string }

// Close does nothing.
func (*Mounter) Close() {}

// Overlay has nothing to make here.
func (*Mounter) Overlay(spec.Overlay) (*Mount, error) {
	return nil, errNoOverlays
}

// Mount is never made here.
type Mount struct{}

// Path is nowhere, and its neighbours have nothing to do.
func (*Mount) Path() string { return "" }

// Refresh does nothing.
func (*Mount) Refresh() error { return nil }

// Copy has nothing to hand out.
func (*Mount) Copy() (*os.File, error) { return nil, errNoOverlays }

// Close does nothing.
func (*Mount) Close() {}
