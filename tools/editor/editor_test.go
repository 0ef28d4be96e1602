package editor

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type script struct {
	asked  []Question
	answer string
	ok     bool
	err    error
}

func (s *script) Ask(_ context.Context, q Question) (string, bool, error) {
	s.asked = append(s.asked, q)
	return s.answer, s.ok, s.err
}

func TestAskUser(t *testing.T) {
	for _, c := range []struct {
		name   string
		people *script
		args   string
		want   string // text or error code
		asked  *Question
	}{
		{"an answer", &script{answer: "tabs", ok: true}, `{"question":"Tabs or blanks?","options":["tabs"," tabs ","","blanks"],"allow_custom":false}`, "tabs",
			&Question{CallID: "1", Session: "s", Text: "Tabs or blanks?", Options: []string{"tabs", "blanks"}}},
		{"own words are possible unless said", &script{answer: "x", ok: true}, `{"question":"Which?"}`, "x", &Question{CallID: "1", Session: "s", Text: "Which?", AllowCustom: true}},
		{"dismissed", &script{}, `{"question":"Which?"}`,
			"The user dismissed the question without an answer. Don't ask it again; go on by your best judgement and say in your answer what you assumed.", &Question{CallID: "1", Session: "s", Text: "Which?", AllowCustom: true}},
		{"no editor that can ask", &script{err: errors.New("the editor shows no questions")}, `{"question":"Which?"}`, "unavailable", &Question{CallID: "1", Session: "s", Text: "Which?", AllowCustom: true}},
		{"nobody", nil, `{"question":"Which?"}`, "unavailable", nil},
		{"no question", &script{}, `{}`, "invalid_arguments", nil},
		{"a blank question", &script{}, `{"question":" "}`, "invalid_arguments", nil},
		{"too many options", &script{}, `{"question":"q","options":["1","2","3","4","5","6"]}`, "invalid_arguments", nil},
		{"no way to answer", &script{}, `{"question":"q","allow_custom":false}`, "invalid_arguments", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var people People
			if c.people != nil {
				people = c.people
			}
			got := call(t, askUser(people), c.args)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if c.people == nil {
				return
			}
			var want []Question
			if c.asked != nil {
				want = []Question{*c.asked}
			}
			if d := cmp.Diff(want, c.people.asked); d != "" {
				t.Errorf("asked -want +got:\n%s", d)
			}
		})
	}
}

func call(t *testing.T, tool *tools.Tool, args string) string {
	t.Helper()
	b, err := tool.Bind(json.RawMessage(args))
	if err == nil {
		var r tools.Result
		r, _, err = b.Run(t.Context(), &tools.Call{ID: "1", Session: "s"})
		tooltest.Fits(t, tool, r, err)
		if err == nil {
			return r.Text
		}
	}
	return string(tools.AsError(err).Code)
}

func TestRules(t *testing.T) {
	tooltest.Rules(t, Tools(Deps{Servers: langserver.New(langserver.Options{})}))
}

// TestWhysOfServers: a reason that keeps several servers from looking is said once. The control
// keeps one.
func TestWhysOfServers(t *testing.T) {
	s := survey{unknown: []langserver.Report{
		{Name: "a.go", Err: &langserver.UnavailableError{Server: "gopls", Why: "the workspace is not trusted"}},
		{Name: "b.go", Err: &langserver.UnavailableError{Server: "gopls", Why: "the workspace is not trusted"}},
		{Name: "a.py", Err: &langserver.UnavailableError{Server: "pyright", Why: "the workspace is not trusted"}},
		{Name: "a.rs", Err: &langserver.UnavailableError{Server: "rust-analyzer", Why: "it is not installed"}},
	}}
	want := []unknownData{
		{Why: "gopls, pyright: the workspace is not trusted", Files: 3, Paths: []string{"a.go", "b.go", "a.py"}},
		{Why: "rust-analyzer: it is not installed", Files: 1, Paths: []string{"a.rs"}},
	}
	if d := cmp.Diff(want, s.whys()); d != "" {
		t.Error(d)
	}
}
