package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestExampleWords: the example of each tool's manual, as a shell reads it, is
// the tool's example.
func TestExampleWords(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	user := config.UserFile()
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(user), 0o700), ownfile.WriteFile(user, []byte(`{"backend.profiles": [{"name": "local", "provider": "ollama", "url": "http://127.0.0.1:1", "model": "x"}]}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	w, err := app.Open(t.Context(), []workspace.Folder{{Dir: t.TempDir()}}, app.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	list, _ := w.Registry.List(tools.Filter{})
	if len(list) < 40 {
		t.Fatalf("only %d tools", len(list))
	}
	for _, tool := range list {
		m := tool.Manual()
		out, err := exec.CommandContext(t.Context(), "bash", "-c", `printf '%s\0' `+m.Name+exampleWords(m)).Output()
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		got := jsontext.Value(words[len(words)-1])
		if len(words) != 2 || !strings.HasPrefix(words[1], "{") {
			args, err := m.FromWords(words[1:])
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
				continue
			}
			got = jsontext.Value(args)
		}
		want := jsontext.Value(bytes.Clone(m.Example))
		if got.Canonicalize() != nil || want.Canonicalize() != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", m.Name, got, want)
		}
		if _, err := tool.Bind([]byte(got)); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
