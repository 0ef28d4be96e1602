package dispatch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// RealName implements workspace.Files: every name below to/ is a link to the
// rest of it.
func (m *memory) RealName(name string) (string, error) { return strings.TrimPrefix(name, "to/"), nil }

// Folding implements workspace.Files: each spelling is a file of its own.
func (m *memory) Folding(string) workspace.Folding { return workspace.Folding{} }

// Base implements workspace.Files: there is no disk.
func (m *memory) Base() (*workspace.Disk, []string) { return nil, nil }

func TestEditsThroughLinks(t *testing.T) {
	yes := says(Answer{Allow: true})
	for name, c := range map[string]struct {
		mode, path string
		asked      int
		want       tools.Code
		changed    string
	}{
		"never is never":                 {"autonomous", "to/.git/hooks/pre-commit", 0, tools.ProtectedPath, ""},
		"never is never in review":       {"review", "to/.git/hooks/pre-commit", 0, tools.ProtectedPath, ""},
		"protected asks":                 {"autonomous", "to/.vscode/tasks.json", 1, "", ".vscode/tasks.json"},
		"protected asks in review":       {"review", "to/.vscode/tasks.json", 1, "", ".vscode/tasks.json"},
		"the file changes, not the link": {"autonomous", "to/b.txt", 0, "", "b.txt"},
		"the file is held for review":    {"review", "to/b.txt", 0, "", "b.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.mode)
			r.person.answer = yes
			res := r.call(t, "put", fmt.Sprintf(`{"path":%q,"text":"x"}`, c.path))
			if code(res) != c.want || len(r.person.asked) != c.asked {
				t.Fatalf("code %q, asked %d (%s); want %q, %d", code(res), len(r.person.asked), res.Content, c.want, c.asked)
			}
			changed := ""
			for _, ch := range res.Changes {
				changed += ch.Path
			}
			if changed != c.changed {
				t.Fatalf("changed %q, want %q", changed, c.changed)
			}
		})
	}
}

func TestExplainLooksThroughLinks(t *testing.T) {
	r := newRig(t, "autonomous")
	e, err := r.Explain(t.Context(), Request{Name: "put", Arguments: []byte(`{"path":"to/.git/config","text":"x"}`)})
	if err != nil || e.Decision != policy.Deny || e.Rule != "path.never" {
		t.Fatalf("%+v, %v", e, err)
	}
}

// A page that a tool returns must not be cut again.
func TestPageInResultFits(t *testing.T) {
	r := newRig(t, "cautious")
	res := r.call(t, "long", `{}`)
	for _, limit := range []int{r.settings.ResultBytes, r.settings.ResultBytes / 2} {
		pg, err := r.PageInResult(res.Truncated.Cursor, limit)
		if err != nil || pg.Next == "" {
			t.Fatalf("page %+v, %v", pg, err)
		}
		if most := limit * 3 / 4; len(pg.Content) > most-100 || len(pg.Content) < most/3 {
			t.Fatalf("%d bytes, want at most %d and room for a line", len(pg.Content), most)
		}
	}
}

// Who asks for a shorter result gets one; nobody gets a longer one.
func TestMost(t *testing.T) {
	r := newRig(t, "cautious")
	for most, want := range map[int]int{0: r.settings.ResultBytes, 1000: 1000, r.settings.ResultBytes * 2: r.settings.ResultBytes} {
		res, err := r.Call(t.Context(), Request{Name: "long", Arguments: json.RawMessage(`{}`), Most: most})
		if err != nil || len(res.Content) > want || len(res.Content) < want/2 {
			t.Errorf("most %d: %d bytes, %v", most, len(res.Content), err)
		}
	}
}

func TestNoMemberOfAResultIsMissing(t *testing.T) {
	r := newRig(t, "autonomous")
	for _, c := range [][2]string{{"look", `{"path":"a.txt"}`}, {"look", `{}`}, {"nope", `{}`}, {"put", `{"path":"a.txt"}`}, {"put", `{"path":".git/x","text":"x"}`}, {"sh", `{"line":"panic"}`}} {
		data, err := json.Marshal(r.call(t, c[0], c[1]))
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{`"callId":"`, `"tool":"`, `"ok":`, `"content":"`, `"changes":[`, `"outcome":"`, `"by":"`, `"rule":"`, `"durationMs":`, `"approvalMs":`, `"attempts":`} {
			if !strings.Contains(string(data), member) {
				t.Errorf("%s %s: no %s in %s", c[0], c[1], member, data)
			}
		}
	}
}
