package attach

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
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
func echo(c net.Conn, _ Wish) {
	_, _ = io.Copy(c, c)
	c.Close()
}

func hosted(t *testing.T, dir string, o Options) *Host {
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
	if _, _, err := Dial(t.Context(), dir, Wish{}); !errors.Is(err, ErrNone) {
		t.Fatalf("before: %v", err)
	}
	h := hosted(t, dir, Options{Kind: Editor, Version: "v"})
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
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, link} { // whatever the directory is called
		c, g, err := Dial(t.Context(), d, Wish{})
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
			h := hosted(t, dir, Options{Kind: c.kind, Leave: c.leave})
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
		hosted(t, dir, Options{Kind: Alone, Leave: func() bool { <-stay; return false }})
		defer close(stay)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := AskToLeave(ctx, dir); err == nil {
			t.Error("it has left")
		}
	})
}

// TestDialServer: a server is had by another editor while its own has left.
func TestDialServer(t *testing.T) {
	dir, _ := workspace(t)
	if _, err := DialServer(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("nobody is there: %v", err)
	}
	h := hosted(t, dir, Options{Kind: Editor, Editor: func(c net.Conn) { echo(c, Wish{}) }})
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
			if c, _, err := Dial(t.Context(), dir, Wish{}); err == nil {
				c.Close()
				t.Error("attached")
			}
		})
	}
	t.Run("a directory that others can write", func(t *testing.T) {
		dir, run := workspace(t)
		if err := os.Mkdir(run, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(run, 0o777); err != nil {
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

// TestWish: what is wished reaches the host as it was said.
func TestWish(t *testing.T) {
	dir, _ := workspace(t)
	got := make(chan Wish, 1)
	hosted(t, dir, Options{Kind: Editor, Attached: func(c net.Conn, w Wish) { got <- w; c.Close() }})
	for _, want := range []Wish{{}, {Mode: "review"}, {Mode: "a mode of \"mine\"\n"}} {
		c, _, err := Dial(t.Context(), dir, want)
		if err != nil {
			t.Fatal(err)
		}
		if w := <-got; w != want {
			t.Errorf("%+v, want %+v", w, want)
		}
		c.Close()
	}
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
		if err := os.WriteFile(filepath.Join(run, name), nil, 0o600); err != nil {
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

// TestPerson: a command line gets to where persons are let in, and agents don't.
func TestPerson(t *testing.T) {
	dir, _ := workspace(t)
	if _, _, err := DialPerson(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Fatalf("before: %v", err)
	}
	h := hosted(t, dir, Options{Kind: Editor})
	if _, _, err := DialPerson(t.Context(), dir); !errors.Is(err, ErrUnable) {
		t.Fatalf("a host that knows no command lines: %v", err)
	}
	h.Close()
	persons, wishes := make(chan bool, 1), make(chan Wish, 1)
	hosted(t, dir, Options{
		Kind:     Editor,
		Attached: func(c net.Conn, w Wish) { wishes <- w; c.Close() },
		Person:   func(c net.Conn, own bool) { persons <- own; c.Close() },
	})
	c, g, err := DialPerson(t.Context(), dir)
	if err != nil || !g.Person {
		t.Fatalf("%+v, %v", g, err)
	}
	c.Close()
	if own := <-persons; own {
		t.Error("this process counts as one that the host has started")
	}
	c, _, err = Dial(t.Context(), dir, Wish{Session: "person"})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if w := <-wishes; w.Session != "person" || len(persons) > 0 {
		t.Errorf("an agent: %+v, %d persons", w, len(persons))
	}
}
