package own_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestAgentPrompt: what `agent prompt` prints is what a model gets at the beginning of a
// run, beside an editor and without one, and without a model that could be asked.
func TestAgentPrompt(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n", "AGENTS.md": "Write in capitals.\n"})
	opening := func(args ...string) (o loop.Opening) {
		t.Helper()
		out, said, code := e2e.AgentLine(t, dir, "", append([]string{"prompt", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &o); err != nil || code != 0 {
			t.Fatalf("prompt: %d, %v\n%s%s", code, err, out, said)
		}
		return o
	}
	alone := opening("--mode", "plan")
	r := e2e.RunIn(t, dir) // a process of its own answers people
	before := opening("--mode", "plan")
	c := r.Agent("only plan", e2e.Object{"agent": "builtin", "mode": "plan"})
	turn := e2e.Next(t, model)
	after := opening("--mode", "plan") // it may be midnight
	turn.End()
	c.Stopped(1)

	var body struct {
		System []struct{ Text string }
		Tools  []struct {
			Name, Description string
			Schema            json.RawMessage `json:"input_schema"`
		}
	}
	if err := json.Unmarshal([]byte(turn.Body), &body); err != nil || len(body.System) != 1 {
		t.Fatalf("it was asked %s, %v", turn.Body, err)
	}
	if got := body.System[0].Text; got != before.System && got != after.System || !strings.Contains(got, "Write in capitals.") || !strings.Contains(got, "The mode is plan") {
		t.Errorf("its instructions are %q, not %q", got, before.System)
	}
	if alone.System != before.System && alone.System != after.System {
		t.Errorf("without an editor they are %q", alone.System)
	}
	for name, o := range map[string]loop.Opening{"alone": alone, "beside an editor": before} {
		if len(o.Tools) != len(body.Tools) {
			t.Fatalf("%s: %d tools, of which the model gets %d", name, len(o.Tools), len(body.Tools))
		}
		size := 0
		for i, tool := range o.Tools {
			got := body.Tools[i]
			if tool.Name != got.Name || tool.Description != got.Description || compact(t, tool.Schema) != compact(t, got.Schema) {
				t.Errorf("%s: the tool %d is %s, the model gets %s", name, i, tool.Name, got.Name)
			}
			size += len(tool.Name) + len(tool.Description) + len(compact(t, tool.Schema))
		}
		if p := o.Parts; len(p) != 3 || p[0].Bytes+p[1].Bytes != len(o.System) || !strings.HasSuffix(o.System[:p[0].Bytes+p[1].Bytes], "Write in capitals.") ||
			p[1].Bytes < len("Write in capitals.") || p[1].Bytes > 100 || p[2].Bytes != size || p[2].Tokens != int64(size+3)/4 {
			t.Errorf("%s: the parts are %+v, the tools have %d bytes", name, p, size)
		}
		if o.Profile != "played" || o.Model != "scripted" || o.NoModel != "" {
			t.Errorf("%s: it is for %q of %q, %q", name, o.Model, o.Profile, o.NoModel)
		}
	}
	if review := opening(); review.System == before.System || len(review.Tools) == 0 {
		t.Error("the mode makes no difference")
	}
	out, said, code := e2e.AgentLine(t, dir, "", "prompt", "--mode", "plan")
	sum := 0
	for _, p := range before.Parts {
		sum += p.Bytes
	}
	if want := fmt.Sprintf("\n%d bytes, about ", sum); code != 0 || !strings.Contains(out, before.System) && !strings.Contains(out, after.System) || !strings.Contains(out, want) || !strings.Contains(out, ", write_file") {
		t.Errorf("in words: %d, no %q in\n%s%s", code, want, out, said)
	}
	for want, args := range map[string]string{"NO_SUCH_KEY": "--model keyless", "there is no": "--model nobody", "nonesuch": "--mode nonesuch", "takes nothing": "x"} {
		if out, said, code := e2e.AgentLine(t, dir, "", append([]string{"prompt"}, strings.Fields(args)...)...); code == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: %d, %s%s", args, code, out, said)
		}
	}

	dir = e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"})
	if o := opening(); o.NoModel == "" || o.Model != "" || len(o.Tools) == 0 || o.Parts[1].Bytes != 0 || o.Parts[0].Bytes != len(o.System) {
		t.Errorf("without a model it is %+v", o)
	}
}

func compact(t *testing.T, schema json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, schema); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
