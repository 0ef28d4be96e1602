//go:build !linux

package world

import (
	"errors"
	"io/fs"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Elsewhere there are no overlays, and none of their marks.

var errNoOverlay = errors.New("overlays take Linux")

func (m *Manager) try() error { return errNoOverlay }

func newOverlay(*world) layer { return nil } // nothing that is not Usable is made

// Share says why there is nothing to share.
func (*Manager) Share(root, lower, on string) (layer spec.Layer, upper string, err error) {
	return layer, "", errNoOverlay
}

// Own are layers of one session, of which there are none.
type Own struct{}

// Own says why there is none, as its neighbours do.
func (*Manager) Own(string) (*Own, error) { return nil, errNoOverlay }

// Plain makes none.
func (*Own) Plain() (string, error) { return "", errNoOverlay }

// Add adds none.
func (*Own) Add(root, lower, on string) (layer spec.Layer, upper string, err error) {
	return layer, "", errNoOverlay
}

// Close has nothing to give up.
func (*Own) Close() error { return nil }

func isWhiteout(fs.FileInfo) bool { return false }

func strip(*osfile.Dir) {}

func isOpaque(*osfile.Dir) bool { return false }

func opaque(string) bool { return false }

func hideIn(*osfile.Dir, string) error { return errNoOverlay }

func showThrough(string, []string) error { return errNoOverlay }
