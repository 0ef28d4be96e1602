package framecorpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hang is when a case counts as hung. It is a guard and measures nothing.
const hang = 2 * time.Minute

// Server is one running server. Wait returns its error after its end; an end by
// exit without shutdown before it must be an error.
type Server struct {
	In   io.WriteCloser
	Out  io.Reader
	Wait func() error
}

// Run runs every case against a server of its own. root is the file URI of the
// workspace.
func Run(t *testing.T, root string, cases []Case, start func(t *testing.T) Server) {
	for _, c := range cases {
		t.Run(c.ID+" "+strings.ReplaceAll(c.Name, "/", "_"), func(t *testing.T) {
			if err := run(t, root, c, start(t)); err != nil {
				t.Errorf("%s (expect %s): %v", c.Name, c.Expect, err)
			}
		})
	}
}

// reply is what is looked at in a message of the server.
type reply struct {
	ID    json.RawMessage `json:"id"`
	Error *struct {
		Code int64 `json:"code"`
	} `json:"error"`
	Method string `json:"method"`
}

// client reads a server's output.
type client struct {
	srv     Server
	mu      sync.Mutex
	changed chan struct{}
	replies []reply
	closed  bool  // the server's output has ended
	err     error // it was not well-formed
}

func run(t *testing.T, root string, c Case, srv Server) error {
	t.Helper()
	payload, err := c.bytes(root)
	if err != nil {
		return err
	}
	cl := &client{srv: srv, changed: make(chan struct{})}
	resume := make(chan struct{})
	if c.Then != "stop-reading" {
		close(resume)
	}
	if c.Phase != "pre-init" {
		hello := fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"processId":null,"rootUri":%q,"capabilities":{}}}`, root)
		if err := cl.write([]byte(frame(hello))); err != nil {
			return err
		}
		if _, err := cl.read1(); err != nil {
			return fmt.Errorf("positive control: initialize: %w", err)
		}
		if err := cl.write([]byte(frame(`{"jsonrpc":"2.0","method":"initialized","params":{}}`))); err != nil {
			return err
		}
	}
	out := bufio.NewReader(srv.Out)
	go func() {
		<-resume
		cl.readAll(out)
	}()
	wrote := make(chan error, 1)
	go func() { wrote <- cl.write(payload) }()
	select {
	case <-wrote: // a server that has closed its input is looked at below
	case <-time.After(hang):
		return errors.New("the server doesn't read its input")
	}
	if c.Then == "stop-reading" {
		close(resume)
	}
	switch {
	case c.Then == "eof":
		_ = srv.In.Close()
	case c.Expect == "exit-code-1":
		return cl.exits(func(err error) error {
			if err == nil {
				return errors.New("ended as if all were well")
			}
			return nil
		})
	default:
		alive, err := cl.probe()
		if err != nil {
			return err
		}
		if !alive && c.Expect != "alive-or-clean-close" {
			return errors.New("the server has closed the connection")
		}
	}
	if err := cl.check(c, payload); err != nil {
		return err
	}
	_ = srv.In.Close()
	return cl.exits(func(error) error { return nil })
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func (cl *client) write(p []byte) error {
	_, err := cl.srv.In.Write(p)
	return err
}

// read1 reads the reply to initialize, byte by byte as the reader behind it
// starts later. Notifications before it are skipped.
func (cl *client) read1() (reply, error) {
	for {
		r, err := readReply(bufio.NewReaderSize(oneByte{cl.srv.Out}, 16))
		if err != nil || r.Method == "" {
			if err == nil && r.Error != nil {
				err = fmt.Errorf("error %d", r.Error.Code)
			}
			return r, err
		}
	}
}

// oneByte keeps a bufio.Reader from reading ahead.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

func readReply(in *bufio.Reader) (reply, error) {
	length := -1
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return reply{}, err
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			break
		}
		if _, err := fmt.Sscanf(line, "Content-Length: %d", &length); err != nil {
			return reply{}, fmt.Errorf("header %q: %w", line, err)
		}
	}
	if length < 0 {
		return reply{}, errors.New("no Content-Length")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(in, body); err != nil {
		return reply{}, fmt.Errorf("in a body of %d bytes: %w", length, io.ErrUnexpectedEOF)
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		return reply{}, fmt.Errorf("body %.200q: %w", body, err)
	}
	return r, nil
}

func (cl *client) readAll(in *bufio.Reader) {
	for {
		r, err := readReply(in)
		cl.mu.Lock()
		if err != nil {
			cl.closed = true
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
				cl.err = err
			}
		} else if r.Method == "" {
			cl.replies = append(cl.replies, r)
		}
		close(cl.changed)
		cl.changed = make(chan struct{})
		cl.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until cond holds or the server's output has ended.
func (cl *client) await(what string, cond func([]reply) bool) (bool, error) {
	guard := time.After(hang)
	for {
		cl.mu.Lock()
		ok, closed, err, changed := cond(cl.replies), cl.closed, cl.err, cl.changed
		cl.mu.Unlock()
		switch {
		case err != nil:
			return false, fmt.Errorf("bad output: %w", err)
		case ok || closed:
			return ok, nil
		}
		select {
		case <-changed:
		case <-guard:
			return false, fmt.Errorf("hangs: %s", what)
		}
	}
}

// probe sends requests that any server answers. Three, because a hostile length
// may swallow one and the search for the next header another.
func (cl *client) probe() (alive bool, err error) {
	go func() {
		for i := range 3 {
			if cl.write([]byte(frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":"probe%d","method":"$/probe"}`, i)))) != nil {
				return
			}
		}
	}()
	return cl.await("no answer to a probe", func(replies []reply) bool {
		return slices.ContainsFunc(replies, func(r reply) bool { return strings.HasPrefix(string(r.ID), `"probe`) })
	})
}

