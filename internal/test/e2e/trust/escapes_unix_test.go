//go:build unix

package trust_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestEscapes tries the paths that lead out of the workspace, or to what
// nobody may write, with every tool that fits, through the whole server in the
// mode that asks least. Nothing from outside is read, nothing outside changes.
func TestEscapes(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
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
	data, err := os.ReadFile("../../../files/workspace/testdata/path-escape.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	fixture := func(t *testing.T) *e2e.Rig {
		top := t.TempDir()
		buildFixture(t, top, file.Fixture.Ops)
		r := e2e.Connect(t, filepath.Join(top, "ws"), fakeeditor.Options{})
		r.Mode("autonomous")
		return r
	}
	shared := fixture(t) // for what changes nothing
	allowed, refused := 0, 0
	for _, c := range file.Cases {
		if c.Category == "race" {
			continue // internal/files/workspace races renames against the disk itself
		}
		t.Run(c.ID+" "+c.Category, func(t *testing.T) {
			r := shared
			if c.Op != "read" && c.Op != "list" {
				r = fixture(t)
			}
			r.T = t
			top := filepath.Dir(r.Dir)
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
			res := r.Tool(tool, args)
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
			err = ownfile.MkdirAll(name, 0o755)
		case "file":
			e2e.Write(t, name, op.Text)
		case "symlink":
			err = ownfile.Symlink(strings.ReplaceAll(op.Target, "${T}", top), name)
		case "fifo":
			err = syscall.Mkfifo(name, 0o644)
		case "hardlink":
			err = ownfile.Link(filepath.Join(top, op.Target), name)
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
