package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app/indexing"
	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

func TestNoStateBehindLinks(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for what, c := range map[string]struct {
		dir, link string // a directory to make, then a link out of the workspace
		held      bool
	}{
		"control: nothing is there": {".", "", true},
		"the server's directory":    {".", ".sidecar", false},
		"its state":                 {".sidecar", ".sidecar/state", false},
		"its queue":                 {".sidecar/state", ".sidecar/state/pending", false},
		"its journals":              {".sidecar/state", ".sidecar/state/apply", false},
	} {
		t.Run(what, func(t *testing.T) {
			root, outside := t.TempDir(), t.TempDir()
			if err := ownfile.MkdirAll(filepath.Join(root, c.dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if c.link != "" {
				if err := ownfile.Symlink(outside, filepath.Join(root, c.link)); err != nil {
					t.Fatal(err)
				}
			}
			k, err := Open(t.Context(), []workspace.Folder{{Dir: root}}, Options{Log: slog.New(slog.DiscardHandler), Queue: QueueAlways, Mode: "review"})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			held := put(t, k, `{"path":"a.txt","content":"x"}`)
			if held.OK != c.held || !c.held && !strings.Contains(held.Content, "is a link") {
				t.Errorf("held %v: %s", held.OK, held.Content)
			}
			s, err := k.Client.Sessions.Get("")
			if err == nil {
				err = s.SetMode("autonomous")
			}
			if err != nil {
				t.Fatal(err)
			}
			if res := put(t, k, `{"path":"b.txt","content":"x"}`); !res.OK {
				t.Errorf("an edit without the queue: %s", res.Content)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("outside: %v, %v", left, err)
			}
		})
	}
}

// TestNoWriterBehindLinks: nothing that the server keeps is written through a
// link, be it there from the start or made later.
func TestNoWriterBehindLinks(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	tried, refused, controls := 0, 0, 0
	for _, link := range []string{"", ".sidecar", ".sidecar/cache", ".sidecar/cache/home", ".sidecar/logs", ".sidecar/shadows", ".sidecar/state", ".sidecar/state/commands"} {
		for _, later := range []bool{false, true} {
			root, outside := t.TempDir(), t.TempDir()
			place := func() {
				at := filepath.Join(root, link)
				if err := errors.Join(ownfile.RemoveAll(at), ownfile.MkdirAll(filepath.Dir(at), 0o755), ownfile.Symlink(outside, at)); err != nil {
					t.Fatal(err)
				}
			}
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", "cd "+root+"; git init -q; git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m x").CombinedOutput(); err != nil {
				t.Fatal(err, string(out))
			}
			if link != "" && !later {
				place()
			}
			k, err := Open(t.Context(), []workspace.Folder{{Dir: root}}, Options{Log: slog.New(slog.DiscardHandler), Queue: QueueAlways, Mode: "review"})
			if err != nil {
				t.Fatal(err)
			}
			if link != "" && later {
				place()
			}
			for what, do := range map[string]func() error{
				"the directory": k.Home.Dir.Prepare,
				"a home":        func() error { _, err := k.Home.Dir.CommandHome(); return err },
				"the index": func() error {
					dir, err := indexing.StoreIn(k.Home.Dir).Open(true)
					if err == nil {
						err = dir.Close()
					}
					return err
				},
				"a record": func() error {
					spec, err := k.Confiner.Spec(t.Context(), root)
					if err != nil {
						return err
					}
					_, err = k.Confiner.Command(t.Context(), spec, root, "\x00") // is never started
					if errors.As(err, new(*box.RefusedError)) {
						err = nil
					}
					return err
				},
				"a shadow": func() error { _, err := k.ShadowsForPeople().Create(t.Context(), shadow.CreateRequest{}); return err },
				"an edit":  func() error { put(t, k, `{"path":"a.txt","content":"x"}`); return nil },
			} {
				tried++
				err := do()
				left, readErr := os.ReadDir(outside)
				switch {
				case readErr != nil || len(left) > 0:
					t.Errorf("%s through %s (later: %v): %v, %v", what, link, later, left, readErr)
				case link == "" && err != nil:
					t.Errorf("the control: %s: %v", what, err)
				case link == "":
					controls++
					refused++
				default:
					refused++
				}
			}
			_ = k.Close()
		}
	}
	t.Logf("%d of %d held, %d controls", refused, tried, controls)
}

func put(t *testing.T, k *Workspace, args string) *dispatch.Result {
	t.Helper()
	res, err := k.Dispatch.Call(context.Background(), dispatch.Request{Name: "write_file", Arguments: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
