package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/framecorpus"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/realmodel"
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
			err := serve.Serve(context.Background(), inR, outW, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)}, Person: cli.AnswerPerson})
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
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)}, Person: cli.AnswerPerson})
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
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler), Program: self}, Person: cli.AnswerPerson})
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
				if err := ownfile.WriteFile(path, c.Before, 0o644); err != nil {
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
