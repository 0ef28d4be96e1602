package localsock

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wine"
)

func TestSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "ls-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ownfile.Remove(dir) })
	path := Path(dir, "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if wine.Running() {
		// It lets a first client connect to the instance of the pipe that only holds the
		// name, and a second one have the name as well.
		c, err := Dial(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	} else if second, err := Listen(path); err == nil {
		second.Close()
		t.Error("there are two of one name")
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	for range 3 {
		c, err := Dial(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Repeat("said and heard\n", 20_000) // more than there is room for
		go func() {
			_, _ = io.WriteString(c, said)
			_ = c.(interface{ CloseWrite() error }).CloseWrite()
		}()
		if heard, err := io.ReadAll(c); err != nil || string(heard) != said {
			t.Errorf("%d bytes of %d, %v", len(heard), len(said), err)
		}
		c.Close()
	}
	for _, other := range []string{Path(dir, "t"), Path(dir+"x", "s")} {
		if c, err := Dial(t.Context(), other); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, %v", other, c, err)
		}
	}
	l.Close()
	if c, err := Dial(t.Context(), path); err == nil {
		c.Close()
		t.Error("it is closed, and somebody answers")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(cancelled, path); err == nil {
		t.Error("cancelled, and connected")
	}
}
