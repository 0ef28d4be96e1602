package rpc

import (
	"bytes"
	"cmp"
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"

	"github.com/sidecar-ls/sidecar-ls/internal/text/outline"
)

// maxDepth is how deep arrays and objects of a message may be nested. The
// decoder has the same bound.
const maxDepth = 10_000

// parse reads one message. All of the frame must be valid JSON with no name
// twice in one object, at any depth: no reader behind us may see another message
// than we did. Batches are invalid requests. The message aliases the frame.
func parse(frame []byte) (m Message, bad *Error) {
	if !jsontext.Value(frame).IsValid(decodeOptions) {
		if !jsontext.Value(frame).IsValid(decodeOptions, jsontext.AllowDuplicateNames(true)) {
			var o outline.Outline
			if _, _ = o.Write(frame); o.Depth() > maxDepth {
				return outlined(&o), Errorf(InvalidRequest, "%.100s is nested %d deep, and at most %d is read", called(&o), o.Depth(), maxDepth)
			}
			return Message{}, Errorf(ParseError, "the message is not valid JSON")
		}
		return malformed(frame), Errorf(InvalidRequest, "a member name comes twice")
	}
	view, err := jsonrpc2.ScanMessageView(frame)
	if err != nil {
		return malformed(frame), Errorf(InvalidRequest, "not a JSON-RPC 2.0 message")
	}
	m = Message{Params: view.Params, Result: view.Result, Raw: frame}
	var ok bool
	switch {
	case view.ID.IsNumber():
		m.ID.number, _ = view.ID.Number()
		m.ID.kind = idNumber
	case view.ID.IsString():
		if m.ID.text, ok = view.ID.StringValue(); !ok {
			return Message{}, Errorf(InvalidRequest, "bad id")
		}
		m.ID.kind = idString
	}
	switch view.Kind {
	case jsonrpc2.MessageViewCall, jsonrpc2.MessageViewNotification:
		if m.Method, ok = view.MethodString(); !ok {
			return Message{ID: m.ID}, Errorf(InvalidRequest, "bad method")
		}
	case jsonrpc2.MessageViewResponseError:
		text, _ := view.Error.MessageString()
		m.Err = &Error{Code: int64(view.Error.Code), Message: text, Data: json.RawMessage(view.Error.Data)}
		m.Reply = true
	default:
		m.Reply = true
	}
	return m, nil
}

// malformed finds out what can be known of a message of the wrong shape.
func malformed(frame []byte) Message {
	var head struct {
		ID     jsontext.Value `json:"id"`
		Method jsontext.Value `json:"method"`
		Result jsontext.Value `json:"result"`
		Error  jsontext.Value `json:"error"`
	}
	// With a name twice, the object is read up to there.
	_ = jsonv2.Unmarshal(frame, &head, decodeOptions)
	return Message{ID: readID(head.ID).integer(), Reply: head.Method == nil && (head.Result != nil || head.Error != nil)}
}

// outlined is the message of which only an outline is known.
func outlined(o *outline.Outline) Message {
	m := Message{ID: readID(bytes.TrimSpace(o.Member("id"))), Reply: o.Replies(), Params: o.Beginning("params")}
	if Unmarshal(o.Member("method"), &m.Method) != nil {
		m.Method = ""
	}
	return m
}

// called says which message it was, for people.
func called(o *outline.Outline) string { return cmp.Or(outlined(o).Method, "a message") }
