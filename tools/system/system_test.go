package system

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type pages map[string]Page

func (p pages) Page(cursor string) (Page, error) {
	page, ok := p[cursor]
	if !ok {
		return Page{}, tools.Errorf(tools.ExpiredCursor, "call the tool again")
	}
	return page, nil
}

func TestReadResult(t *testing.T) {
	tool := Tools(pages{"a.5": {Content: "five\n", Next: "a.10", LeftBytes: 4, TotalBytes: 14}, "a.10": {Content: "last", TotalBytes: 14}})[0]
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
		if r, _, err = b.Run(t.Context(), &tools.Call{}); err == nil {
			return r.Text
		}
	}
	return string(tools.AsError(err).Code)
}

func TestRules(t *testing.T) { tooltest.Rules(t, Tools(pages{})) }
