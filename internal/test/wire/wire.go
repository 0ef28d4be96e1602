// Package wire is a client for measuring: it writes and reads frames and does
// nothing else, so that what is measured is the server.
package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Client speaks to one server. It is for one goroutine.
type Client struct {
	in  io.Writer
	out *bufio.Reader
	id  int
	buf []byte // of the last request
	got []byte // of the last reply
}

// New returns a client over a server's streams.
func New(in io.Writer, out io.Reader) *Client {
	return &Client{in: in, out: bufio.NewReaderSize(out, 1<<16)}
}

// Initialize opens a workspace folder.
func (c *Client) Initialize(rootURI string) error {
	if _, err := c.Call("initialize", map[string]any{"rootUri": rootURI, "capabilities": map[string]any{}}); err != nil {
		return err
	}
	return c.write([]byte(`{"jsonrpc":"2.0","method":"initialized","params":{}}`))
}

// Call sends a request and returns the body of its reply, passing over what
// else the server says. An error reply is a body too. The body is good until
// the next call.
func (c *Client) Call(method string, params any) ([]byte, error) {
	data, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	return c.send(method, data)
}

// Command is Call of one command of the server, with its argument as JSON.
func (c *Client) Command(name, argument string) ([]byte, error) {
	return c.send("workspace/executeCommand", fmt.Appendf(nil, `{"command":%q,"arguments":[%s]}`, name, argument))
}

// Tool is Command for one tool call; it fails when the tool does.
func (c *Client) Tool(name string, arguments any) ([]byte, error) {
	data, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		return nil, err
	}
	body, err := c.Command("sidecar.tools.call", string(data))
	if err == nil && !bytes.Contains(body, []byte(`"ok":true`)) {
		err = fmt.Errorf("%s: %.300s", name, body)
	}
	return body, err
}

func (c *Client) send(method string, params []byte) ([]byte, error) {
	c.id++
	if err := c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.id, method, params)); err != nil {
		return nil, err
	}
	want := fmt.Appendf(nil, `"id":%d`, c.id)
	for {
		body, err := c.read()
		if err != nil {
			return nil, err
		}
		if n := len(body); bytes.Contains(body[:min(n, 64)], want) || bytes.Contains(body[max(0, n-64):], want) {
			return body, nil
		}
	}
}

func (c *Client) write(body []byte) error {
	c.buf = append(fmt.Appendf(c.buf[:0], "Content-Length: %d\r\n\r\n", len(body)), body...)
	_, err := c.in.Write(c.buf)
	return err
}

func (c *Client) read() ([]byte, error) {
	length := 0
	for {
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if len(line) == 2 {
			break
		}
		if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if _, err := fmt.Sscan(string(n), &length); err != nil {
				return nil, err
			}
		}
	}
	if cap(c.got) < length {
		c.got = make([]byte, length)
	}
	c.got = c.got[:length]
	_, err := io.ReadFull(c.out, c.got)
	return c.got, err
}
