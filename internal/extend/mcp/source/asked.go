package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// Bounds of what a server may ask its user.
const (
	maxFields    = 5
	maxForms     = 5                // in a call
	maxAskedText = 2 << 10          // bytes of a question of the server's
	maxOptions   = 5                // that are shown; of more, the text names them
	askedTime    = 10 * time.Minute // that questions may add to a call's time
)

// calling is a call that runs: its time stands still while its user is asked.
type calling struct {
	ctx  context.Context
	call *tools.Call
	over context.CancelCauseFunc

	mu    sync.Mutex
	left  time.Duration
	since time.Time
	timer *time.Timer
	forms int
}

// calls are those that run on a connection, the latest last.
type calls struct {
	mu   sync.Mutex
	list []*calling
	none chan struct{} // closed when there are none; nil: nobody waits for that
}

// over is closed once no call runs.
func (c *calls) over() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.none == nil {
		c.none = make(chan struct{})
		c.settle()
	}
	return c.none
}

// settle tells who waits that no call runs, with mu held.
func (c *calls) settle() {
	if c.none == nil || len(c.list) > 0 {
		return
	}
	select {
	case <-c.none:
	default:
		close(c.none)
	}
}

// begin notes a call, which has so much time.
func (c *calls) begin(ctx context.Context, call *tools.Call, most time.Duration) (_ context.Context, end func()) {
	r := &calling{call: call, left: most}
	r.ctx, r.over = context.WithCancelCause(ctx)
	r.goOn()
	c.mu.Lock()
	c.list = append(c.list, r)
	c.mu.Unlock()
	return r.ctx, func() {
		c.mu.Lock()
		c.list = slices.DeleteFunc(c.list, func(other *calling) bool { return other == r })
		c.settle()
		c.mu.Unlock()
		r.pause()
		r.over(nil)
	}
}

func (r *calling) goOn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = time.Now()
	r.timer = time.AfterFunc(r.left, func() { r.over(context.DeadlineExceeded) })
}

func (r *calling) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	r.left -= time.Since(r.since)
}

// latest is the call for which a question is taken to be.
func (c *calls) latest() *calling {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) == 0 {
		return nil
	}
	r := c.list[len(c.list)-1]
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forms == maxForms {
		return nil
	}
	r.forms++
	return r
}

// field is a member of a form.
type field struct {
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Format      string            `json:"format"`
	Enum        []string          `json:"enum"`
	OneOf       []json.RawMessage `json:"oneOf"`
}

// secret is what looks like asking for one. A server has no way to keep it from the
// model's provider, and no need to get it here: its entry can give it.
var secret = regexp.MustCompile(`(?i)pass\s?-?_?(word|phrase|code|wd)|secret|credential|\btokens?\b|_token|token_|api[\s_-]?key|private[\s_-]?key|\bpin\b|\botp\b|one[\s-]time|security code|\bcvv\b|card number|seed phrase|\bssn\b`)

// elicit asks the user what a server wants to know, as questions of the call that
// runs. The server's name is in each.
func (s *server) elicit(c *conn) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	return func(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		p := req.Params
		if p.Mode != "" && p.Mode != "form" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "only forms are offered"}
		}
		var form struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		data, err := json.Marshal(p.RequestedSchema)
		if err == nil && p.RequestedSchema != nil {
			err = json.Unmarshal(data, &form)
		}
		switch {
		case err != nil || len(form.Properties) > maxFields:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("a form has at most %d fields", maxFields)}
		case secret.MatchString(p.Message) || secret.Match(data):
			s.m.o.Warn(fmt.Sprintf("The MCP server %s asked for what looks like a password or another secret. It was refused: what a server needs of that kind belongs into the env or envFile of its entry.", s.cfg.Name))
			return &sdk.ElicitResult{Action: "decline"}, nil
		}
		asked, call, end, err := c.forUser(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		return s.form(asked, call, p.Message, form.Properties, form.Required)
	}
}

