package system

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type pages map[string]tools.Page

func (p pages) PageInResult(cursor string, _ int) (tools.Page, error) {
	page, ok := p[cursor]
	if !ok {
		return tools.Page{}, tools.Errorf(tools.ExpiredCursor, "call the tool again")
	}
	return page, nil
}

func TestReadResult(t *testing.T) {
	tool := readResult(pages{"a.5": {Content: "five\n", Next: "a.10", LeftBytes: 4, TotalBytes: 14}, "a.10": {Content: "last", TotalBytes: 14}})
	for args, want := range map[string]string{
		`{"cursor":"a.5"}`:  "five\n\n[4 of 14 bytes follow; cursor \"a.10\" reads on]",
		`{"cursor":"a.10"}`: "last",
		`{"cursor":"b.1"}`:  "expired_cursor",
		`{"cursor":""}`:     "invalid_arguments",
		`{}`:                "invalid_arguments",
	} {
		if d := cmp.Diff(want, call(t, tool, args)); d != "" {
			t.Errorf("%s -want +got:\n%s", args, d)
		}
	}
}

func call(t *testing.T, tool *tools.Tool, args string) string {
	t.Helper()
	b, err := tool.Bind(json.RawMessage(args))
	if err == nil {
		var r tools.Result
		r, _, err = b.Run(t.Context(), &tools.Call{})
		tooltest.Fits(t, tool, r, err)
		if err == nil {
			return r.Text
		}
	}
	return string(tools.AsError(err).Code)
}

func TestRules(t *testing.T) { tooltest.Rules(t, Tools(Deps{})) }

// catalog has a tool that is listed and one that is not, and denies a third.
type catalog []tools.Found

func (c catalog) Search(_, question string) ([]tools.Found, error) {
	var found []tools.Found
	for _, f := range c {
		if strings.Contains(f.Name, question) {
			found = append(found, f)
		}
	}
	return found, nil
}

func (c catalog) Activate(_, name string) (*tools.Tool, error) {
	for _, f := range c {
		if f.Name == name {
			return f.Tool, nil
		}
	}
	if name == "git_secret" {
		return nil, tools.Errorf(tools.Denied, "git_secret is denied")
	}
	return nil, tools.Errorf(tools.UnknownTool, "there is no tool %s", name)
}

func TestToolSearch(t *testing.T) {
	named := func(name string) *tools.Tool {
		return tools.NewRead(tools.Def{Name: name, Description: "Does " + name + "."}, func(context.Context, *tools.Call, struct{}) (tools.Result, error) {
			return tools.Result{}, nil
		})
	}
	tool := toolSearch(catalog{{Tool: named("git_status"), Listed: true}, {Tool: named("git_push")}, {Tool: named("git_pull")}})
	const schema = `{"type":"object","properties":{},"additionalProperties":false}`
	const all = "git_status: Does git_status\ngit_push: Does git_push\ngit_pull: Does git_pull\n\nTo call one that is not in your list, activate it by name."
	for args, want := range map[string]string{
		`{"query":"git"}`:           "git_push: Does git_push.\n\ngit_pull: Does git_pull.\n\nTo call a tool, activate it by name: that says its arguments and puts it into your list.\nIn your list already: git_status",
		`{"query":"git","limit":1}`: "git_push: Does git_push.\n\nTo call a tool, activate it by name: that says its arguments and puts it into your list.\n2 more fit; a higher limit shows them.",
		`{"query":"status"}`:        "No tool fits that you don't have.\nIn your list already: git_status",
		`{"query":"nothing"}`:       "No tool fits. Try other words for what you want to do.",
		`{"name":"git_push"}`:       "git_push is active: Does git_push.\nArguments: " + schema,
		`{"name":"git_push","names":["git_pull","git_push","git_secret"],"query":"x"}`: "git_push is active: Does git_push.\nArguments: " + schema + "\n\ngit_pull is active: Does git_pull.\nArguments: " + schema + "\n\nNot activated: git_secret is denied",
		`{"name":"nope"}`:                 "unknown_tool",
		`{"names":["nope","git_secret"]}`: "unknown_tool",
		`{"name":"git_secret"}`:           "denied",
		`{"query":"  "}`:                  all,
		`{"query":"","name":""}`:          all,
		`{"names":[]}`:                    all,
		`{}`:                              all,
		`{"query":"git","limit":0}`:       "invalid_arguments",
		`{"query":"git","limit":51}`:      "invalid_arguments",
		`{"query":7}`:                     "invalid_arguments",
		`{"names":"git_push"}`:            "git_push is active: Does git_push.\nArguments: " + schema,
	} {
		if d := cmp.Diff(want, call(t, tool, args)); d != "" {
			t.Errorf("%s -want +got:\n%s", args, d)
		}
	}
}
