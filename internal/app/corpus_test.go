package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/framecorpus"
	"github.com/sidecar-ls/sidecar-ls/internal/test/realmodel"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestHostileFrames runs the corpus of broken frames and messages against the
// whole server.
func TestHostileFrames(t *testing.T) {
	home(t)
	cases, err := framecorpus.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	dir := project(t, map[string]string{"a.go": "package a\n"})
	framecorpus.Run(t, fakeeditor.FileURI(dir), cases, func(t *testing.T) framecorpus.Server {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		end := make(chan error, 1)
		go func() {
			err := serve.Serve(context.Background(), inR, outW, serve.Options{App: app.Options{Log: slog.New(slog.DiscardHandler)}, Person: cli.AnswerPerson})
			outW.Close()
			inR.Close()
			end <- err
		}()
		return framecorpus.Server{In: inW, Out: outR, Wait: func() error { return <-end }}
	})
}

// rig is a server with an editor, in this process.
type rig struct {
	*fakeeditor.Editor
	t   *testing.T
	dir string
}

func connect(t *testing.T, dir string, opts fakeeditor.Options) *rig {
	t.Helper()
	return begin(t, dir, opts, func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Log: slog.New(slog.DiscardHandler)}, Person: cli.AnswerPerson})
	})
}

// serveSelf is serve by a program that can start itself.
func serveSelf(t *testing.T, dir string, opts fakeeditor.Options) *rig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return serveBy(t, dir, opts, self)
}

// serveBy is serve by a program that starts another one as itself.
func serveBy(t *testing.T, dir string, opts fakeeditor.Options, self string) *rig {
	t.Helper()
	return begin(t, dir, opts, func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Log: slog.New(slog.DiscardHandler), Program: self}, Person: cli.AnswerPerson})
	})
}

// begin connects an editor to a server that runs until the test's end.
func begin(t *testing.T, dir string, opts fakeeditor.Options, run func(io.Reader, io.Writer) error) *rig {
	t.Helper()
	opts.Root = dir
	e := fakeeditor.Serve(run, opts)
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return &rig{e, t, dir}
}

// until asks again and again, each time a whole request, at most for a minute.
func until(t *testing.T, failed string, ok func() bool) {
	t.Helper()
	patience := time.Minute
	if os.Getenv(realmodel.Variable) != "" {
		patience = 15 * time.Minute // it thinks
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !ok() {
		if ctx.Err() != nil {
			t.Fatal(failed)
		}
	}
}

// result is what the tests look at in a ToolResult.
type result struct {
	OK      bool   `json:"ok"`
	Content string `json:"content"`
	Error   struct {
		Code tools.Code `json:"code"`
	} `json:"error"`
	Decision dispatch.Decision `json:"decision"`
}

func (r *rig) call(tool string, args any) result {
	r.t.Helper()
	var res result
	if err := r.ExecuteCommand(r.t.Context(), "sidecar.tools.call", map[string]any{"name": tool, "arguments": args}, &res); err != nil {
		r.t.Fatalf("%s: %v", tool, err)
	}
	return res
}

func (r *rig) mode(name string) {
	r.t.Helper()
	if err := r.ExecuteCommand(r.t.Context(), "sidecar.mode.set", map[string]any{"mode": name}, nil); err != nil {
		r.t.Fatal(err)
	}
}

// TestFidelity edits files of all kinds through the whole server: the bytes on
// disk are exactly as wanted, or the edit is refused and nothing changes. In
// review mode the accepted bytes are the same.
func TestFidelity(t *testing.T) {
	home(t)
	cases := tooltest.Fixtures(t, "../../tools/fs/testdata/behaviour/edit-*.txtar")
	line := strings.Repeat("q", 200_000)
	cases = append(cases, tooltest.Fixture{
		Name: "edit-long-line", File: "a.txt", Before: []byte(line + "alpha\n"), After: []byte(line + "beta\n"),
		Arguments: json.RawMessage(`{"path":"a.txt","search":"alpha","replace":"beta"}`),
	})
	for _, mode := range []string{"autonomous", "review"} {
		r := connect(t, project(t, map[string]string{"x": "x"}), fakeeditor.Options{})
		r.mode(mode)
		for _, c := range cases {
			t.Run(mode+"/"+c.Name, func(t *testing.T) {
				r.t = t
				path := filepath.Join(r.dir, c.File)
				if err := os.WriteFile(path, c.Before, 0o644); err != nil {
					t.Fatal(err)
				}
				res := r.call("edit_file", c.Arguments)
				if mode == "review" && res.OK {
					if err := r.ExecuteCommand(t.Context(), "sidecar.review.accept", nil, nil); err != nil {
						t.Fatal(err)
					}
				}
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				want := c.After
				if want == nil {
					want = c.Before // it is refused
				}
				if res.OK != (c.After != nil) || !bytes.Equal(got, want) {
					t.Errorf("ok %v (%s %.200s)\ngot  %q\nwant %q", res.OK, res.Error.Code, res.Content, clip(got), clip(want))
				}
			})
		}
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 200)] }

