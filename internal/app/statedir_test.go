package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
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
			if err := os.MkdirAll(filepath.Join(root, c.dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if c.link != "" {
				if err := os.Symlink(outside, filepath.Join(root, c.link)); err != nil {
					t.Fatal(err)
				}
			}
			k, err := open(t.Context(), []workspace.Folder{{Dir: root}}, door{log: slog.New(slog.DiscardHandler), queue: queueAlways, mode: "review"})
			if err != nil {
				t.Fatal(err)
			}
			defer k.close()
			held := put(t, k, `{"path":"a.txt","content":"x"}`)
			if held.OK != c.held || !c.held && !strings.Contains(held.Content, "is a link") {
				t.Errorf("held %v: %s", held.OK, held.Content)
			}
			s, err := k.sessions.Get("")
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

func put(t *testing.T, k *core, args string) *dispatch.Result {
	t.Helper()
	res, err := k.dispatch.Call(context.Background(), dispatch.Request{Name: "write_file", Arguments: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
