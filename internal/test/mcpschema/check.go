package mcpschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// results names, for each request, the definitions that its result may be.
var results = map[string][]string{
	"initialize":             {"InitializeResult"},
	"server/discover":        {"DiscoverResult"},
	"ping":                   {"EmptyResult"},
	"tools/list":             {"ListToolsResult"},
	"tools/call":             {"CallToolResult", "InputRequiredResult"},
	"prompts/list":           {"ListPromptsResult"},
	"prompts/get":            {"GetPromptResult", "InputRequiredResult"},
	"resources/list":         {"ListResourcesResult"},
	"resources/read":         {"ReadResourceResult", "InputRequiredResult"},
	"subscriptions/listen":   {"SubscriptionsListenResult"},
	"roots/list":             {"ListRootsResult"},
	"sampling/createMessage": {"CreateMessageResult"},
	"elicitation/create":     {"ElicitResult"},
}

// Check checks all that one side of a connection sends.
type Check struct {
	Schema *Schema

	mu    sync.Mutex
	asked map[string]string // id → method, of the requests that it has got
}

// Check returns a Check of one side of one connection.
func (s *Schema) Check() *Check { return &Check{Schema: s, asked: map[string]string{}} }

// message is any message of JSON-RPC.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code int64 `json:"code"`
	} `json:"error"`
}

// Got notes a message that the side gets, so that its answer can be told.
func (c *Check) Got(line []byte) {
	for _, one := range batch(line) {
		var m message
		if json.Unmarshal(one, &m) == nil && m.Method != "" && m.ID != nil {
			c.mu.Lock()
			c.asked[string(m.ID)] = m.Method
			c.mu.Unlock()
		}
	}
}

// Sent checks a line that the side sends.
func (c *Check) Sent(line []byte) error {
	if isBatch(line) && c.Schema.Version != "2025-03-26" {
		return fmt.Errorf("MCP %s has no batches: %s", c.Schema.Version, line)
	}
	for _, one := range batch(line) {
		if err := c.one(one); err != nil {
			return fmt.Errorf("%w\n%s", err, one)
		}
	}
	return nil
}

// batch are the messages of a line.
func batch(line []byte) []json.RawMessage {
	var list []json.RawMessage
	if isBatch(line) && json.Unmarshal(line, &list) == nil {
		return list
	}
	return []json.RawMessage{line}
}

func isBatch(line []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) }

func (c *Check) one(line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("no message: %w", err)
	}
	s := c.Schema
	switch {
	case m.JSONRPC != "2.0":
		return errors.New("no message of JSON-RPC 2.0")
	case m.Method != "":
		def := s.methods[m.Method]
		if def == "" {
			return fmt.Errorf("MCP %s has no method %s", s.Version, m.Method)
		}
		return s.asks(def, m, line)
	case m.Error != nil:
		// JSON-RPC 2.0 keeps these to itself; 0 is what a library says that was given no code.
		if m.Error.Code == 0 {
			return errors.New("an error without a code")
		}
		switch {
		case s.def("JSONRPCErrorResponse") != nil:
			return s.is("JSONRPCErrorResponse", line)
		case bytes.Equal(m.ID, []byte("null")):
			return nil // JSON-RPC 2.0 wants it so; the older schemas forget it
		}
		return s.is("JSONRPCError", line)
	}
	c.mu.Lock()
	method := c.asked[string(m.ID)]
	delete(c.asked, string(m.ID))
	c.mu.Unlock()
	if method == "" {
		return errors.New("an answer that nobody waits for")
	}
	var errs []error
	for _, def := range results[method] {
		err := s.is(def, m.Result)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	if errs == nil {
		return fmt.Errorf("what is a result of %s?", method)
	}
	return errors.Join(errs...)
}

// asks checks a request or a notification. The older schemas describe its
// envelope apart from its method and params.
func (s *Schema) asks(def string, m message, line []byte) error {
	if constOf(s.def(def), "jsonrpc") != "" {
		return s.is(def, line)
	}
	if s.def("InputRequiredResult") != nil {
		return fmt.Errorf("%s is asked within a result in MCP %s", m.Method, s.Version)
	}
	envelope := "JSONRPCNotification"
	if m.ID != nil {
		envelope = "JSONRPCRequest"
	}
	if err := s.is(envelope, line); err != nil {
		return err
	}
	inner := map[string]any{"method": m.Method}
	if m.Params != nil {
		inner["params"] = m.Params
	}
	data, err := json.Marshal(inner)
	if err != nil {
		return err
	}
	return s.is(def, data)
}
