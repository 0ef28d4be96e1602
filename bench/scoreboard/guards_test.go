package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuardsAreThere: what the scoreboard switches off stands in the code. A guard
// that was moved would else be found missing only by running it.
func TestGuardsAreThere(t *testing.T) {
	for _, g := range guardList {
		text, err := os.ReadFile(filepath.Join("../..", g.file))
		if err != nil {
			t.Errorf("%q: %v; name the file that it moved to", g.on, err)
			continue
		}
		if !strings.Contains(string(text), g.on) {
			t.Errorf("%s has no %q", g.file, g.on)
		}
	}
}
