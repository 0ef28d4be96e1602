package acp

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// Envelope is one JSON-RPC message.
type Envelope struct {
	ID     json.RawMessage // nil for a notification
	Method string
	Params json.RawMessage
	Reply  bool // it answers the request ID, with Result or Err
	Result json.RawMessage
	Err    *Error
	Line   []byte // as it came, without the line end
}

// Reader reads messages, one on a line. It is for either side of a connection.
type Reader struct{ lines lineReader }

// NewReader reads lines of at most so many bytes.
func NewReader(r io.Reader, most int) *Reader {
	return &Reader{lineReader{bufio.NewReaderSize(r, 64<<10), most}}
}

// Next returns the next message. With an *Error, what came is no message that can be
// used, the Envelope holds what can be told of it, and the next call goes on. Any other
// error is the end.
func (r *Reader) Next() (Envelope, error) {
	line, err := r.lines.next()
	var long *longLine
	switch {
	case errors.As(err, &long):
		return told(long.message, nil), Errorf(CodeInvalidRequest, "%s", long)
	case err != nil:
		return Envelope{}, err
	case line[0] == '[':
		return Envelope{}, Errorf(CodeInvalidRequest, "batches are not part of the protocol: send one message a line")
	}
	m, bad := parse(line)
	if bad != nil {
		return told(m, line), bad
	}
	return told(m, line), nil
}

func told(m message, line []byte) Envelope {
	return Envelope{ID: m.id, Method: m.method, Params: m.params, Reply: m.reply, Result: m.result, Err: m.err, Line: line}
}
