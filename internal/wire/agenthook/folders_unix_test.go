//go:build unix

package agenthook

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolders: what is in any folder of the workspace is the workspace's, and a command runs
// with all of them.
func TestFolders(t *testing.T) {
	api, web, out := t.TempDir(), t.TempDir(), t.TempDir()
	o := Options{Roots: []string{api, web}, Self: "/opt/sidecar-ls", Gate: func(context.Context, Wish) (Verdict, error) { return Verdict{Decision: Allow}, nil }, Getenv: func(string) string { return "" }}
	answer := func(tool string, args map[string]string) string {
		t.Helper()
		in, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": args, "cwd": api, "session_id": "s", "tool_use_id": "u"})
		if err != nil {
			t.Fatal(err)
		}
		call, err := Read("claude", in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := call.Answer(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	for dir, want := range map[string]string{api: "edited with our tools", web: "edited with our tools", out: "is not in the workspace"} {
		if got := answer("Write", map[string]string{"file_path": filepath.Join(dir, "a.txt"), "content": "x"}); !strings.Contains(got, want) {
			t.Errorf("in %s it answers %s, want %q", dir, got, want)
		}
	}
	if got := answer("Bash", map[string]string{"command": "ls"}); !strings.Contains(got, "run --root "+api+" --root "+web+" --session") {
		t.Errorf("the command is %s", got)
	}
}
