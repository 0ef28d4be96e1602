package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// Shell is a command line in a workspace.
type Shell struct {
	T   *testing.T
	Dir string
}

// Run runs it and returns what it printed, both streams.
func (s Shell) Run(want int, args ...string) string {
	s.T.Helper()
	out, stderr, code := RunCLI(s.T, "", append(args, "--root", s.Dir)...)
	if code != want {
		s.T.Fatalf("%q: exit %d, want %d: %s%s", args, code, want, out, stderr)
	}
	return out + stderr
}

// Says is run, whose output has all the parts.
func (s Shell) Says(parts []string, args ...string) string {
	s.T.Helper()
	out := s.Run(0, args...)
	for _, part := range parts {
		if !strings.Contains(out, part) {
			s.T.Errorf("%q: %q is missing in\n%s", args, part, out)
		}
	}
	return out
}

// RunCLI runs the command line in this process.
func RunCLI(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	self, _ := os.Executable() // the tests' own program, which TestMain makes a server's
	code = cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &err, Self: self, Programs: anywhere.Programs()})
	return out.String(), err.String(), code
}

// Home keeps the settings of whoever runs the tests out of them. What has been
// compiled is kept, because compiling the grammars again takes minutes.
func Home(t *testing.T) {
	if dir, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		t.Setenv("GOCACHE", filepath.Join(dir, "go-build"))
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	Write(t, filepath.Join(state, "sidecar-ls", SaidUnasked), "")
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	foundOut.lend(t, filepath.Join(cache, "sidecar-ls"))
}

// SaidUnasked is the file by which a user has read that commands run without a question.
const SaidUnasked = "said-unasked"

// UserState are the files in the user's state but SaidUnasked.
func UserState(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(os.Getenv("XDG_STATE_HOME"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != SaidUnasked {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// foundOut is what this program found out about the machine's sandbox, which takes
// it seconds under the race detector: one test does, and the others are told.
var foundOut = &probed{}

type probed struct {
	mu    sync.Mutex
	files map[string][]byte
}

func (p *probed) lend(t *testing.T, dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, data := range p.files {
		Write(t, filepath.Join(dir, name), string(data))
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		files := map[string][]byte{}
		for _, name := range []string{"sandbox.json", "overlay.json"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && bytes.Contains(data, []byte(os.Args[0])) { // not of a program that a test built
				files[name] = data
			}
		}
		if len(files) == 2 {
			p.files = files
		}
	})
}

// Main lets the tests' program be what the server starts of itself.
func Main(m *testing.M) {
	dontWait()
	if len(os.Args) > 1 && os.Args[1] == MCPServerCommand {
		mcpServer()
		os.Exit(0)
	}
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // as cmd/sidecar-ls
		defer stop()
		os.Exit(cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Self: os.Args[0], Programs: anywhere.Programs(), EditWait: 20 * time.Second, Exit: os.Exit}))
	}
	// The path of a socket is short, whatever TMPDIR is.
	sockets, err := os.MkdirTemp("/tmp", "sidecar-ls-test-")
	if err == nil {
		os.Setenv("XDG_RUNTIME_DIR", sockets)
		os.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(sockets, "none")) // no agent of this machine's user looks for an editor
	}
	code := m.Run()
	if err == nil {
		_ = ownfile.RemoveAll(sockets)
	}
	os.Exit(code)
}

// Project is a directory with files.
func Project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func Write(t *testing.T, name, text string) {
	t.Helper()
	if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func Arguments(t *testing.T, command string) string {
	t.Helper()
	data, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
