package lsp

import (
	"cmp"

	"go.lsp.dev/jsonrpc2"

	"github.com/sidecar-ls/sidecar-ls/internal/text/outline"
)

// maxDepth is how deep arrays and objects of a message may be nested. The
// decoder has the same bound.
const maxDepth = 10_000

// outlined is the message of which only an outline is known.
func outlined(o *outline.Outline) message {
	m := malformed([]byte(`{"id":` + string(o.Member("id")) + `}`))
	if o.Replies() {
		m.kind = jsonrpc2.MessageViewResponseError
	}
	if Unmarshal(o.Member("method"), &m.method) != nil {
		m.method = ""
	}
	m.params = o.Beginning("params")
	return m
}

// called says which message it was, for people.
func called(o *outline.Outline) string { return cmp.Or(outlined(o).method, "a message") }
