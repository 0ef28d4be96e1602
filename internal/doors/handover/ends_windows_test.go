package handover

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/localsock"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wine"
)

// firstOfWine connects to a pipe where Wine would have the first client speak with
// nobody: the instance that only holds the name.
func firstOfWine(ctx context.Context, pipe string) {
	if wine.Running() {
		_, _ = localsock.Dial(ctx, pipe)
	}
}

func readied() { firstOfWine(context.Background(), os.Getenv(pipeVariable)) }

// ends are the two ends of a connection.
func ends(t *testing.T) (a, b net.Conn) {
	t.Helper()
	pipe := localsock.Path(rand.Text(), "test")
	l, err := localsock.Listen(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	came := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		came <- c
	}()
	firstOfWine(t.Context(), pipe)
	if b, err = localsock.Dial(t.Context(), pipe); err != nil {
		t.Fatal(err)
	}
	a = <-came
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// TestWithoutStreams: words alone are no editor.
func TestWithoutStreams(t *testing.T) {
	a, b := ends(t)
	go func() { _, _ = a.Write(make([]byte, 4*8)) }()
	if _, err := Take(b); err == nil || !strings.Contains(err.Error(), "stream 0") {
		t.Errorf("taken over: %v", err)
	}
}
