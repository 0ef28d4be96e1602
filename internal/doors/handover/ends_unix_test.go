//go:build unix

package handover

import (
	"net"
	"strings"
	"testing"
)

func readied() {}

// ends are the two ends of a connection.
func ends(t *testing.T) (a, b net.Conn) {
	t.Helper()
	a, f, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = connection(f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// TestWithoutStreams: words alone are no editor.
func TestWithoutStreams(t *testing.T) {
	a, b := ends(t)
	go func() { _, _ = a.Write(make([]byte, 8)) }()
	if _, err := Take(b); err == nil || !strings.Contains(err.Error(), "0 streams") {
		t.Errorf("taken over: %v", err)
	}
}
