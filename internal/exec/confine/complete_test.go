package confine

import (
	"errors"
	"testing"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// TestFullSandbox: no level but the full one lets commands run unasked.
func TestFullSandbox(t *testing.T) {
	for _, level := range []box.Level{box.None, box.Landlock, box.Bubblewrap, box.Full} {
		if c := fullSandbox(level, nil); c.Holds != (level == box.Full) {
			t.Errorf("%s: %+v", level, c)
		}
	}
	if c := fullSandbox(box.Full, errors.New("it fails")); c.Holds {
		t.Errorf("one that fails: %+v", c)
	}
}
