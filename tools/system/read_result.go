package system

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Pager keeps the whole text of results that were cut.
type Pager interface {
	// PageInResult returns what follows cursor, as much as a result of at most so
	// many bytes has room for. It fails with tools.ExpiredCursor for a cursor that is
	// unknown or too old.
	PageInResult(cursor string, most int) (tools.Page, error)
}

//go:embed read_result.md
var readResultText string

type readResultIn struct {
	Cursor string `json:"cursor" jsonschema:"cursor from a cut result or from the page before" minLength:"1" maxLength:"200"`
}

// pageInfo is the structured result of read_result.
type pageInfo struct {
	HasMore    bool   `json:"hasMore" jsonschema:"there is a page after this one"`
	NextCursor string `json:"nextCursor" jsonschema:"of that page"`
	TotalBytes int    `json:"totalBytes" jsonschema:"of the whole result"`
}

func readResult(pager Pager) *tools.Tool {
	d := tools.Def{Name: "read_result", Title: "Next page of a result", Example: `{"cursor": "c4f1"}`, Description: readResultText, Category: "system", Core: true, Output: pageInfo{}}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in readResultIn) (tools.Result, error) {
		p, err := pager.PageInResult(in.Cursor, c.Most)
		if err != nil {
			return tools.Result{}, err
		}
		text := p.Content
		if p.Next != "" {
			text += fmt.Sprintf("\n[%d of %d bytes follow; cursor %q reads on]", p.LeftBytes, p.TotalBytes, p.Next)
		}
		return tools.Result{
			Text:       text,
			Structured: pageInfo{NextCursor: p.Next, HasMore: p.Next != "", TotalBytes: p.TotalBytes},
		}, nil
	})
}
