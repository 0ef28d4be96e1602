package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

func benchCore(b *testing.B, files map[string]string) *core {
	b.Helper()
	b.Setenv("XDG_CONFIG_HOME", b.TempDir())
	dir := b.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	c, err := open(context.Background(), []workspace.Folder{{Name: "ws", Dir: dir}}, door{log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.close() })
	return c
}

func benchCall(b *testing.B, c *core, tool, args string) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		res, err := c.dispatch.Call(context.Background(), dispatch.Request{Name: tool, Arguments: json.RawMessage(args)})
		if err != nil || !res.OK {
			b.Fatal(err, res)
		}
	}
}

// BenchmarkSmallCall is G10 in process: bind, decide, run, redact, envelope.
func BenchmarkSmallCall(b *testing.B) {
	benchCall(b, benchCore(b, map[string]string{"a.txt": "one line\n"}), "read_file", `{"path":"a.txt"}`)
}

// BenchmarkMegabyte is a result of 1 MiB, redacted whole and cut.
func BenchmarkMegabyte(b *testing.B) {
	c := benchCore(b, map[string]string{"a.txt": strings.Repeat("some words of text on a line of its own\n", (1<<20)/40)})
	b.SetBytes(1 << 20)
	benchCall(b, c, "read_file", `{"path":"a.txt"}`)
}
