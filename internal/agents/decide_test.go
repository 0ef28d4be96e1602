package agents

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// TestOurs: our tools are known by the names that agents give them when they ask.
func TestOurs(t *testing.T) {
	for _, call := range []acp.ToolCall{
		{ID: "1", Title: "mcp__sidecar__write_file"},
		{ID: "1", Title: "Write", Name: "mcp__sidecar__write_file"},
		{ID: "1", Title: "mcp.sidecar.write_file", Kind: "execute"},
		{ID: "1", Title: "sidecar_write_file"},
		{ID: "mcp_sidecar_run_command__1", Title: "make install"},
	} {
		if !ours(call) {
			t.Errorf("%+v is not known", call)
		}
	}
	for _, call := range []acp.ToolCall{
		{ID: "1", Title: "sidecar_x=1; make install", Kind: "execute"}, {ID: "1", Title: "mcp__sidecar__read_file > a", Kind: "execute"},
		{ID: "1", Title: "mcp__other__write_file"}, {ID: "1", Title: "mcp.sidecars.write_file"}, {ID: "sidecar_1", Title: "make install", Kind: "execute"}, {ID: "1", Title: "write_file (sidecar MCP Server)"},
	} {
		if ours(call) {
			t.Errorf("%+v is taken for one of ours", call)
		}
	}
}

// TestTouched: the files of places and of diffs count, and one that has no name.
func TestTouched(t *testing.T) {
	call := acp.ToolCall{Locations: []acp.Location{{Path: "/a"}}, Content: []acp.ToolContent{
		{Type: acp.ShowsDiff, Path: "/to"}, {Type: acp.ShowsContent}, {Type: acp.ShowsDiff},
	}}
	if got := touched(call); !slices.Equal(got, []string{"/a", "/to", ""}) {
		t.Errorf("it touches %q", got)
	}
}

// TestCommand: the command line is in the input, or is the title where there is none.
func TestCommand(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                       "title",
		`{"command": "make"}`:                    "make",
		`{"cmd": "make"}`:                        "make",
		`{"command": ["bash", "-lc", "make x"]}`: "make x",
		`{"command": ["make", "a b"]}`:           "make 'a b'",
		`{"description": "no command"}`:          "",
		`[]`:                                     "",
	} {
		call := acp.ToolCall{Title: "title"}
		if raw != "" {
			call.RawInput = json.RawMessage(raw)
		}
		if got := command(call); got != want {
			t.Errorf("%s is %q, want %q", raw, got, want)
		}
	}
}
