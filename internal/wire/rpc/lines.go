package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sidecar-ls/sidecar-ls/internal/text/outline"
)

// lines is the framing of the Agent Client Protocol: a message is a line. Peers
// vary in how well they follow JSON-RPC, so it is read leniently: the version is
// not looked at, and the case of member names doesn't matter.
type lines struct {
	stream io.Reader
	r      *bufio.Reader
	max    int
	noise  func(line []byte)
}

// Lines reads messages of at most so many bytes. Lines that can't be meant as one
// go to noise; if that is nil they are bad messages.
func Lines(r io.Reader, most int, noise func(line []byte)) Framing {
	return &lines{r, bufio.NewReaderSize(r, 64<<10), most, noise}
}

func (l *lines) Close() { closeStream(l.stream) }

// Next implements Framing.
func (l *lines) Next() (Message, error) {
	for {
		line, err := l.line()
		var long *longLine
		switch line = bytes.TrimSpace(line); {
		case errors.As(err, &long):
			return outlined(&long.outline), Errorf(InvalidRequest, "%s", long)
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)): // an end without a line end shows at the next call
			return Message{}, err
		case len(line) == 0:
		case line[0] == '[':
			return Message{}, Errorf(InvalidRequest, "batches are not part of the protocol: send one message a line")
		case line[0] != '{' && l.noise != nil:
			l.noise(line)
		default:
			m, bad := parseLine(line)
			if bad != nil {
				return m, bad
			}
			return m, nil
		}
	}
}

// longLine says that a line was over the limit and has been passed over.
type longLine struct {
	size, limit int
	outline     outline.Outline
}

func (e *longLine) Error() string {
	return fmt.Sprintf("the message has %d bytes and a message may have %d: send the content in parts, or as a link to a file", e.size, e.limit)
}

func (l *lines) line() ([]byte, error) {
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
func (l *lines) passOver(line, part []byte, err error) error {
	long := &longLine{size: len(line), limit: l.max}
	_, _ = long.outline.Write(line)
	for {
		_, _ = long.outline.Write(part)
		long.size += len(part)
		switch {
		case err == nil || errors.Is(err, io.EOF):
			return long
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
		part, err = l.r.ReadSlice('\n')
	}
}

// parseLine reads a line. With an error the message holds what could be told.
func parseLine(line []byte) (Message, *Error) {
	m := Message{Raw: line}
	var fields struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &fields); err != nil {
		return m, Errorf(ParseError, "the line is no JSON object: %s", err)
	}
	if isNull(fields.Error) {
		fields.Error = nil
	}
	if !isNull(fields.ID) {
		if m.ID = readID(fields.ID); !m.ID.Valid() {
			return m, Errorf(InvalidRequest, "the id is neither a number nor a string")
		}
	}
	if fields.Method != nil {
		if err := json.Unmarshal(fields.Method, &m.Method); err != nil || m.Method == "" {
			return m, Errorf(InvalidRequest, "the method is no name")
		}
		m.Params = fields.Params
		return m, nil
	}
	if fields.Result == nil && fields.Error == nil {
		return m, Errorf(InvalidRequest, "the message has neither a method nor a result")
	}
	m.Reply, m.Result = true, fields.Result
	if fields.Error != nil {
		m.Err = &Error{Code: InternalError, Message: "the agent sent an error that can't be read"}
		var e Error
		if json.Unmarshal(fields.Error, &e) == nil {
			m.Err = &e
		}
	}
	return m, nil
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// Encode implements Framing. What it writes has no line end.
func (l *lines) Encode(to *bytes.Buffer, v any) error {
	data, err := json.Marshal(v)
	to.Write(data)
	return err
}

// Decode implements Framing. null leaves v as it is.
func (l *lines) Decode(data []byte, v any) error {
	if isNull(data) {
		return nil
	}
	return json.Unmarshal(data, v)
}

func (l *lines) seal(buf *bytes.Buffer) []byte {
	buf.WriteByte('\n')
	return buf.Bytes()[headerRoom:]
}
