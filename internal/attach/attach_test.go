package attach

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// workspace is a directory, and a place for its sockets.
func workspace(t *testing.T) (dir, run string) {
	t.Helper()
	if !supported {
		t.Skip("not on this system")
	}
	base, err := os.MkdirTemp("/tmp", "at-") // the path of a socket is short, whatever TMPDIR is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	t.Setenv("XDG_RUNTIME_DIR", base)
	return t.TempDir(), filepath.Join(base, "sidecar-ls")
}

// echo answers what it is sent.
func echo(c net.Conn) {
	_, _ = io.Copy(c, c)
	c.Close()
}

func listen(t *testing.T, dir string, o Options) *Host {
	t.Helper()
	if o.Attached == nil {
		o.Attached = echo
	}
	h, err := Listen(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func TestAttach(t *testing.T) {
	dir, run := workspace(t)
	if _, _, err := Dial(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Fatalf("before: %v", err)
	}
	h := listen(t, dir, Options{Kind: Editor, Version: "v"})
	for name, want := range map[string]os.FileMode{"": 0o700 | os.ModeDir, h.socket: 0o600 | os.ModeSocket, h.lock.Name(): 0o600} {
		info, err := os.Stat(filepath.Join(run, filepath.Base(name)))
		if name == "" {
			info, err = os.Stat(run)
		}
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, link} { // whatever the directory is called
		c, g, err := Dial(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if g.Kind != Editor || g.PID != os.Getpid() || g.Version != "v" {
			t.Errorf("greeting: %+v", g)
		}
		got := make([]byte, 3)
		if _, err := c.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "abc" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := Find(t.Context(), t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("another directory: %v", err)
	}
	if _, err := Listen(link, Options{Kind: Editor, Attached: echo}); !errors.Is(err, ErrTaken) {
		t.Errorf("a second host: %v", err)
	}
	h.Close()
	if left, err := os.ReadDir(run); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("after: %v", err)
	}
}

// TestOneHost: of many who begin at once, one is the host at any time.
func TestOneHost(t *testing.T) {
	dir, _ := workspace(t)
	var mu sync.Mutex
	hosts, most, turns := 0, 0, 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for done := false; !done; {
				h, err := Listen(dir, Options{Kind: Editor, Attached: echo})
				if errors.Is(err, ErrTaken) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				hosts, turns = hosts+1, turns+1
				most = max(most, hosts)
				mu.Unlock()
				mu.Lock()
				hosts--
				mu.Unlock()
				h.Close()
				done = true
			}
		})
	}
	all.Wait()
	if most != 1 || turns != 8 {
		t.Errorf("%d hosts at once, %d turns", most, turns)
	}
}

func TestLeave(t *testing.T) {
	dir, _ := workspace(t)
	if err := AskToLeave(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("nobody is there: %v", err)
	}
	for name, c := range map[string]struct {
		kind  Kind
		leave func() bool
		want  error
	}{
		"an editor":              {Editor, func() bool { return true }, ErrBusy},
		"an endpoint":            {Alone, func() bool { return true }, nil},
		"an endpoint with work":  {Alone, func() bool { return false }, ErrBusy},
		"one that never does it": {Alone, nil, ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			h := listen(t, dir, Options{Kind: c.kind, Leave: c.leave})
			err := AskToLeave(t.Context(), dir)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if _, err := Find(t.Context(), dir); errors.Is(err, ErrNone) != (c.want == nil) {
				t.Errorf("afterwards: %v", err)
			}
			h.Close()
		})
	}
	t.Run("one that hangs", func(t *testing.T) {
		stay := make(chan struct{})
		listen(t, dir, Options{Kind: Alone, Leave: func() bool { <-stay; return false }})
		defer close(stay)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := AskToLeave(ctx, dir); err == nil {
			t.Error("it has left")
		}
	})
}

// TestHostile: what others could put in the way is not used, and what a killed
// host left is nobody's.
func TestHostile(t *testing.T) {
	base := func(t *testing.T, dir string) string {
		t.Helper()
		b, err := name(dir)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Run("a stale socket", func(t *testing.T) {
		dir, run := workspace(t)
		listen(t, dir, Options{Kind: Editor}).Close()
		l, err := net.Listen("unix", filepath.Join(run, base(t, dir)+".sock"))
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
		if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
			t.Errorf("found: %v", err)
		}
		listen(t, dir, Options{Kind: Editor})
		if _, err := Find(t.Context(), dir); err != nil {
			t.Errorf("not taken over: %v", err)
		}
	})
	t.Run("a file for a socket", func(t *testing.T) {
		dir, run := workspace(t)
		if err := os.Mkdir(run, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run, base(t, dir)+".sock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(t.Context(), dir); err == nil || errors.Is(err, ErrNone) {
			t.Errorf("found: %v", err)
		}
	})
	for what, greeting := range map[string]string{
		"another protocol": `{"sidecar":99,"kind":"serve","pid":1}` + "\n",
		"no greeting":      "hello\n",
		"a long greeting":  strings.Repeat("x", 1<<20),
		"silence":          "",
	} {
		t.Run(what, func(t *testing.T) {
			dir, run := workspace(t)
			if err := os.Mkdir(run, 0o700); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("unix", filepath.Join(run, base(t, dir)+".sock"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				c, err := l.Accept()
				if err == nil {
					_, _ = io.WriteString(c, greeting)
					c.Close()
				}
			}()
			if c, _, err := Dial(t.Context(), dir); err == nil {
				c.Close()
				t.Error("attached")
			}
		})
	}
	t.Run("a directory that others can write", func(t *testing.T) {
		dir, run := workspace(t)
		t.Setenv("XDG_CACHE_HOME", run)
		t.Setenv("TMPDIR", run)
		if err := os.Mkdir(run, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(run, 0o777); err != nil {
			t.Fatal(err)
		}
		// The others lie below it, and are made for this user alone.
		h := listen(t, dir, Options{Kind: Editor})
		if filepath.Dir(h.socket) == run {
			t.Errorf("the socket is %s", h.socket)
		}
	})
	t.Run("words that nobody knows", func(t *testing.T) {
		dir, _ := workspace(t)
		h := listen(t, dir, Options{Kind: Editor})
		c, err := net.Dial("unix", h.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := readLine(c); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("GET / HTTP/1.1\n")); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("%d bytes came back", n)
		}
	})
}
