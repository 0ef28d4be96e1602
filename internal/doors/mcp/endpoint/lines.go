package endpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines are the messages of an agent, one on a line. The SDK ends a connection
// at the first line that is none, and at most batches; here such a line is
// answered with an error, as JSON-RPC 2.0 has it, and the agent goes on.
type lines struct {
	from  *bufio.Reader
	close func() error
	to    *wire
	most  int    // bytes in a line, with its end
	rest  []byte // of what was read, for the SDK
}

// maxLine is the longest line, in bytes.
const maxLine = 16 << 20

// transport is the SDK's, with lines of at most so many bytes as messages.
func transport(r io.ReadCloser, w io.WriteCloser, most int, hide func(string) string) sdk.Transport {
	out := newWire(w, hide)
	return &sdk.IOTransport{Reader: &lines{from: bufio.NewReader(r), close: r.Close, to: out, most: most}, Writer: out, MaxLineLength: most}
}

func (l *lines) Close() error { return l.close() }

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		list, fault := l.check(line)
		if fault == nil {
			fault = l.to.got(list, len(list) != 1 || isBatch(line))
		}
		if fault != nil {
			answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": fault})
			if err != nil {
				return 0, err
			}
			if _, err := l.to.Write(append(answer, '\n')); err != nil {
				return 0, err
			}
			continue
		}
		for _, one := range list {
			l.rest = append(append(l.rest, one...), '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next reads a line that isn't blank. One that is too long is read to its end,
// and what is kept of it is no message.
func (l *lines) next() ([]byte, error) {
	for {
		var line []byte
		for {
			part, err := l.from.ReadSlice('\n')
			if len(line) <= l.most {
				line = append(line, part...)
			}
			if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return nil, err
			}
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

// check returns the messages of a line, or what is wrong with it.
func (l *lines) check(line []byte) ([]json.RawMessage, *jsonrpc.Error) {
	if len(line) > l.most {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: fmt.Sprintf("the message is longer than %d bytes", l.most)}
	}
	if !json.Valid(line) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON; each message is one line of it"}
	}
	list := []json.RawMessage{line}
	if isBatch(line) {
		if err := json.Unmarshal(line, &list); err != nil || len(list) == 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the batch is empty"}
		}
	}
	for _, one := range list {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a message of JSON-RPC 2.0: " + err.Error()}
		}
	}
	return list, nil
}

// isBatch reports whether a line has several messages, as an array.
func isBatch(line []byte) bool { return bytes.TrimSpace(line)[0] == '[' }
