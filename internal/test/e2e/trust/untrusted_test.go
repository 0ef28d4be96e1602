package trust_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// In a workspace that its user does not trust tools only read, whatever mode
// and permissions say; nobody is asked about the others. The same calls work
// once it is trusted.
func TestUntrustedWorkspace(t *testing.T) {
	e2e.Home(t)
	for _, trust := range []string{"untrusted", "trusted"} {
		t.Run(trust, func(t *testing.T) {
			dir := e2e.Project(t, map[string]string{"a.txt": "one\n", ".sidecar/settings.json": `{"workspace.trust": "trusted"}`})
			var asked atomic.Int32
			r := e2e.Connect(t, dir, fakeeditor.Options{
				InitializationOptions: map[string]any{"sidecar": map[string]any{
					"workspace.trust": trust, "mode": "autonomous", "toolPermissions": map[string]string{"write_file": "allow", "git_stage": "allow"},
				}},
			})
			r.Answer("window/showMessageRequest", func(context.Context, json.RawMessage) (any, error) {
				asked.Add(1)
				return map[string]string{"title": "Allow"}, nil
			})
			for tool, args := range map[string]e2e.Object{
				"read_file": {"path": "a.txt"}, "grep": {"pattern": "one"}, "list_directory": {}, "get_setting": {"key": "mode"},
			} {
				if res := r.Tool(tool, args); !res.OK {
					t.Errorf("%s: %+v", tool, res)
				}
			}
			for _, mode := range []string{"autonomous", "review"} {
				r.Mode(mode)
				for tool, args := range map[string]e2e.Object{
					"write_file":  {"path": mode + ".txt", "content": "made\n"},
					"delete_file": {"path": "a.txt"},
					"run_command": {"command": "true"},
					"code_exec":   {"language": "python", "code": "print(1)"},
				} {
					res := r.Tool(tool, args)
					if denied := res.Error.Code == tools.Denied; denied != (trust == "untrusted") {
						t.Errorf("%s in the mode %s: %+v", tool, mode, res)
					}
				}
			}
			_, err := os.Stat(filepath.Join(dir, "autonomous.txt"))
			if made := err == nil; made != (trust == "trusted") {
				t.Errorf("a file was made: %v", made)
			}
			if n := asked.Load(); (n > 0) != (trust == "trusted") {
				t.Errorf("%d questions", n)
			}
		})
	}
}
