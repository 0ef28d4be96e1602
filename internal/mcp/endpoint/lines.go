package endpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines are the messages of an agent, one on a line. The SDK ends a connection
// at the first line that is none; here such a line is answered with an error,
// as JSON-RPC 2.0 has it, and the agent goes on.
type lines struct {
	from  *bufio.Reader
	close func() error
	to    io.Writer
	most  int    // bytes in a line, with its end
	rest  []byte // of a line that was read, for the SDK
}

// maxLine is the longest line, in bytes.
const maxLine = 16 << 20

// oneByOne writes each message whole.
type oneByOne struct {
	mu sync.Mutex
	io.WriteCloser
}

func (w *oneByOne) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(p)
}

// transport is the SDK's, with lines of at most so many bytes as messages.
func transport(r io.ReadCloser, w io.WriteCloser, most int) sdk.Transport {
	out := &oneByOne{WriteCloser: w}
	return &sdk.IOTransport{Reader: &lines{from: bufio.NewReader(r), close: r.Close, to: out, most: most}, Writer: out, MaxLineLength: most}
}

func (l *lines) Close() error { return l.close() }

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		if fault := l.check(line); fault != nil {
			answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": fault})
			if err != nil {
				return 0, err
			}
			if _, err := l.to.Write(append(answer, '\n')); err != nil {
				return 0, err
			}
			continue
		}
		l.rest = line
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

// check says what is wrong with a line; nil is a message, or a batch of them.
func (l *lines) check(line []byte) *jsonrpc.Error {
	if len(line) > l.most {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: fmt.Sprintf("the message is longer than %d bytes", l.most)}
	}
	if !json.Valid(line) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON; each message is one line of it"}
	}
	batch := []json.RawMessage{line}
	if bytes.TrimSpace(line)[0] == '[' {
		if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the batch is empty"}
		}
	}
	for _, one := range batch {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a message of JSON-RPC 2.0: " + err.Error()}
		}
	}
	return nil
}
