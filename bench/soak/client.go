package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
)

// client speaks to a server in this process and remembers nothing of it.
type client struct {
	dir    string
	in     io.WriteCloser
	ended  chan error
	failed atomic.Int64 // calls that the mix means to fail, and others

	write sync.Mutex
	next  int64

	mu      sync.Mutex
	waiting map[int64]chan message
}

type message struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

type object = map[string]any

func start(ctx context.Context, self, dir string) (*client, error) {
	fromUs, toServer := io.Pipe()
	fromServer, toUs := io.Pipe()
	c := &client{dir: dir, in: toServer, ended: make(chan error, 1), waiting: map[int64]chan message{}}
	go func() {
		code := cli.Main(context.WithoutCancel(ctx), []string{"serve", "--log-level", "error"}, cli.Streams{In: fromUs, Out: toUs, Err: io.Discard, Self: self})
		_ = toUs.Close()
		if code != 0 {
			c.ended <- fmt.Errorf("the server ended with code %d", code)
			return
		}
		c.ended <- nil
	}()
	go c.read(bufio.NewReader(fromServer))
	if _, err := c.call(ctx, "initialize", object{
		"processId": os.Getpid(), "rootUri": "file://" + dir, "capabilities": object{"window": object{"workDoneProgress": true}, "experimental": object{"sidecar": object{"events": true}}},
		"workspaceFolders": []object{{"uri": "file://" + dir, "name": "work"}},
	}); err != nil {
		return nil, err
	}
	return c, c.send(object{"jsonrpc": "2.0", "method": "initialized", "params": object{}})
}

func (c *client) stop(ctx context.Context) error {
	if _, err := c.call(ctx, "shutdown", nil); err != nil {
		return err
	}
	if err := c.send(object{"jsonrpc": "2.0", "method": "exit"}); err != nil {
		return err
	}
	return <-c.ended
}

func (c *client) send(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.write.Lock()
	defer c.write.Unlock()
	_, err = fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(data), data)
	return err
}

// begin sends a request and returns where its answer comes.
func (c *client) begin(method string, params any) (int64, chan message, error) {
	c.mu.Lock()
	c.next++
	id := c.next
	answer := make(chan message, 1)
	c.waiting[id] = answer
	c.mu.Unlock()
	return id, answer, c.send(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

func (c *client) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	_, answer, err := c.begin(method, params)
	if err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, m.Error)
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read takes what the server says: answers to where they are waited for, and a
// yes to each of its questions.
func (c *client) read(r *bufio.Reader) {
	for {
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(value)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m message
		if json.Unmarshal(body, &m) != nil || m.ID == nil {
			continue
		}
		if m.Method == "" {
			c.mu.Lock()
			answer := c.waiting[*m.ID]
			delete(c.waiting, *m.ID)
			c.mu.Unlock()
			if answer != nil {
				answer <- m
			}
			continue
		}
		go c.answer(*m.ID, m.Method)
	}
}

func (c *client) answer(id int64, method string) {
	var result any
	switch method {
	case "window/showMessageRequest":
		result = object{"title": "Allow"}
	case "workspace/applyEdit":
		result = object{"applied": true}
	case "workspace/configuration":
		result = []any{nil}
	}
	_ = c.send(object{"jsonrpc": "2.0", "id": id, "result": result})
}

// command calls a command of the server's.
func (c *client) command(ctx context.Context, name string, arg any) (json.RawMessage, error) {
	return c.call(ctx, "workspace/executeCommand", object{"command": name, "arguments": []any{arg}})
}

// tool calls a tool; that it fails is counted, and no error.
func (c *client) tool(ctx context.Context, session, name string, args object) (string, error) {
	arg := object{"name": name, "arguments": args}
	if session != "" {
		arg["session"] = session
	}
	data, err := c.command(ctx, "sidecar.tools.call", arg)
	if err != nil {
		return "", err
	}
	var res struct {
		OK         bool            `json:"ok"`
		Content    string          `json:"content"`
		Structured json.RawMessage `json:"structured"`
	}
	if err := json.Unmarshal(data, &res); err != nil {
		return "", errors.Join(err, errors.New(name))
	}
	if !res.OK {
		c.failed.Add(1)
	}
	return string(res.Structured), nil
}

// profile shows what is there, for whoever looks for what grows.
func profile() {
	for _, name := range []string{"goroutine", "heap"} {
		if f, err := os.Create(name + ".pprof"); err == nil {
			_ = pprof.Lookup(name).WriteTo(f, 0)
			_ = f.Close()
		}
	}
}
