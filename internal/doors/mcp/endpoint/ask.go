package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
)

// Asker asks the user of the agent that makes a call. A nil *Asker asks nobody.
type Asker struct {
	ask func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error)
	now func() time.Time // nil: time.Now
}

// Why there is no answer of a person.
var (
	ErrCantAsk = errors.New("the agent can't ask its user")
	ErrUnseen  = errors.New("the agent's program declined before anybody could have read the question")
	ErrClosed  = errors.New("the question was closed without an answer")
)

// quickest is what a person needs at the least to read even a short question
// and press a key. Programs that run without a user, such as `claude -p` and
// `codex exec`, say no within some hundredths of a second.
const quickest = 500 * time.Millisecond

type askerKey struct{}

// WithAsker returns a context for what is done for a call of an agent.
func WithAsker(ctx context.Context, a *Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// AskerOf returns the way to the user on whose behalf something is done, or
// nil.
func AskerOf(ctx context.Context) *Asker {
	a, _ := ctx.Value(askerKey{}).(*Asker)
	return a
}

// form is a question with one field of text, which the SDK and all clients
// know how to show.
type form struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required"`
}

type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Default     string   `json:"default,omitempty"`
}

// one asks for a field. ok is false when the user refused to answer. What is no
// answer of a person is an error.
func (a *Asker) one(ctx context.Context, message string, f field) (answer string, ok bool, err error) {
	if a == nil {
		return "", false, ErrCantAsk
	}
	const name = "answer"
	f.Type = "string"
	schema, err := json.Marshal(form{Type: "object", Properties: map[string]field{name: f}, Required: []string{name}})
	if err != nil {
		return "", false, err
	}
	now := a.now
	if now == nil {
		now = time.Now
	}
	asked := now()
	res, err := a.ask(ctx, &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)})
	switch {
	case err != nil:
		return "", false, err
	case res.Action != "accept" && now().Sub(asked) < quickest:
		return "", false, ErrUnseen
	case res.Action == "cancel":
		return "", false, ErrClosed
	case res.Action != "accept":
		return "", false, nil
	}
	answer, ok = res.Content[name].(string)
	if !ok || f.Enum != nil && !slices.Contains(f.Enum, answer) {
		return "", false, fmt.Errorf("the agent gave an answer that was not offered")
	}
	return answer, true, nil
}

// Choose asks a question with options; custom lets the user answer in own
// words. ok is false when the question was dismissed.
func (a *Asker) Choose(ctx context.Context, text string, options []string, custom bool) (answer string, ok bool, err error) {
	f := field{Title: "Answer"}
	switch {
	case len(options) > 0 && !custom:
		f.Enum = options
	case len(options) > 0:
		f.Description = "One of these, or your own words:"
		for _, o := range options {
			f.Description += "\n- " + o
		}
	}
	answer, ok, err = a.one(ctx, text, f)
	if errors.Is(err, ErrClosed) {
		err = nil
	}
	return answer, ok, err
}

// The answers to an approval.
const (
	allow        = "Allow"
	allowSession = "Allow for session"
	allowPattern = "Allow `%s` for this session"
	deny         = "Deny"
)

// confirm is what is typed to allow what can't be undone.
const confirm = "CONFIRM"

// message is the text for the user. The action comes first, because some programs show
// only the beginning; the reason comes before a diff, which may be long.
func message(q dispatch.Ask) string {
	parts := []string{q.Title, q.Reason, q.Body}
	if q.Brief != "" {
		parts = []string{q.Title, q.Brief, q.Reason}
		if !q.BriefAll {
			parts = append(parts, q.Body)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// Approve puts the dispatcher's question to the user. What can be undone is
// allowed unless the user chooses otherwise, which saves keys; what can't has to
// be typed.
func (a *Asker) Approve(ctx context.Context, q dispatch.Ask) (dispatch.Answer, error) {
	message := message(q)
	if q.Irrecoverable {
		typed, ok, err := a.one(ctx, message, field{Title: "Type " + confirm, Description: "This can't be undone. Any other word denies it."})
		return dispatch.Answer{Allow: ok && typed == confirm, Typed: typed, Scope: dispatch.Once}, err
	}
	f := field{Title: "Decision", Enum: []string{allow, deny}, Default: allow}
	if q.Rememberable {
		f.Enum = []string{allow, allowSession, deny}
	}
	alike := fmt.Sprintf(allowPattern, q.Pattern)
	if q.Pattern != "" {
		f.Enum = slices.Insert(f.Enum, len(f.Enum)-1, alike)
	}
	answer, _, err := a.one(ctx, message, f)
	out := dispatch.Answer{Scope: dispatch.Once}
	switch answer {
	case allow:
		out.Allow = true
	case allowSession:
		out.Allow, out.Scope = true, dispatch.ForSession
	case alike:
		out.Allow, out.Scope = true, dispatch.Pattern
	}
	return out, err
}
