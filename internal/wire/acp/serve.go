package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// request is one of the agent's that is open.
type request struct {
	message
	ctx     context.Context
	cancel  context.CancelCauseFunc
	session *Session // nil when it has none
}

// request starts to work on one.
func (c *Conn) request(m message) {
	handle := c.handler(m.method)
	if handle == nil {
		c.answer(m.id, nil, Errorf(CodeMethodNotFound, "this client has no such method; it offers what it said at initialize"))
		return
	}
	r := &request{message: m}
	r.ctx, r.cancel = context.WithCancelCause(c.base)
	if bad := c.admit(r); bad != nil {
		r.cancel(nil)
		c.count(func(s *Stats) { s.Bad++ })
		c.answer(r.id, nil, bad)
		return
	}
	before, after := c.line(r)
	c.handlers.Add(1) // the worker that calls this is one of them, so none has waited to the end
	go func() {
		defer c.handlers.Done()
		defer after()
		defer r.cancel(nil)
		result, bad := c.serve(r, handle, before)
		c.mu.Lock()
		delete(c.requests, string(m.id))
		c.bytes -= m.size
		c.mu.Unlock()
		c.answer(m.id, result, bad)
	}()
}

// admit lets a request in, or says why not.
func (c *Conn) admit(r *request) *Error {
	var p struct{ SessionID json.RawMessage }
	if err := json.Unmarshal(r.params, &p); err != nil {
		return Errorf(CodeInvalidParams, "the parameters of %s are no object: %s", r.method, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests[string(r.id)] != nil {
		// An answer with this id would be taken for the first one's.
		id := string(r.id)
		r.id = nil
		return Errorf(CodeInvalidRequest, "a request with the id %.100s is open: give each request an id of its own", id)
	}
	if len(c.requests) >= c.opts.MaxRequests || len(c.requests) > 0 && c.bytes+r.size > c.opts.MaxQueued {
		return Errorf(CodeInternal, "%d requests are open: wait for their answers before you send more", len(c.requests))
	}
	if p.SessionID != nil || r.method != "elicitation/create" {
		var id string
		if json.Unmarshal(p.SessionID, &id) == nil {
			r.session = c.sessions[id]
		}
		if r.session == nil {
			return Errorf(CodeInvalidParams, "no session with this id is open: use one that session/new, load or resume has opened")
		}
	}
	c.requests[string(r.id)] = r
	c.bytes += r.size
	return nil
}

// serve runs a handler. A panic costs only this request.
func (c *Conn) serve(r *request, handle func(*request) (any, error), before <-chan struct{}) (result any, bad *Error) {
	defer func() {
		if result == nil && bad == nil {
			bad = Errorf(CodeInternal, "%s failed in the client; its log says more", r.method)
		}
	}()
	defer c.caught(r.method)
	if before != nil {
		select {
		case <-before:
		case <-r.ctx.Done():
			return nil, answerError(r.ctx, r.ctx.Err())
		}
	}
	got, err := handle(r)
	if err != nil {
		return nil, answerError(r.ctx, err)
	}
	return got, nil
}

// line puts requests about the same file into a line, so that a read sees the
// write before it. after must be called at the request's end.
func (c *Conn) line(r *request) (before <-chan struct{}, after func()) {
	var p struct{ Path string }
	if !strings.HasPrefix(r.method, "fs/") || json.Unmarshal(r.params, &p) != nil {
		return nil, func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.paths[p.Path]
	mine := make(chan struct{})
	c.paths[p.Path] = mine
	return before, func() {
		if before != nil {
			<-before // one that was cancelled must not let the next one pass who is before it
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.paths[p.Path] == mine {
			delete(c.paths, p.Path)
		}
		close(mine)
	}
}

// handler returns what answers a method, or nil.
func (c *Conn) handler(method string) func(*request) (any, error) {
	w := c.world
	switch {
	case method == "session/request_permission":
		return c.permission
	case method == "fs/read_text_file" && w.Files != nil:
		return c.readFile
	case method == "fs/write_text_file" && w.Files != nil:
		return c.writeFile
	case method == "elicitation/create" && w.Elicitor != nil:
		return c.elicit
	case w.Terminals == nil:
		return nil
	case method == "terminal/create":
		return c.createTerminal
	case method == "terminal/output":
		return c.terminalOutput
	case method == "terminal/wait_for_exit":
		return c.waitTerminal
	case method == "terminal/kill":
		return c.killTerminal
	case method == "terminal/release":
		return c.releaseTerminal
	}
	return nil
}

func params[T any](r *request) (T, error) {
	var p T
	if err := json.Unmarshal(r.params, &p); err != nil {
		return p, Errorf(CodeInvalidParams, "the parameters of %s can't be read: %s", r.method, err)
	}
	return p, nil
}

func absolute(path string) error {
	if !filepath.IsAbs(path) {
		return Errorf(CodeInvalidParams, "%.200q is no absolute path: send the whole path", path)
	}
	return nil
}

func (c *Conn) readFile(r *request) (any, error) {
	p, err := params[struct {
		Path        string
		Line, Limit *int
	}](r)
	if err != nil {
		return nil, err
	}
	if err := absolute(p.Path); err != nil {
		return nil, err
	}
	text, err := c.world.Files.ReadFile(r.ctx, r.session.ID, p.Path)
	if err != nil {
		return nil, err
	}
	return struct {
		Content string `json:"content"`
	}{cutLines(text, p.Line, p.Limit)}, nil
}

// cutLines returns limit lines from the line on that is counted from 1.
func cutLines(text string, line, limit *int) string {
	if line != nil {
		for n := *line; n > 1 && text != ""; n-- {
			_, rest, _ := strings.Cut(text, "\n")
			text = rest
		}
	}
	if limit == nil {
		return text
	}
	end := 0
	for n := *limit; n > 0 && end < len(text); n-- {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

func (c *Conn) writeFile(r *request) (any, error) {
	p, err := params[struct {
		Path    string
		Content *string
	}](r)
	if err != nil {
		return nil, err
	}
	if err := absolute(p.Path); err != nil {
		return nil, err
	}
	if p.Content == nil {
		return nil, Errorf(CodeInvalidParams, "there is no content: an empty file has the content \"\"")
	}
	if err := c.world.Files.WriteFile(r.ctx, r.session.ID, p.Path, *p.Content); err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

// asked runs a question that the end of the turn answers. The person's answer
// is not waited for then.
func asked[T any](c *Conn, r *request, cancelled T, ask func() (T, error)) (T, error) {
	if r.session != nil && !r.session.ask(r) {
		return cancelled, nil
	}
	defer r.session.asked(r)
	type answer struct {
		value T
		err   error
	}
	got := make(chan answer, 1)
	c.handlers.Add(1)
	go func() {
		defer c.handlers.Done()
		a := answer{err: errors.New("the client failed to ask; its log says more")}
		defer func() { got <- a }()
		defer c.caught(r.method)
		a.value, a.err = ask()
	}()
	select {
	case a := <-got:
		if context.Cause(r.ctx) == nil {
			return a.value, a.err
		}
	case <-r.ctx.Done():
	}
	if errors.Is(context.Cause(r.ctx), errRequestCancelled) {
		return cancelled, context.Canceled
	}
	return cancelled, nil
}

func (c *Conn) permission(r *request) (any, error) {
	p, err := params[PermissionRequest](r)
	if err != nil {
		return nil, err
	}
	if p.Tool.ID == "" {
		return nil, Errorf(CodeInvalidParams, "the permission is for no tool call: toolCall.toolCallId is empty")
	}
	p.Raw = r.params
	id, err := asked(c, r, "", func() (string, error) { return c.world.Host.Permission(r.ctx, p) })
	if errors.Is(err, context.Canceled) && r.ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		c.log.Warn("a permission was not asked for", "error", err)
	}
	outcome := map[string]string{"outcome": "cancelled"}
	if err == nil && slices.ContainsFunc(p.Options, func(o PermissionOption) bool { return id != "" && o.ID == id }) {
		outcome = map[string]string{"outcome": "selected", "optionId": id}
	}
	return map[string]any{"outcome": outcome}, nil
}

func (c *Conn) elicit(r *request) (any, error) {
	p, err := params[ElicitRequest](r)
	if err != nil {
		return nil, err
	}
	if p.Mode != "form" && p.Mode != "url" {
		return nil, Errorf(CodeInvalidParams, "there is no mode %.100q: use form or url", p.Mode)
	}
	p.Raw = r.params
	got, err := asked(c, r, Elicited{Action: "cancel"}, func() (Elicited, error) { return c.world.Elicitor.Elicit(r.ctx, p) })
	if err != nil {
		return nil, fmt.Errorf("asking: %w", err)
	}
	return got, nil
}
