package lsp

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
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

// frames that have been written are used again, so that a big result costs no
// growing of buffers every time.
var framePool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled keeps one huge message from staying in memory for ever.
const maxPooled = 4 << 20

// newFrame returns a buffer with room for a header.
func newFrame() *bytes.Buffer {
	buf := framePool.Get().(*bytes.Buffer)
	buf.Reset()
	var room [headerRoom]byte
	buf.Write(room[:])
	return buf
}

func freeFrame(buf *bytes.Buffer) {
	if buf.Cap() <= maxPooled {
		framePool.Put(buf)
	}
}

// resultFrame encodes a reply with a result. The result is encoded where the
// envelope has its null, without a copy in between.
func resultFrame(id jsonrpc2.ID, result any) (*bytes.Buffer, error) {
	buf := newFrame()
	buf.Write(jsonrpc2.AppendResponse(buf.AvailableBuffer(), id, nil, nil))
	buf.Truncate(buf.Len() - len("null}"))
	if err := marshalTo(buf, result); err != nil {
		freeFrame(buf)
		return nil, err
	}
	buf.WriteByte('}')
	return buf, nil
}

// errorFrame encodes a reply with an error.
func errorFrame(id jsonrpc2.ID, err *Error) *bytes.Buffer {
	buf := newFrame()
	buf.Write(jsonrpc2.AppendResponse(buf.AvailableBuffer(), id, nil, &jsonrpc2.Error{
		Code:    jsonrpc2.Code(err.Code),
		Message: strings.ToValidUTF8(err.Message, "\uFFFD"),
		Data:    jsonrpc2.RawMessage(err.Data),
	}))
	return buf
}

// requestFrame encodes a request, or a notification when id is the zero ID.
func requestFrame(id jsonrpc2.ID, method string, params any) (*bytes.Buffer, error) {
	var raw jsonrpc2.RawMessage
	if params != nil {
		var err error
		if raw, err = marshal(params); err != nil {
			return nil, err
		}
	}
	buf := newFrame()
	if id.IsValid() {
		buf.Write(jsonrpc2.AppendCall(buf.AvailableBuffer(), id, method, raw))
	} else {
		buf.Write(jsonrpc2.AppendNotification(buf.AvailableBuffer(), method, raw))
	}
	return buf, nil
}