// TestEscapes tries the paths that lead out of the workspace, or to what
// nobody may write, with every tool that fits, through the whole server in the
// mode that asks least. Nothing from outside is read, nothing outside changes.
func TestEscapes(t *testing.T) {
	slow.Test(t)
	home(t)
	const canary = "CANARY"
	type escape struct {
		ID, Category, Op, Path, To, Expect, Note string
		Repeat                                   *struct {
			Unit   string
			N      int
			Suffix string
		} `json:"path_repeat"`
	}
	var file struct {
		Fixture struct{ Ops []fixtureOp }
		Cases   []escape
	}
	data, err := os.ReadFile("../workspace/testdata/path-escape.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	fixture := func(t *testing.T) *rig {
		top := t.TempDir()
		buildFixture(t, top, file.Fixture.Ops)
		r := connect(t, filepath.Join(top, "ws"), fakeeditor.Options{})
		r.mode("autonomous")
		return r
	}
	shared := fixture(t) // for what changes nothing
	allowed, refused := 0, 0
	for _, c := range file.Cases {
		if c.Category == "race" {
			continue // internal/workspace races renames against the disk itself
		}
		t.Run(c.ID+" "+c.Category, func(t *testing.T) {
			r := shared
			if c.Op != "read" && c.Op != "list" {
				r = fixture(t)
			}
			r.t = t
			top := filepath.Dir(r.dir)
			before := tree(t, top)
			p := strings.ReplaceAll(c.Path, "${T}", top)
			if c.Repeat != nil {
				p = strings.Repeat(c.Repeat.Unit, c.Repeat.N) + c.Repeat.Suffix
			}
			tool, args := "", map[string]any{"path": p}
			switch c.Op {
			case "read":
				tool = "read_file"
			case "write":
				tool, args["content"] = "write_file", "written by a tool\n"
			case "delete":
				tool = "delete_file"
			case "list":
				tool = "list_directory"
			case "rename":
				tool, args = "move_file", map[string]any{"from": p, "to": strings.ReplaceAll(c.To, "${T}", top)}
			case "mkdir":
				tool, args = "write_file", map[string]any{"path": p + "/new.txt", "content": "x\n"}
			case "edit":
				tool, args = "edit_file", map[string]any{"path": p, "search": canary, "replace": "x"}
			case "grep":
				tool, args = "grep", map[string]any{"pattern": canary, "path": p}
			default:
				t.Fatalf("unknown operation %q", c.Op)
			}
			res := r.call(tool, args)
			// A hard link has no outside to tell: it is a file of the workspace.
			if c.Expect != "allow" && c.Path != "hard" && strings.Contains(res.Content, canary) {
				t.Errorf("%s %s: bytes from outside: %s", tool, p, res.Content)
			}
			for name, text := range tree(t, top) {
				if !strings.HasPrefix(name, "ws/") && before[name] != text {
					t.Errorf("%s changed outside", name)
				}
			}
			for name := range before {
				if _, still := tree(t, top)[name]; !still && !strings.HasPrefix(name, "ws/") {
					t.Errorf("%s vanished outside", name)
				}
			}
			switch {
			case c.Expect == "refuse" && res.OK:
				t.Errorf("%s %q was not refused: %s", tool, p, res.Content)
			case c.Expect == "allow" && !res.OK:
				t.Errorf("control: %s %q was refused: %s %s", tool, p, res.Error.Code, res.Content)
			case c.Expect == "allow":
				allowed++
			default:
				refused++
			}
		})
	}
	t.Logf("%d tried, %d refused without effect, %d controls worked", len(file.Cases)-1, refused, allowed)
}

// fixtureOp is one step in making the tree that a corpus describes.
type fixtureOp struct{ Op, Path, Text, Target string }

func buildFixture(t *testing.T, top string, ops []fixtureOp) {
	t.Helper()
	for _, op := range ops {
		name := filepath.Join(top, op.Path)
		var err error
		switch op.Op {
		case "dir":
			err = os.MkdirAll(name, 0o755)
		case "file":
			write(t, name, op.Text)
		case "symlink":
			err = os.Symlink(strings.ReplaceAll(op.Target, "${T}", top), name)
		case "fifo":
			err = syscall.Mkfifo(name, 0o644)
		case "hardlink":
			err = os.Link(filepath.Join(top, op.Target), name)
		case "mknod-null":
			if err = syscall.Mknod(name, syscall.S_IFCHR|0o666, 1<<8|3); errors.Is(err, syscall.EPERM) {
				err = nil // a device needs root; the FIFOs stand for it
			}
		default:
			t.Fatalf("unknown fixture operation %q", op.Op)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// tree is every regular file below top with its text.
func tree(t *testing.T, top string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(top, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(top, name)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
