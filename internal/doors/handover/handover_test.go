package handover

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
)

func TestFirst(t *testing.T) {
	for name, c := range map[string]struct{ in, read, body string }{
		"a message":            {"Content-Length: 2\r\n\r\n{}rest", "Content-Length: 2\r\n\r\n{}", "{}"},
		"of another case":      {"content-type: x\r\nCONTENT-LENGTH:2\r\n\r\n{}rest", "content-type: x\r\nCONTENT-LENGTH:2\r\n\r\n{}", "{}"},
		"without a body":       {"Content-Length: 0\r\n\r\nrest", "Content-Length: 0\r\n\r\n", ""},
		"a body that is cut":   {"Content-Length: 9\r\n\r\n{}", "Content-Length: 9\r\n\r\n{}", ""},
		"a header that is cut": {"Content-Len", "Content-Len", ""},
		"nothing":              {"", "", ""},
		"no length":            {"X: 2\r\n\r\n{}", "X: 2\r\n\r\n", ""},
		"a bad length":         {"Content-Length: -2\r\n\r\n{}", "Content-Length: -2\r\n\r\n", ""},
		"a great length":       {"Content-Length: 99999999999\r\n\r\n{}", "Content-Length: 99999999999\r\n\r\n", ""},
		"an endless header":    {strings.Repeat("x", 2*maxHeader), strings.Repeat("x", maxHeader), ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := strings.NewReader(c.in)
			read, body := First(in)
			if string(read) != c.read || string(body) != c.body {
				t.Errorf("read %.60q with the body %q, want %.60q with %q", read, body, c.read, c.body)
			}
			if rest, _ := io.ReadAll(in); c.read+string(rest) != c.in {
				t.Errorf("%d bytes are lost", len(c.in)-len(c.read)-len(rest))
			}
		})
	}
}

// editor is what an editor has started, and its ends of the streams.
type editor struct {
	Streams
	says        *os.File
	hears, logs *os.File
}

func newEditor(t *testing.T) (e editor) {
	t.Helper()
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	e.In, e.says = pipe()
	e.hears, e.Out = pipe()
	e.logs, e.Err = pipe()
	return e
}

type given struct {
	code int
	err  error
}

func give(ctx context.Context, c net.Conn, e editor, first string) <-chan given {
	done := make(chan given, 1)
	go func() {
		code, err := Give(ctx, c, e.Streams, []byte(first), 9)
		done <- given{code, err}
	}()
	return done
}

func TestHandover(t *testing.T) {
	a, b := ends(t)
	e := newEditor(t)
	first := strings.Repeat("first", 100_000)
	done := give(t.Context(), a, e, first)
	got, err := Take(b)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.First) != first {
		t.Errorf("%d bytes came first, want %d", len(got.First), len(first))
	}
	for _, way := range []struct{ from, to *os.File }{{e.says, got.In}, {got.Out, e.hears}, {got.Err, e.logs}} {
		if _, err := way.from.WriteString("word"); err != nil {
			t.Fatal(err)
		}
		word := make([]byte, 4)
		if _, err := io.ReadFull(way.to, word); err != nil || string(word) != "word" {
			t.Errorf("%q (%v)", word, err)
		}
	}
	got.Leave(3)
	got.Leave(4) // says nothing more
	if g := <-done; g.code != 3 || g.err != nil {
		t.Errorf("it ended as %+v", g)
	}
	for _, f := range []*os.File{e.hears, e.logs} { // closed at both ends here and there
		if n, err := f.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a stream of an editor that was left has %d bytes (%v)", n, err)
		}
	}
	<-got.Gone
}

const helper = "SIDECAR_TEST_HANDOVER"

func TestMain(m *testing.M) {
	if os.Getenv(helper) == "" {
		os.Exit(m.Run())
	}
	readied()
	c, err := Inherited() // what outlives an editor
	if err != nil {
		os.Exit(1)
	}
	e, err := Take(c)
	if err != nil {
		os.Exit(2)
	}
	word := make([]byte, 4)
	if _, err := io.ReadFull(e.In, word); err != nil {
		os.Exit(3)
	}
	_, inherited := os.LookupEnv("SIDECAR_HANDOVER")
	fmt.Fprintf(e.Out, "%s, %s, %v", e.First, word, inherited)
	e.Leave(7)
}

// TestStart: a process apart takes the streams of an editor, and says how it ends.
func TestStart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(helper, "1")
	c, err := Start(self)
	if err != nil {
		t.Fatal(err)
	}
	e := newEditor(t)
	done := give(t.Context(), c, e, "first")
	if _, err := e.says.WriteString("word"); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(e.hears); string(said) != "first, word, false" || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	if g := <-done; g.code != 7 || g.err != nil {
		t.Errorf("it ended as %+v", g)
	}
	t.Setenv(helper, "")
	if _, err := Start(self + ".none"); err == nil {
		t.Error("control: a program that is not there was started")
	}
}

// TestRefused: who is not wanted keeps its streams.
func TestRefused(t *testing.T) {
	a, b := ends(t)
	e := newEditor(t)
	done := give(t.Context(), a, e, "first")
	b.Close()
	if g := <-done; g.err == nil {
		t.Errorf("it was handed over: %+v", g)
	}
	if _, err := e.Out.WriteString("still here"); err != nil {
		t.Error(err)
	}
}

// TestLost: the end of either process ends the other's wait.
func TestLost(t *testing.T) {
	t.Run("who has it", func(t *testing.T) {
		a, b := ends(t)
		done := give(t.Context(), a, newEditor(t), "")
		if _, err := Take(b); err != nil {
			t.Fatal(err)
		}
		b.Close()
		if g := <-done; g.code != 9 || g.err != nil {
			t.Errorf("it ended as %+v", g)
		}
	})
	t.Run("who gave it", func(t *testing.T) {
		a, b := ends(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := give(ctx, a, newEditor(t), "")
		got, err := Take(b)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		<-done
		<-got.Gone
	})
	t.Run("before it gave anything", func(t *testing.T) {
		a, b := ends(t)
		a.Close()
		if _, err := Take(b); err == nil {
			t.Error("an editor was taken over")
		}
	})
}
