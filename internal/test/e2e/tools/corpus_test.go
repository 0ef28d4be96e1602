package tools_test

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

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/framecorpus"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
)

// TestHostileFrames runs the corpus of broken frames and messages against the
// whole server.
func TestHostileFrames(t *testing.T) {
	e2e.Home(t)
	cases, err := framecorpus.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	dir := e2e.Project(t, map[string]string{"a.go": "package a\n"})
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

// TestFidelity edits files of all kinds through the whole server: the bytes on
// disk are exactly as wanted, or the edit is refused and nothing changes. In
// review mode the accepted bytes are the same.
func TestFidelity(t *testing.T) {
	e2e.Home(t)
	cases := tooltest.Fixtures(t, "../../../../tools/fs/testdata/behaviour/edit-*.txtar")
	line := strings.Repeat("q", 200_000)
	cases = append(cases, tooltest.Fixture{
		Name: "edit-long-line", File: "a.txt", Before: []byte(line + "alpha\n"), After: []byte(line + "beta\n"),
		Arguments: json.RawMessage(`{"path":"a.txt","search":"alpha","replace":"beta"}`),
	})
	for _, mode := range []string{"autonomous", "review"} {
		r := e2e.Connect(t, e2e.Project(t, map[string]string{"x": "x"}), fakeeditor.Options{})
		r.Mode(mode)
		for _, c := range cases {
			t.Run(mode+"/"+c.Name, func(t *testing.T) {
				r.T = t
				path := filepath.Join(r.Dir, c.File)
				if err := ownfile.WriteFile(path, c.Before, 0o644); err != nil {
					t.Fatal(err)
				}
				res := r.Tool("edit_file", c.Arguments)
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
