package hooks

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var update = flag.Bool("update", false, "write what docs/hooks.md says of the code")

// table is the table of events as docs/hooks.md has it.
func table() string {
	var b strings.Builder
	b.WriteString("| event | when | a matcher is for | told besides | an answer can |\n|---|---|---|---|---|\n")
	for _, r := range Events() {
		fields := "–"
		if len(r.Fields) > 0 {
			fields = "`" + strings.Join(r.Fields, "`, `") + "`"
		}
		matcher := r.Matcher
		if matcher == "" {
			matcher = "–"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.Event, r.When, matcher, fields, r.Can)
	}
	return b.String()
}

// TestDocs: docs/hooks.md has the table of events of the code, and its example runs.
func TestDocs(t *testing.T) {
	const name = "../../../docs/hooks.md"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(data, []byte("<!-- events -->\n"))
	_, tail, ok2 := bytes.Cut(rest, []byte("<!-- end -->"))
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", name)
	}
	want := fmt.Sprintf("%s<!-- events -->\n%s<!-- end -->%s", head, table(), tail)
	if *update {
		if err := ownfile.Update(name, []byte(want)); err != nil {
			t.Fatal(err)
		}
	} else if want != string(data) {
		t.Error("the table of events is not that of the code; go test ./internal/rules/hooks -run Docs -update writes it")
	}

	_, example, _ := bytes.Cut(data, []byte("```json\n"))
	example, _, _ = bytes.Cut(example, []byte("```"))
	var settings struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(example, &settings); err != nil {
		t.Fatalf("the example is no JSON: %v", err)
	}
	list, problems := Parse(settings.Hooks, Hook{Origin: "example"})
	if len(list) == 0 || len(problems) > 0 {
		t.Fatalf("the example: %v, %q", list, problems)
	}
	_, script, _ := bytes.Cut(data, []byte("```sh\n"))
	script, _, _ = bytes.Cut(script, []byte("```"))
	r := newRig(t, Hook{Command: string(script), Matcher: list[0].Matcher})
	run := func(line string) Outcome {
		input, _ := json.Marshal(map[string]string{"command": line})
		return r.Run(t.Context(), Input{Event: PreToolUse, Dir: r.dir, Tool: input}, "Bash", "run_command")
	}
	if o := run("git push --force origin main"); o.Decision != Deny || !strings.Contains(o.Reason, "force") {
		t.Errorf("the example does not deny: %+v, %+v", o, r.ran)
	}
	if o := run("git push origin main"); o.Decision != "" || r.ran[len(r.ran)-1].Failure != "" {
		t.Errorf("the control: %+v, %+v", o, r.ran)
	}
}

// TestFields: each field that the table names is a member of what a hook is told.
func TestFields(t *testing.T) {
	members := map[string]bool{}
	for i := range reflect.TypeFor[Input]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[Input]().Field(i).Tag.Get("json"), ",")
		members[name] = true
	}
	for _, r := range Events() {
		for _, f := range r.Fields {
			if !members[f] {
				t.Errorf("%s: a hook is told no %s", r.Event, f)
			}
		}
	}
}