// forUser is the call for which the user is asked, and a context that knows who that is.
// Until end the call's time stands still.
func (c *conn) forUser(ctx context.Context) (asked context.Context, call *tools.Call, end func(), _ error) {
	r := c.running.latest()
	if r == nil {
		return nil, nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the user is asked during a call alone, and %d times at most", maxForms)}
	}
	r.pause()
	asked, cancel := context.WithCancel(r.ctx)
	stop := context.AfterFunc(ctx, cancel)
	return asked, r.call, func() {
		stop()
		cancel()
		r.goOn()
	}, nil
}

// form asks for each field, the ones that are required first.
func (s *server) form(ctx context.Context, call *tools.Call, message string, fields map[string]json.RawMessage, required []string) (*sdk.ElicitResult, error) {
	names := sortedKeys(fields)
	slices.SortStableFunc(names, func(a, b string) int {
		place := func(name string) int {
			if i := slices.Index(required, name); i >= 0 {
				return i
			}
			return len(required)
		}
		return place(a) - place(b)
	})
	if len(names) == 0 {
		answer, ok, err := s.ask(ctx, call, short(message), []string{"Accept", "Decline"}, false)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return &sdk.ElicitResult{Action: "cancel"}, nil
		case answer != "Accept":
			return &sdk.ElicitResult{Action: "decline"}, nil
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
	}
	content := map[string]any{}
	for _, name := range names {
		var f field
		if err := json.Unmarshal(fields[name], &f); err != nil || len(f.OneOf) > 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the field " + clip(name) + " is of a kind that is not asked for"}
		}
		needed := slices.Contains(required, name)
		text, options := f.question(message, name, needed)
		answer, ok, err := s.ask(ctx, call, short(text), options, len(options) == 0)
		if err != nil {
			return nil, err
		}
		if !ok || answer == "" {
			if needed {
				return &sdk.ElicitResult{Action: "cancel"}, nil
			}
			continue
		}
		if content[name], err = f.value(answer); err != nil {
			return &sdk.ElicitResult{Action: "cancel"}, nil //nolint:nilerr // the answer is none
		}
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

// question is what is asked for a field.
func (f *field) question(message, name string, needed bool) (text string, options []string) {
	label := f.Title
	if label == "" {
		label = name
	}
	text = message + "\n\n" + label
	if f.Description != "" {
		text += ": " + f.Description
	}
	switch {
	case f.Type == "boolean":
		options = []string{"Yes", "No"}
	case len(f.Enum) > maxOptions:
		text += " (one of " + strings.Join(f.Enum, ", ") + ")"
	case len(f.Enum) > 0:
		options = slices.Clone(f.Enum)
	case f.Type == "number" || f.Type == "integer":
		text += " (a number)"
	}
	if !needed {
		text += " (you may leave it out)"
	}
	return text, options
}

// value is an answer as the field's type has it.
func (f *field) value(answer string) (any, error) {
	switch {
	case f.Type == "boolean":
		return answer == "Yes", nil
	case f.Type == "integer":
		return strconv.Atoi(strings.TrimSpace(answer))
	case f.Type == "number":
		return strconv.ParseFloat(strings.TrimSpace(answer), 64)
	case len(f.Enum) > 0 && !slices.Contains(f.Enum, answer):
		return nil, errors.New("it is none of those")
	}
	return answer, nil
}

// short is what is shown of a question of the server's.
func short(text string) string {
	if len(text) > maxAskedText {
		text = strings.ToValidUTF8(text[:maxAskedText], "") + "…"
	}
	return ", and will read your answer: " + text
}

// ask asks one question; text goes on where the server was named.
func (s *server) ask(ctx context.Context, call *tools.Call, text string, options []string, custom bool) (answer string, ok bool, err error) {
	clean, _ := s.m.o.Clean(text)
	answer, ok, err = s.m.o.People.Ask(ctx, editor.Question{
		CallID: call.ID, Session: call.Session, Options: options, AllowCustom: custom,
		Text: fmt.Sprintf("The MCP server %s asks%s", s.cfg.Name, clean),
	})
	if err != nil {
		return "", false, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "nobody could be asked"}
	}
	return answer, ok, nil
}
