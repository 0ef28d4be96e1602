package fs

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// project makes a view of a directory with the given files. A name that ends
// in / is a directory.
func project(t testing.TB, files map[string]string) *tools.Call {
	t.Helper()
	return projectIn(t, t.TempDir(), workspace.DiskOptions{}, files)
}

// projectIn is project in a directory, with options for its disk.
func projectIn(t testing.TB, dir string, o workspace.DiskOptions, files map[string]string) *tools.Call {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := ownfile.MkdirAll(p, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := ownfile.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "root", Dir: dir}}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return &tools.Call{ID: "1", Files: disk}
}

// run calls a tool as dispatch does, with its arguments as JSON.
func run(t testing.TB, c *tools.Call, tool, args string) (tools.Result, []workspace.Change, error) {
	t.Helper()
	return runWith(t, Deps{}, c, tool, args)
}

func runWith(t testing.TB, d Deps, c *tools.Call, tool, args string) (tools.Result, []workspace.Change, error) {
	t.Helper()
	for _, tl := range Tools(d) {
		if tl.Name == tool {
			b, err := tl.Bind(json.RawMessage(args))
			if err != nil {
				return tools.Result{}, nil, err
			}
			r, changes, err := b.Run(t.Context(), c)
			tooltest.Fits(t, tl, r, err)
			return r, changes, err
		}
	}
	t.Fatalf("no tool %s", tool)
	return tools.Result{}, nil, nil
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// wantError checks an error's code and that its text has all parts.
func wantError(t testing.TB, err error, code tools.Code, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", code)
	}
	e := tools.AsError(err)
	if e.Code != code {
		t.Errorf("code %s, want %s: %s", e.Code, code, e.Message)
	}
	for _, p := range parts {
		if !strings.Contains(e.Message, p) {
			t.Errorf("%q is not in: %s", p, e.Message)
		}
	}
}

// edited makes one edit in text and returns what becomes of it.
func edited(t testing.TB, text string, args map[string]any) (string, tools.Result, error) {
	t.Helper()
	c := project(t, map[string]string{"f.txt": text})
	args["path"] = "f.txt"
	res, changes, err := run(t, c, "edit_file", encoded(t, args))
	if err != nil {
		return "", res, err
	}
	switch len(changes) {
	case 0:
		return text, res, nil
	case 1:
		if string(changes[0].Before) != text {
			t.Errorf("Before is %q, want the file's bytes", changes[0].Before)
		}
		return string(changes[0].After), res, nil
	}
	t.Fatalf("%d changes, want one", len(changes))
	return "", res, nil
}

// TestDefinitions keeps the descriptions short: they are paid for on every turn.
func TestDefinitions(t *testing.T) {
	total := 0
	for _, tl := range Tools(Deps{}) {
		size := len(tl.Description) + len(tl.InputSchema())
		total += size
		t.Logf("%-15s %4d bytes described, %4d with schema", tl.Name, len(tl.Description), size)
		if len(tl.Description) > 500 {
			t.Errorf("%s: description has %d bytes, want at most 500", tl.Name, len(tl.Description))
		}
	}
	t.Logf("together %d bytes", total)
	if total > 10_000 {
		t.Errorf("definitions have %d bytes, want at most 10000", total)
	}
}

func TestCancelled(t *testing.T) {
	c := project(t, map[string]string{"f.txt": "x\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, r := "x", "y"
	if _, _, err := editFile(ctx, c, EditFileArgs{Path: "f.txt", Search: &s, Replace: &r}); err == nil {
		t.Error("edit_file went on after cancel")
	}
	if _, err := listDirectory(ctx, c, ListDirectoryArgs{Path: "."}); err == nil {
		t.Error("list_directory went on after cancel")
	}
}

// TestBehaviours: each fixture shows one behaviour of a tool.
func TestBehaviours(t *testing.T) {
	tooltest.Run(t, "testdata/behaviour", Tools(Deps{}))
}
