package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// wire writes what the SDK says, each message whole, in the form of the version
// that the agent speaks. It hears what the agent says for that.
type wire struct {
	to   io.WriteCloser
	hide func(string) string // Options.Hide

	mu      sync.Mutex
	version string           // of what is said by ourselves; "": not known yet
	asked   map[string]asked // the agent's requests that have no answer yet, by id
}

// asked is a request of the agent.
type asked struct {
	method  string
	version string // of its own; "": that of the connection
	batch   *batch // it came in one
}

// batch is answered with one line once each of its requests has an answer.
type batch struct {
	left    int
	answers []json.RawMessage
}

func newWire(to io.WriteCloser, hide func(string) string) *wire {
	return &wire{to: to, hide: hide, asked: map[string]asked{}}
}

// got notes messages of the agent.
func (w *wire) got(list []json.RawMessage, together bool) *jsonrpc.Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b *batch
	if together {
		if w.version > batches {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "MCP " + w.version + " has no batches; send each message on a line of its own"}
		}
		b = &batch{}
	}
	for _, line := range list {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Meta map[string]json.RawMessage `json:"_meta"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.Method == "" || m.ID == nil {
			continue
		}
		a := asked{method: m.Method, batch: b}
		if json.Unmarshal(m.Params.Meta[sdk.MetaKeyProtocolVersion], &a.version) == nil && w.version == "" {
			w.version = a.version
		}
		if b != nil {
			b.left++
		}
		w.asked[string(m.ID)] = a
	}
	return nil
}

// Write writes a message.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.suited(p)
	if line == nil {
		return len(p), nil
	}
	if _, err := w.to.Write(append(bytes.TrimRight(line, "\n"), '\n')); err != nil {
		return 0, err
	}
	return len(p), nil
}

// suited is what is written for a message: nothing while its batch is not
// complete.
func (w *wire) suited(line []byte) []byte {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
		Error *jsonrpc.Error `json:"error"`
	}
	if json.Unmarshal(line, &m) != nil {
		return line
	}
	if m.Method != "" {
		return suit(line, m.Method, w.version)
	}
	a, ok := w.asked[string(m.ID)]
	delete(w.asked, string(m.ID))
	if m.Error != nil {
		line = w.fault(m.ID, m.Error)
	}
	if a.method == "initialize" {
		w.version = m.Result.ProtocolVersion
	}
	if a.version == "" {
		a.version = w.version
	}
	line = suit(line, a.method, a.version)
	if !ok || a.batch == nil {
		return line
	}
	a.batch.left--
	a.batch.answers = append(a.batch.answers, line)
	if a.batch.left > 0 {
		return nil
	}
	all, err := json.Marshal(a.batch.answers)
	if err != nil {
		return line
	}
	return all
}

// fault is an error as the agent gets it. The SDK's quote what the agent sent, which may
// be anything.
func (w *wire) fault(id json.RawMessage, e *jsonrpc.Error) []byte {
	if e.Code == jsonrpc.CodeMethodNotFound {
		e.Message = "there is no such method; tools are called with tools/call"
	}
	said := jsonrpc.Error{Code: e.Code, Message: w.hide(e.Message)}
	if data := w.hide(string(e.Data)); json.Valid([]byte(data)) {
		said.Data = json.RawMessage(data)
	}
	text, err := json.Marshal(said)
	if err != nil {
		text = []byte(`null`)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, text)
}

func (w *wire) Close() error { return w.to.Close() }
