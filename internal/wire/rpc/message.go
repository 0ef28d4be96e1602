package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
)

// Error codes of JSON-RPC.
const (
	ParseError     = int64(jsonrpc2.ParseError)
	InvalidRequest = int64(jsonrpc2.InvalidRequest)
	MethodNotFound = int64(jsonrpc2.MethodNotFound)
	InvalidParams  = int64(jsonrpc2.InvalidParams)
	InternalError  = int64(jsonrpc2.InternalError)
)

// Error is a JSON-RPC error: of a reply that came, or to answer with.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	// remote is the method whose reply this is. Such an error is never passed
	// on as our own: a peer's "method not found" would read as ours.
	remote string
	frame  bool // it is of bytes that belong to no message
}

// Errorf makes an Error.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns the message, after the method when the peer sent it.
func (e *Error) Error() string {
	if e.remote != "" {
		return fmt.Sprintf("%s: %s (%d)", e.remote, e.Message, e.Code)
	}
	return e.Message
}

// Remote reports whether the peer has sent the error.
func (e *Error) Remote() bool { return e.remote != "" }

// ID is the id of a request. The zero value is none.
type ID struct {
	text   string // a string, or the JSON of a number that is no int64
	number int64
	kind   idKind
}

type idKind byte

const (
	idNone idKind = iota
	idNumber
	idString
	idOther // a number that goes back as it came
)

// TextID is an id that is a string.
func TextID(text string) ID { return ID{text: text, kind: idString} }

// numberID is the id n.
func numberID(n int64) ID { return ID{number: n, kind: idNumber} }

// readID reads the JSON of an id. What is neither a number nor a string is none.
func readID(raw []byte) ID {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return numberID(n)
	}
	var text string
	switch {
	case len(raw) == 0:
	case raw[0] == '"' && jsonv2.Unmarshal(raw, &text, decodeOptions) == nil:
		return TextID(text)
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return ID{text: string(raw), kind: idOther}
	}
	return ID{}
}

// integer is the id, unless it is a number that is none.
func (id ID) integer() ID {
	if id.kind == idOther {
		return ID{}
	}
	return id
}

// Valid reports whether there is an id.
func (id ID) Valid() bool { return id.kind != idNone }

// String is the JSON of the id.
func (id ID) String() string { return string(id.append(nil)) }

// MarshalJSON writes the id as it came.
func (id ID) MarshalJSON() ([]byte, error) { return id.append(nil), nil }

func (id ID) append(to []byte) []byte {
	switch id.kind {
	case idNumber:
		return strconv.AppendInt(to, id.number, 10)
	case idString:
		return appendText(to, id.text)
	case idOther:
		return append(to, id.text...)
	}
	return append(to, "null"...)
}

// appendText appends JSON of a text, in which U+FFFD replaces what is no UTF-8.
func appendText(to []byte, text string) []byte {
	to, _ = jsontext.AppendQuote(to, text)
	return to
}

// Message is one message, or what could be told of one that can't be used.
type Message struct {
	ID     ID
	Method string          // "" in a reply
	Params json.RawMessage // nil when absent
	Reply  bool            // it answers the request ID, with Result or Err
	Result json.RawMessage
	Err    *Error
	Raw    []byte // as it came
}

// Framing reads messages from a stream, and writes them in its form.
type Framing interface {
	// Next reads a message, which the caller owns. With an *Error, what came is no
	// message that can be used: the Message holds what can be told of it, and the
	// next call goes on. Any other error is the end, io.EOF one between messages.
	Next() (Message, error)
	// Close ends a read that is blocked, if the stream can be closed.
	Close()
	Encode(to *bytes.Buffer, v any) error
	Decode(data []byte, v any) error
	seal(buf *bytes.Buffer) []byte // adds what frames the message behind headerRoom
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

// newFrame returns a frame with room for a header, and the beginning of a message.
func newFrame() *frame {
	f := framePool.Get().(*frame)
	f.buf.Reset()
	var room [headerRoom]byte
	f.buf.Write(room[:])
	f.buf.WriteString(`{"jsonrpc":"2.0",`)
	return f
}

func (f *frame) free() {
	if f.buf.Cap() <= maxPooled {
		framePool.Put(f)
	}
}

func (f *frame) writeID(id ID) {
	f.buf.WriteString(`"id":`)
	f.buf.Write(id.append(f.buf.AvailableBuffer()))
}

// resultFrame encodes a reply with a result, without a copy in between.
func resultFrame(form Framing, id ID, result any) (*frame, error) {
	f := newFrame()
	f.writeID(id)
	f.buf.WriteString(`,"result":`)
	if err := form.Encode(&f.buf, result); err != nil {
		f.free()
		return nil, err
	}
	f.buf.WriteByte('}')
	return f, nil
}

// errorFrame encodes a reply with an error.
func errorFrame(id ID, e *Error) *frame {
	f := newFrame()
	f.writeID(id)
	f.buf.WriteString(`,"error":`)
	at := f.buf.Len()
	if jsonv2.MarshalWrite(&f.buf, e, encodeOptions) != nil { // its data is no JSON
		f.buf.Truncate(at)
		_ = jsonv2.MarshalWrite(&f.buf, &Error{Code: e.Code, Message: e.Message}, encodeOptions)
	}
	f.buf.WriteByte('}')
	return f
}

// requestFrame encodes a request, or a notification when there is no id. params nil are none.
func requestFrame(form Framing, id ID, method string, params any) (*frame, error) {
	f := newFrame()
	f.buf.WriteString(`"method":`)
	f.buf.Write(appendText(f.buf.AvailableBuffer(), method))
	if params != nil {
		f.buf.WriteString(`,"params":`)
		if err := form.Encode(&f.buf, params); err != nil {
			f.free()
			return nil, fmt.Errorf("writing %s: %w", method, err)
		}
	}
	if id.Valid() {
		f.buf.WriteByte(',')
		f.writeID(id)
	}
	f.buf.WriteByte('}')
	return f, nil
}
