package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// escapes are attempts to escape as lines of a shell, where no program of ours runs
// in the sandbox. A line that succeeds got out. Each begins in the root.
var escapes = []struct{ name, line string }{
	{"write a file outside of the workspace", `echo x > "$OUTSIDE/new"`},
	{"write outside through a link", `ln -s "$OUTSIDE" way && echo x > way/through`},
	{"remove a file outside of the workspace", `rm "$OUTSIDE/file"`},
	{"change a directory that can only be read", `echo x > "$READONLY/new"`},
	{"read a hidden file", `cat .env`},
	{"read a hidden file in a directory", `cat sub/.env`},
	{"read a sealed file", `cat key.pem`},
	{"link a hidden file to another name", `ln .env linked && cat linked`},
	{"move a hidden file to another name", `mv .env moved && cat moved`},
	{"move a directory with a hidden file", `mv sub elsewhere && cat elsewhere/.env`},
	{"write a hook of git", `echo x > .git/hooks/new`},
	{"change the settings of git", `echo x >> .git/config`},
	{"replace the settings of git", `echo x > config && mv config .git/config`},
	{"move the repository away", `mv .git away`},
	{"make settings of an editor", `mkdir .vscode`},
	{"make them in large letters", `mkdir .IDEA`},
	{"move something in their place", `mkdir plain && mv plain .cursor`},
	{"signal another process", `kill -0 "$VICTIM"`},
	{"reach the network of the machine", `nc -z 127.0.0.1 "$PORT" || (exec 3<> "/dev/tcp/127.0.0.1/$PORT")`},
}

// ordinary is what must work all the same. It ends with what it must print.
const ordinary = `set -e; echo one > made; mkdir -p dir; mv made dir/made; t=$(mktemp "$TMPDIR/XXXXXX"); cat dir/made > "$t"; sort "$t"; rm -r dir "$t"; ls /usr/bin > /dev/null; echo two > "$HOME/made"; cat "$HOME/made"`

// escape is where the attempts are made.
type escape struct {
	root, outside, readOnly string
	port                    string
}

// newEscape makes it below dir.
func newEscape(dir string, listening net.Addr) (*escape, error) {
	e := &escape{root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "outside"), readOnly: filepath.Join(dir, "readonly")}
	for _, d := range []string{e.outside, e.readOnly, filepath.Join(e.root, "sub"), filepath.Join(e.root, ".git/hooks"), filepath.Join(e.root, ".git/objects"), filepath.Join(e.root, ".git/refs")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	for _, name := range append([]string{filepath.Join(e.outside, "file"), filepath.Join(e.root, ".git/HEAD"), filepath.Join(e.root, ".git/config")}, e.secrets()...) {
		if err := os.WriteFile(name, []byte("text\n"), 0o644); err != nil {
			return nil, err
		}
	}
	_, port, err := net.SplitHostPort(listening.String())
	e.port = port
	return e, err
}

func (e *escape) secrets() []string {
	return []string{filepath.Join(e.root, ".env"), filepath.Join(e.root, "sub/.env"), filepath.Join(e.root, "key.pem")}
}

// spec is what an attempt may use.
func (e *escape) spec() spec.Spec {
	hidden := e.secrets()
	return spec.Spec{
		Root: e.root, ReadOnly: []string{e.readOnly}, Hidden: hidden[:2], Sealed: hidden[2:],
		Env: append(spec.Environ(os.Environ()), "OUTSIDE="+e.outside, "READONLY="+e.readOnly, "PORT="+e.port, "VICTIM="+strconv.Itoa(os.Getpid())),
	}
}

// script makes all attempts, and prints the names of those that got out.
func (e *escape) script() string {
	var b strings.Builder
	for _, a := range escapes {
		b.WriteString("(" + a.line + ") >/dev/null 2>&1 </dev/null && echo '" + a.name + "'\n")
	}
	return b.String() + "true\n"
}
