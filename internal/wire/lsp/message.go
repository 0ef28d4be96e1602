package lsp

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"

	"github.com/sidecar-ls/sidecar-ls/internal/text/outline"
)

// message is a well-formed message. It aliases the frame, which nobody reuses.
type message struct {
	kind   jsonrpc2.MessageViewKind
	id     jsonrpc2.ID
	method string
	params json.RawMessage // nil when absent or null
	result json.RawMessage
	err    *Error // with kind MessageViewResponseError
}

// parse reads one message. All of the frame must be valid JSON with no name
// twice in one object, at any depth: no reader behind us may see another message
// than we did. Batches are not part of LSP and are invalid requests.
//
// On an error m.id is the id to answer to, as far as there is one, and m.kind
// says whether the message was meant as a reply.
func parse(frame []byte) (m message, bad *Error) {
	if !jsontext.Value(frame).IsValid(decodeOptions) {
		if !jsontext.Value(frame).IsValid(decodeOptions, jsontext.AllowDuplicateNames(true)) {
			var o outline.Outline
			if _, _ = o.Write(frame); o.Depth() > maxDepth {
				return outlined(&o), Errorf(InvalidRequest, "%.100s is nested %d deep, and at most %d is read", called(&o), o.Depth(), maxDepth)
			}
			return message{}, Errorf(ParseError, "the message is not valid JSON")
		}
		return malformed(frame), Errorf(InvalidRequest, "a member name comes twice")
	}
	view, err := jsonrpc2.ScanMessageView(frame)
	if err != nil {
		return malformed(frame), Errorf(InvalidRequest, "not a JSON-RPC 2.0 message")
	}
	id, ok := view.ID.ID()
	if !ok {
		return message{}, Errorf(InvalidRequest, "bad id")
	}
	m = message{kind: view.Kind, id: id, params: view.Params, result: view.Result}
	switch view.Kind {
	case jsonrpc2.MessageViewCall, jsonrpc2.MessageViewNotification:
		if m.method, ok = view.MethodString(); !ok {
			return message{id: id}, Errorf(InvalidRequest, "bad method")
		}
	case jsonrpc2.MessageViewResponseError:
		text, _ := view.Error.MessageString()
		m.err = &Error{Code: int64(view.Error.Code), Message: text, Data: view.Error.Data}
	}
	return m, nil
}

// malformed finds out what can be known of a message of the wrong shape.
func malformed(frame []byte) message {
	var head struct {
		ID     jsontext.Value `json:"id"`
		Method jsontext.Value `json:"method"`
		Result jsontext.Value `json:"result"`
		Error  jsontext.Value `json:"error"`
	}
	// With a name twice, the object is read up to there.
	_ = jsonv2.Unmarshal(frame, &head, decodeOptions)
	m := message{}
	var number int64
	var text string
	if jsonv2.Unmarshal(head.ID, &number) == nil && head.ID.Kind() == '0' {
		m.id = jsonrpc2.NewNumberID(number)
	} else if jsonv2.Unmarshal(head.ID, &text) == nil && head.ID.Kind() == '"' {
		m.id = jsonrpc2.NewStringID(text)
	}
	if head.Method == nil && (head.Result != nil || head.Error != nil) {
		m.kind = jsonrpc2.MessageViewResponseError
	}
	return m
}

// frame is a message on its way out.
type frame struct {
	buf bytes.Buffer // room for the header, and the body
}

// Frames that have been written are used again, so that a big result costs no
// growing of buffers every time.
var framePool = sync.Pool{New: func() any { return new(frame) }}

// maxPooled keeps one huge message from staying in memory for ever.
const maxPooled = 4 << 20

// newFrame returns a frame with room for a header.
func newFrame() *frame {
	f := framePool.Get().(*frame)
	f.buf.Reset()
	var room [headerRoom]byte
	f.buf.Write(room[:])
	return f
}

func (f *frame) free() {
	if f.buf.Cap() <= maxPooled {
		framePool.Put(f)
	}
}

// body is the whole message.
func (f *frame) body() []byte {
	return f.buf.Bytes()[headerRoom:]
}

// resultFrame encodes a reply with a result. The result is encoded where the
// envelope has its null, without a copy in between.
func resultFrame(id jsonrpc2.ID, result any) (*frame, error) {
	f := newFrame()
	f.buf.Write(jsonrpc2.AppendResponse(f.buf.AvailableBuffer(), id, nil, nil))
	f.buf.Truncate(f.buf.Len() - len("null}"))
	if err := marshalTo(&f.buf, result); err != nil {
		f.free()
		return nil, err
	}
	f.buf.WriteByte('}')
	return f, nil
}

// errorFrame encodes a reply with an error.
func errorFrame(id jsonrpc2.ID, err *Error) *frame {
	f := newFrame()
	f.buf.Write(jsonrpc2.AppendResponse(f.buf.AvailableBuffer(), id, nil, &jsonrpc2.Error{
		Code:    jsonrpc2.Code(err.Code),
		Message: strings.ToValidUTF8(err.Message, "\uFFFD"),
		Data:    jsonrpc2.RawMessage(err.Data),
	}))
	return f
}

// requestFrame encodes a request, or a notification when id is the zero ID.
func requestFrame(id jsonrpc2.ID, method string, params any) (*frame, error) {
	var raw jsonrpc2.RawMessage
	if params != nil {
		var err error
		if raw, err = marshal(params); err != nil {
			return nil, err
		}
	}
	f := newFrame()
	if id.IsValid() {
		f.buf.Write(jsonrpc2.AppendCall(f.buf.AvailableBuffer(), id, method, raw))
	} else {
		f.buf.Write(jsonrpc2.AppendNotification(f.buf.AvailableBuffer(), method, raw))
	}
	return f, nil
}
