package acpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// driver is an agent that does what a test says: for each prompt, what it gets of do.
type driver struct {
	do  chan func(ctx context.Context, r *conversation.Run, items []conversation.Item) (string, error)
	run *conversation.Run
}

func (d *driver) Prompt(ctx context.Context, items []conversation.Item) (string, error) {
	select {
	case f := <-d.do:
		return f(ctx, d.run, items)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (d *driver) Steer(context.Context, conversation.Item) error { return nil }
func (d *driver) Cancel(context.Context) error                   { return nil }
func (d *driver) Close() error                                   { return nil }

// host has real runs, of a driver that the test plays.
type host struct {
	t     *testing.T
	dir   string
	store *conversation.Store
	do    chan func(context.Context, *conversation.Run, []conversation.Item) (string, error)
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, dir: t.TempDir(), do: make(chan func(context.Context, *conversation.Run, []conversation.Item) (string, error), 8)}
	var err error
	if h.store, err = conversation.Open(conversation.Options{Dir: filepath.Join(t.TempDir(), "runs")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	return h
}

func (h *host) Begin(mode, model string) (*conversation.Run, error) {
	r, err := h.store.Start(conversation.Spec{Agent: "builtin", Title: "sidecar-ls", Session: "s", Mode: "review"})
	if err == nil {
		r.Attach(&driver{do: h.do, run: r})
	}
	return r, err
}
func (h *host) Get(id string) (*conversation.Run, error) { return h.store.Get(id) }
func (h *host) Wake(*conversation.Run) error             { return nil }
func (h *host) Runs() ([]conversation.Info, error)       { return h.store.List(false), nil }
func (h *host) SetMode(r *conversation.Run, mode string) error {
	return r.Emit(conversation.Event{Kind: conversation.Note, Mode: mode})
}
func (h *host) SetModel(_ context.Context, r *conversation.Run, name string) error {
	return r.Emit(conversation.Event{Kind: conversation.Note, Model: name})
}
func (h *host) Folders() []string                           { return []string{h.dir} }
func (h *host) Abs(name string) string                      { return filepath.Join(h.dir, name) }
func (h *host) Modes() []acp.Mode                           { return []acp.Mode{{ID: "review", Name: "Review"}} }
func (h *host) Models() []acp.Choice                        { return []acp.Choice{{Value: "m", Name: "m"}} }
func (h *host) Model(string) (string, error)                { return "m", nil }
func (h *host) Pending(name string) (*string, string, bool) { return nil, "new", name == "new.txt" }

// serve serves a client, whose end is returned.
func (h *host) serve() net.Conn {
	ours, theirs := net.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = Serve(context.Background(), ours, Options{Agents: h, Workspace: h, Version: "1"})
	}()
	h.t.Cleanup(func() {
		_ = theirs.Close()
		<-over
	})
	return theirs
}

// peer is a client, line by line.
type peer struct {
	t   *testing.T
	to  io.Writer
	in  *bufio.Reader
	raw []map[string]any // updates that were passed on the way
}

func newPeer(t *testing.T, r io.Reader, w io.Writer) *peer {
	return &peer{t: t, to: w, in: bufio.NewReaderSize(r, 1<<20)}
}

type object = map[string]any

func (p *peer) send(id any, method string, params any) {
	p.t.Helper()
	m := object{"jsonrpc": "2.0", "method": method, "params": params}
	if id != nil {
		m["id"] = id
	}
	p.line(m)
}

func (p *peer) line(m object) {
	p.t.Helper()
	line, err := json.Marshal(m)
	if err == nil {
		_, err = p.to.Write(append(line, '\n'))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// next is the next message that is no update.
func (p *peer) next() object {
	p.t.Helper()
	for {
		if m := p.read(); m != nil {
			return m
		}
	}
}

// told waits until something was told.
func (p *peer) told(want string) {
	p.t.Helper()
	for !strings.Contains(inShort(p.t, p.raw), want) {
		if m := p.read(); m != nil {
			p.t.Fatalf("no %q before %v", want, m)
		}
	}
}

// read reads a message; nil is an update.
func (p *peer) read() object {
	p.t.Helper()
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var m object
	if err := json.Unmarshal(line, &m); err != nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	if m["method"] != "session/update" {
		return m
	}
	p.raw = append(p.raw, m["params"].(object)["update"].(object))
	return nil
}

// ask asks, and returns the result; an error fails the test.
func (p *peer) ask(method string, params any) object {
	p.t.Helper()
	p.send(method, method, params)
	m := p.next()
	if m["id"] != method || m["error"] != nil {
		p.t.Fatalf("%s: %v", method, m)
	}
	return m["result"].(object)
}

// open begins a connection with a session.
func (p *peer) open(dir string, can object) (id string) {
	p.t.Helper()
	p.ask("initialize", object{"protocolVersion": 1, "clientCapabilities": can})
	return p.ask("session/new", object{"cwd": dir, "mcpServers": []any{}})["sessionId"].(string)
}

func prompt(id, text string) object {
	return object{"sessionId": id, "prompt": []object{{"type": "text", "text": text}}}
}

// gone waits for the end of something.
func gone(t *testing.T, c <-chan error) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("it never ended")
		return nil
	}
}
