package confine

import (
	"bytes"
	"os"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// A path is written as another, wherever the pieces of what is printed end.
func TestRenaming(t *testing.T) {
	const from, to = "/cache/worlds/ab.1/upper", "/home/me/work"
	for in, want := range map[string]string{
		"":                             "",
		"nothing to see\n":             "nothing to see\n",
		from:                           to,
		from + "/a.go:3: " + from:      to + "/a.go:3: " + to,
		"/cache/worlds/ab.1/uppe":      "/cache/worlds/ab.1/uppe",
		"/cache/worlds/" + from + "\n": "/cache/worlds/" + to + "\n",
		"\x00\xff" + from + "\xff":     "\x00\xff" + to + "\xff",
	} {
		for size := 1; size <= max(1, len(in)); size++ {
			var out bytes.Buffer
			r := shell.Run{Stdout: &out, Stderr: &out}
			finish := rename(&r, from, to)
			if r.Stdout != r.Stderr {
				t.Fatal("one stream became two")
			}
			for rest := []byte(in); len(rest) > 0; {
				n, err := r.Stdout.Write(rest[:min(size, len(rest))])
				if err != nil || n != min(size, len(rest)) {
					t.Fatal(n, err)
				}
				rest = rest[n:]
			}
			finish()
			if out.String() != want {
				t.Errorf("%q in pieces of %d is %q, want %q", in, size, out.String(), want)
			}
		}
	}
	r := shell.Run{Stdout: os.Stdout}
	if rename(&r, from, to); r.Stdout != os.Stdout || r.Stderr != nil {
		t.Error("a file, or nothing, is written to by somebody else")
	}
}

// On Windows a path has several forms.
func TestRenamingWindows(t *testing.T) {
	var out, said bytes.Buffer
	r := shell.Run{Stdout: &out, Stderr: &said}
	finish := rename(&r, `C:\cache\upper`, `C:\code`)
	if _, err := r.Stdout.Write([]byte(`C:\cache\upper\a "C:\\cache\\upper\\b" C:/cache/upper/c /c/cache/upper/d /mnt/c/cache/upper/e C:\cache\Other`)); err != nil {
		t.Fatal(err)
	}
	finish()
	if got, want := out.String(), `C:\code\a "C:\\code\\b" C:/code/c /c/code/d /mnt/c/code/e C:\cache\Other`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	out.Reset() // a workspace on another machine
	r = shell.Run{Stdout: &out}
	finish = rename(&r, `C:\cache\upper`, `\\nas\code`)
	if _, err := r.Stdout.Write([]byte(`C:\cache\upper\a C:/cache/upper/c /c/cache/upper/d`)); err != nil {
		t.Fatal(err)
	}
	finish()
	if got, want := out.String(), `\\nas\code\a //nas/code/c //nas/code/d`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