func (cl *client) exits(check func(error) error) error {
	ended := make(chan error, 1)
	go func() { ended <- cl.srv.Wait() }()
	select {
	case err := <-ended:
		if err := check(err); err != nil {
			return err
		}
	case <-time.After(hang):
		return errors.New("the server doesn't end with its input")
	}
	_, err := cl.await("output stays open", func([]reply) bool { return false })
	return err
}

// check looks at the replies: none twice, and what the case expects.
func (cl *client) check(c Case, payload []byte) error {
	ids := requestIDs(c, payload)
	if c.Then != "eof" {
		done := func(replies []reply) bool { return count(replies, ids) >= len(ids) }
		if ok, err := cl.await(fmt.Sprintf("%d requests, not all answered", len(ids)), done); err != nil {
			return err
		} else if !ok && c.Expect != "alive-or-clean-close" {
			return fmt.Errorf("closed before all of %d requests were answered", len(ids))
		}
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	codes := map[string]int64{}
	for _, r := range cl.replies {
		id := string(r.ID)
		if _, twice := codes[id]; twice && id != "null" && !strings.HasPrefix(id, `"probe`) {
			return fmt.Errorf("id %s was answered twice", id)
		}
		codes[id] = 0
		if r.Error != nil {
			codes[id] = r.Error.Code
		}
	}
	want := int64(0)
	for _, id := range ids {
		code, answered := codes[id]
		switch {
		case c.Expect == "error-reply" && code == 0:
			return fmt.Errorf("id %s: want an error, answered: %v", id, answered)
		case scan(c.Expect, "error %d for id "+id, &want) || scan(c.Expect, "error %d", &want) && !strings.Contains(c.Expect, "id"):
			if code != want {
				return fmt.Errorf("id %s: error %d, want %d", id, code, want)
			}
		}
	}
	return nil
}

func scan(text, format string, to *int64) bool {
	_, err := fmt.Sscanf(text, format, to)
	return err == nil
}

func count(replies []reply, ids []string) int {
	n := 0
	for _, r := range replies {
		if slices.Contains(ids, string(r.ID)) {
			n++
		}
	}
	return n
}

// requestIDs returns the ids of the requests in well-formed payloads, each of
// which must be answered. Hostile frames have none.
func requestIDs(c Case, payload []byte) []string {
	if c.Category == "framing" || c.Category == "json" {
		return nil
	}
	var ids []string
	in := bufio.NewReader(strings.NewReader(string(payload)))
	for {
		r, err := readReply(in)
		if err != nil {
			return ids
		}
		if r.Method != "" && r.ID != nil {
			ids = append(ids, string(r.ID))
		}
	}
}
