package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sidecar-ls/sidecar-ls/internal/text/outline"
)

// lineReader cuts a stream into lines of a bounded length.
type lineReader struct {
	r   *bufio.Reader
	max int
}

// longLine says that a line was over the limit and has been passed over.
type longLine struct {
	size, limit int
	message     message
}

func (e *longLine) Error() string {
	return fmt.Sprintf("the message has %d bytes and a message may have %d: send the content in parts, or as a link to a file", e.size, e.limit)
}

// next returns the next line that is not empty, which the caller owns. A
// *longLine is worth another call; anything else is final.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			return line, nil // an end without a line end shows at the next call
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.max+1 { // the line end doesn't count
			return nil, l.passOver(line, part, err)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// passOver reads a line to its end without keeping it.
func (l *lineReader) passOver(line, part []byte, err error) error {
	var o outline.Outline
	_, _ = o.Write(line)
	size := len(line)
	for {
		_, _ = o.Write(part)
		size += len(part)
		switch {
		case err == nil || errors.Is(err, io.EOF):
			return &longLine{size: size, limit: l.max, message: outlined(&o)}
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
		part, err = l.r.ReadSlice('\n')
	}
}

// outlined is the message of which only an outline is known.
func outlined(o *outline.Outline) message {
	m := message{reply: o.Replies()}
	if id := trimmed(o.Member("id")); json.Valid(id) && !isNull(id) {
		m.id = id
	}
	_ = json.Unmarshal(o.Member("method"), &m.method) // "" is none that can be told
	return m
}

// message is one JSON-RPC message.
type message struct {
	id     json.RawMessage // nil for a notification
	method string
	params json.RawMessage
	reply  bool
	result json.RawMessage
	err    *Error
	size   int
}

// parse reads a line that begins like an object. With an error the message holds
// what could be told.
func parse(line []byte) (message, *Error) {
	m := message{size: len(line)}
	var fields struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &fields); err != nil {
		return m, Errorf(CodeParse, "the line is no JSON object: %s", err)
	}
	if isNull(fields.Error) {
		fields.Error = nil
	}
	if !isNull(fields.ID) {
		if c := fields.ID[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
			return m, Errorf(CodeInvalidRequest, "the id is neither a number nor a string")
		}
		m.id = fields.ID
	}
	if fields.Method != nil {
		if err := json.Unmarshal(fields.Method, &m.method); err != nil || m.method == "" {
			return m, Errorf(CodeInvalidRequest, "the method is no name")
		}
		m.params = fields.Params
		return m, nil
	}
	if fields.Result == nil && fields.Error == nil {
		return m, Errorf(CodeInvalidRequest, "the message has neither a method nor a result")
	}
	m.reply, m.result = true, fields.Result
	if fields.Error != nil {
		m.err = &Error{Code: CodeInternal, Message: "the agent sent an error that can't be read"}
		var e Error
		if json.Unmarshal(fields.Error, &e) == nil {
			m.err = &e
		}
	}
	return m, nil
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func trimmed(p []byte) json.RawMessage { return json.RawMessage(bytes.TrimSpace(p)) }
