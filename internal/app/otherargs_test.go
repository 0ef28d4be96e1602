package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// An argument that another agent's tool has under another name, and with the same meaning,
// is taken; one that means something else is refused.
func TestArgumentsOfOthers(t *testing.T) {
	reg := tools.NewRegistry(tools.RegistryOptions{})
	if err := reg.Register(tools.Builtin, all(t)...); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ tool, args, want string }{ // "": it is refused
		{"run_command", `{"cmd":"ls"}`, `{"command":"ls"}`},
		{"run_command", `{"command":"ls","run_in_background":true}`, `{"command":"ls","background":true}`},
		{"run_command", `{"cmd":"ls","command":"pwd"}`, ""},
		{"run_command", `{"command":"ls","cmd":"pwd"}`, ""},
		{"run_command", `{"command":"ls","timeout":1000}`, ""},
		{"read_file", `{"file_path":"a.go"}`, `{"path":"a.go"}`},
		{"read_file", `{"filePath":"a.go","limit":null}`, `{"path":"a.go"}`},
		{"read_file", `{"file_path":null}`, ""},
		{"write_file", `{"file_path":"a","file_text":"x"}`, `{"path":"a","content":"x"}`},
		{"edit_file", `{"file_path":"a","old_string":"x","new_string":"y"}`, `{"path":"a","search":"x","replace":"y"}`},
		{"edit_file", `{"path":"a","old_str":"x","new_str":"y","replace_all":true}`, `{"path":"a","search":"x","replace":"y","occurrence":"all"}`},
		{"edit_file", `{"replace_all":true,"path":"a","search":"x","replace":"y"}`, `{"occurrence":"all","path":"a","search":"x","replace":"y"}`},
		{"edit_file", `{"replace_all":false,"path":"a","search":"x","replace":"y"}`, `{"path":"a","search":"x","replace":"y"}`},
		{"edit_file", `{"path":"a","replace_all":false,"search":"x","replace":"y"}`, `{"path":"a","search":"x","replace":"y"}`},
		{"edit_file", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y","replace_all":true}]}`, `{"path":"a","edits":[{"search":"x","replace":"y","occurrence":"all"}]}`},
		{"edit_file", `{"path":"a","search":"x","replace":"y","replace_all":"perhaps"}`, ""},
		{"write_todos", `{"todos":[{"content":"a","status":"in_progress"}]}`, `{"todos":[{"text":"a","state":"in_progress"}]}`},
		{"claim_complete", `{"summary":"done"}`, `{"rationale":"done"}`},
		{"spawn_agent", `{"prompt":"look","subagent_type":"x"}`, ""},
		{"spawn_agent", `{"prompt":"look"}`, `{"task":"look"}`},
		{"grep", `{"pattern":"x","glob":"*.go"}`, `{"pattern":"x","include":"*.go"}`},
		{"delete_file", `{"path":"a","cmd":"x"}`, ""},
	} {
		tool, _, ok := reg.Lookup(test.tool)
		if !ok {
			t.Fatalf("there is no %s", test.tool)
		}
		b, err := tool.Bind(json.RawMessage(test.args))
		if test.want == "" {
			if err == nil {
				t.Errorf("%s %s is taken for %s", test.tool, test.args, b.Args)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", test.tool, test.args, err)
			continue
		}
		want, err := tool.Bind(json.RawMessage(test.want))
		if err != nil {
			t.Fatal(err)
		}
		if got := canonical(t, b.Args); got != canonical(t, want.Args) {
			t.Errorf("%s %s is taken for %s", test.tool, test.args, got)
		}
		if !strings.Contains(strings.Join(b.Repairs, "; "), "read as") {
			t.Errorf("%s %s: it does not say so: %q", test.tool, test.args, b.Repairs)
		}
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
