package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wire"
)

func benchCore(b *testing.B, files map[string]string) *app.Workspace {
	b.Helper()
	b.Setenv("XDG_CONFIG_HOME", b.TempDir())
	dir := b.TempDir()
	for name, text := range files {
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	c, err := app.Open(context.Background(), []workspace.Folder{{Name: "ws", Dir: dir}}, app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func benchCall(b *testing.B, c *app.Workspace, tool, args string) {
	b.Helper()
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		res, err := c.Dispatch.Call(context.Background(), dispatch.Request{Name: tool, Arguments: json.RawMessage(args)})
		if err != nil || !res.OK {
			b.Fatal(err, res)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
}

// BenchmarkSmallCall is what a call costs in process: bind, decide, run, redact, envelope.
func BenchmarkSmallCall(b *testing.B) {
	benchCall(b, benchCore(b, map[string]string{"a.txt": "one line\n"}), "read_file", `{"path":"a.txt"}`)
}

// BenchmarkBareCall is one whose tool finds nothing to do.
func BenchmarkBareCall(b *testing.B) {
	c := benchCore(b, nil)
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := c.Dispatch.Call(context.Background(), dispatch.Request{Name: "read_result", Arguments: json.RawMessage(`{"cursor":"none"}`)}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
}

// BenchmarkMegabyte is a result of 1 MiB, redacted whole and cut.
func BenchmarkMegabyte(b *testing.B) {
	c := benchCore(b, map[string]string{"a.txt": strings.Repeat("some words of text on a line of its own\n", (1<<20)/40)})
	b.SetBytes(1 << 20)
	benchCall(b, c, "read_file", `{"path":"a.txt"}`)
}

// dial starts a server in this process and speaks to it through pipes.
func dial(b *testing.B, files map[string]string) *wire.Client {
	b.Helper()
	b.Setenv("XDG_CONFIG_HOME", b.TempDir())
	dir := b.TempDir()
	for name, text := range files {
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = serve.Serve(context.Background(), inR, outW, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)}})
		_ = outW.Close()
	}()
	b.Cleanup(func() { _ = inW.Close(); <-done })
	c := wire.New(inW, outR)
	if err := c.Initialize(workspace.FileURI(dir)); err != nil {
		b.Fatal(err)
	}
	return c
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func review(b *testing.B, c *wire.Client) {
	b.Helper()
	_, err := c.Command("sidecar.mode.set", `{"mode":"review"}`)
	must(b, err)
}

func BenchmarkPipeCommand(b *testing.B) {
	c := dial(b, nil)
	for b.Loop() {
		_, err := c.Command("sidecar.mode.get", "{}")
		must(b, err)
	}
}

func BenchmarkPipeCall(b *testing.B) {
	c := dial(b, map[string]string{"a.txt": "one line\n"})
	for b.Loop() {
		_, err := c.Command("sidecar.tools.call", `{"name":"read_file","arguments":{"path":"a.txt"}}`)
		must(b, err)
	}
}

func BenchmarkPipeList(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("f%03d.txt", i)] = "one\ntwo\nthree\n"
	}
	c := dial(b, files)
	review(b, c)
	for name := range files {
		_, err := c.Tool("edit_file", map[string]string{"path": name, "search": "two", "replace": "zwei"})
		must(b, err)
	}
	for b.Loop() {
		_, err := c.Command("sidecar.review.list", "{}")
		must(b, err)
	}
}

// BenchmarkPipeLineEdit holds one edit after another of a file of 10,000
// lines, each synced to the disk before it is answered.
func BenchmarkPipeLineEdit(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %d of the file\n", i)
	}
	c := dial(b, map[string]string{"big.txt": text.String()})
	review(b, c)
	n := 0
	for b.Loop() {
		at := n % 10_000
		word, other := "line", "LINE"
		if n/10_000%2 == 1 {
			word, other = other, word
		}
		n++
		_, err := c.Tool("edit_file", map[string]string{"path": "big.txt", "search": fmt.Sprintf("%s %d of", word, at), "replace": fmt.Sprintf("%s %d of", other, at)})
		must(b, err)
	}
}
