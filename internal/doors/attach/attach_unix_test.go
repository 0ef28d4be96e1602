//go:build unix

package attach

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// workspace is a directory, and a place for its sockets.
func workspace(t *testing.T) (dir, run string) {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "at-") // the path of a socket is short, whatever TMPDIR is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ownfile.RemoveAll(base) })
	t.Setenv("XDG_RUNTIME_DIR", base)
	return t.TempDir(), filepath.Join(base, "sidecar-ls")
}

// TestFiles: what there is of a host is for its user alone, and goes with it.
func TestFiles(t *testing.T) {
	dir, run := workspace(t)
	h := hosted(t, dir, Options{Kind: Editor})
	base, err := name(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700 | os.ModeDir, base + ".sock": 0o600 | os.ModeSocket, base + ".lock": 0o600} {
		info, err := os.Stat(filepath.Join(run, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	h.Close()
	if left, err := os.ReadDir(run); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestDialServer: a server is had by another editor while its own has left.
func TestDialServer(t *testing.T) {
	dir, _ := workspace(t)
	if _, err := DialServer(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("nobody is there: %v", err)
	}
	h := hosted(t, dir, Options{Kind: Editor, Editor: func(c net.Conn) { echo(peers.Peer{Conn: c}, Wish{}) }})
	for _, kind := range []Kind{Editor, Alone, Left, Editor} {
		h.SetKind(kind)
		c, err := DialServer(t.Context(), dir)
		if kind != Left {
			if !errors.Is(err, ErrNone) {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 3)
		if _, err := c.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "abc" {
			t.Errorf("%q, %v", got, err)
		}
		c.Close()
	}
	if err := AskToLeave(t.Context(), dir); !errors.Is(err, ErrBusy) {
		t.Errorf("it leaves: %v", err)
	}
	h.Close()
	hosted(t, dir, Options{Kind: Left}) // one that takes no editor
	c, err := DialServer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes came back", n)
	}
	c.Close()
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
		hosted(t, dir, Options{Kind: Editor}).Close() // which makes the places
		l, err := net.Listen("unix", filepath.Join(run, base(t, dir)+".sock"))
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
		if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
			t.Errorf("found: %v", err)
		}
		hosted(t, dir, Options{Kind: Editor})
		if _, err := Find(t.Context(), dir); err != nil {
			t.Errorf("not taken over: %v", err)
		}
	})
	t.Run("a file for a socket", func(t *testing.T) {
		dir, run := workspace(t)
		if err := ownfile.Mkdir(run, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(filepath.Join(run, base(t, dir)+".sock"), nil, 0o600); err != nil {
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
			if err := ownfile.Mkdir(run, 0o700); err != nil {
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
			if c, _, err := Dial(t.Context(), dir, Wish{}); err == nil {
				c.Close()
				t.Error("attached")
			}
		})
	}
	t.Run("a directory that others can write", func(t *testing.T) {
		dir, run := workspace(t)
		if err := ownfile.Mkdir(run, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.Chmod(run, 0o777); err != nil {
			t.Fatal(err)
		}
		// What others put there is not used, and nothing of ours is put there.
		l, err := net.Listen("unix", filepath.Join(run, base(t, dir)+".sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
			t.Errorf("found: %v", err)
		}
		for _, l := range hosted(t, dir, Options{Kind: Editor}).listeners {
			if filepath.Dir(l.Addr().String()) == run {
				t.Errorf("a socket is %s", l.Addr())
			}
		}
		if g, err := Find(t.Context(), dir); err != nil || g.Kind != Editor { // it is in the other places
			t.Errorf("%+v, %v", g, err)
		}
	})
	t.Run("words that nobody knows", func(t *testing.T) {
		dir, _ := workspace(t)
		h := hosted(t, dir, Options{Kind: Editor})
		c, err := net.Dial("unix", h.listeners[0].Addr().String())
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

// elsewhere is the environment of a program that was started with hardly any of
// the one that the test has.
func elsewhere(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
}

// TestEveryEnvironment: processes find each other, and only one of them is the
// host, also when they have nothing of their environment in common.
func TestEveryEnvironment(t *testing.T) {
	dir, run := workspace(t)
	h := hosted(t, dir, Options{Kind: Editor})
	t.Run("elsewhere", func(t *testing.T) {
		elsewhere(t)
		if g, err := Find(t.Context(), dir); err != nil || g.PID != os.Getpid() {
			t.Errorf("%+v, %v", g, err)
		}
		if _, err := Listen(dir, Options{Kind: Alone, Attached: echo}); !errors.Is(err, ErrTaken) {
			t.Errorf("a second host: %v", err)
		}
		if g, err := Find(t.Context(), dir); err != nil || g.Kind != Editor {
			t.Errorf("after that: %+v, %v", g, err)
		}
		h.Close()
		hosted(t, dir, Options{Kind: Alone}).Close()
	})
	if left, err := os.ReadDir(run); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Run("one place is enough", func(t *testing.T) {
		h := hosted(t, dir, Options{Kind: Editor})
		for _, l := range h.listeners[1:] {
			_ = l.Close()
		}
		if _, err := Find(t.Context(), dir); err != nil {
			t.Error(err)
		}
	})
}

// TestSweep: what hosts of other directories left that were killed goes, and
// those that live keep theirs.
func TestSweep(t *testing.T) {
	dir, run := workspace(t)
	killed, alive := t.TempDir(), t.TempDir()
	hosted(t, alive, Options{Kind: Editor})
	base, err := name(killed)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(run, base+".sock"))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	for _, name := range []string{base + ".lock", "of-nobody-we-know"} {
		if err := ownfile.WriteFile(filepath.Join(run, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hosted(t, dir, Options{Kind: Editor})
	if _, err := Find(t.Context(), alive); err != nil {
		t.Errorf("the one that lives: %v", err)
	}
	left, err := os.ReadDir(run)
	var names []string
	for _, f := range left {
		names = append(names, f.Name())
	}
	if err != nil || len(names) != 5 || !slices.Contains(names, "of-nobody-we-know") || slices.Contains(names, base+".sock") {
		t.Errorf("left: %v, %v", names, err)
	}
}

// alias is another name of a directory.
func alias(t *testing.T, dir string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// TestEachPerson: a person's command line reaches each host that answers some, once, whatever
// its directories are, and nothing that a killed host left.
func TestEachPerson(t *testing.T) {
	dir, run := workspace(t)
	count := func() (n int) { // without the hosts of whoever runs the tests
		EachPerson(t.Context(), func(c net.Conn, g Greeting) {
			if c.Close(); g.PID == os.Getpid() {
				n++
			}
		})
		return n
	}
	hosted(t, t.TempDir(), Options{Kind: Editor})
	if err := ownfile.WriteFile(filepath.Join(run, "0123456789abcdef01234567.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 0 {
		t.Errorf("it reaches this process %d times, which answers none", n)
	}
	person := Options{Kind: Editor, Person: func(p peers.Peer) { p.Close() }}
	hosted(t, dir, person)
	hosted(t, t.TempDir(), person)
	if n := count(); n != 1 {
		t.Errorf("it reaches this process %d times", n)
	}
}
