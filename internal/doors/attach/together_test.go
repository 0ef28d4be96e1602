package attach

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTogether: several directories have one host, or the error names their hosts.
func TestTogether(t *testing.T) {
	a, _ := workspace(t)
	b := t.TempDir()
	fails := func(want ...string) {
		t.Helper()
		_, _, err := Dial(t.Context(), a, Wish{}, b)
		if !errors.Is(err, ErrApart) {
			t.Fatalf("it fails by %v", err)
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in %q", part, err)
			}
		}
	}
	none := func() {
		t.Helper()
		if _, _, err := Dial(t.Context(), a, Wish{}, b); !errors.Is(err, ErrNone) {
			t.Fatalf("nobody is there, and it fails by %v", err)
		}
	}
	none()
	pid := fmt.Sprintf("process %d ", os.Getpid())

	editor := hosted(t, a, Options{Kind: Editor, Leave: func() bool {
		t.Error("an editor's server is asked to leave")
		return true
	}})
	fails(pid+"serves "+a+" for an editor", "does not have "+b+" open", "open it in that editor's workspace")
	both := hosted(t, b, Options{Kind: Editor})
	c, g, err := Dial(t.Context(), a, Wish{}, b)
	if err != nil || g.Kind != Editor {
		t.Fatalf("one host of both: %+v, %v", g, err)
	}
	_ = c.Close()
	if _, _, err := DialPerson(t.Context(), a, b); !errors.Is(err, ErrUnable) {
		t.Errorf("a host that knows no command lines: %v", err)
	}
	editor.Close()
	fails(pid+"serves "+b+" for an editor", "does not have "+a+" open")
	both.Close()
	none()

	asked := 0
	busy := hosted(t, b, Options{Kind: Alone, Leave: func() bool {
		asked++
		return false
	}})
	fails(pid+"serves "+b+", and not "+a, "wait until it has ended, or end it")
	if asked != 1 {
		t.Errorf("it was asked to leave %d times", asked)
	}
	busy.Close()
	hosted(t, b, Options{Kind: Alone, Leave: func() bool { return true }})
	none() // it has left
	if _, err := Find(t.Context(), b); !errors.Is(err, ErrNone) {
		t.Errorf("it has not left: %v", err)
	}
}

// TestApart: the error for two processes says what to do.
func TestApart(t *testing.T) {
	got := apart(Greeting{Kind: Editor, PID: 12}, "/w/api", Greeting{Kind: Alone, PID: 13}, "/w/web")
	if want := "process 12 serves /w/api, and process 13 serves /w/web; open both in the workspace of one editor, or end one of the processes"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
