package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
)

// TestApprove: only a clear yes is one, whatever the agent answers.
func TestApprove(t *testing.T) {
	accepted := func(answer any) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}
	}
	for name, c := range map[string]struct {
		ask    dispatch.Ask
		result *sdk.ElicitResult
		err    error
		allow  bool
		scope  dispatch.Scope
	}{
		"yes":                        {dispatch.Ask{}, accepted("Allow"), nil, true, dispatch.Once},
		"for the session":            {dispatch.Ask{Rememberable: true}, accepted("Allow for session"), nil, true, dispatch.ForSession},
		"the session, not offered":   {dispatch.Ask{}, accepted("Allow for session"), nil, false, dispatch.Once},
		"no":                         {dispatch.Ask{}, accepted("Deny"), nil, false, dispatch.Once},
		"something else":             {dispatch.Ask{}, accepted("allow"), nil, false, dispatch.Once},
		"no text":                    {dispatch.Ask{}, accepted(true), nil, false, dispatch.Once},
		"declined":                   {dispatch.Ask{}, &sdk.ElicitResult{Action: "decline", Content: map[string]any{"answer": "Allow"}}, nil, false, dispatch.Once},
		"cancelled":                  {dispatch.Ask{}, &sdk.ElicitResult{Action: "cancel"}, nil, false, dispatch.Once},
		"empty":                      {dispatch.Ask{}, &sdk.ElicitResult{Action: "accept"}, nil, false, dispatch.Once},
		"an error":                   {dispatch.Ask{}, nil, errors.New("lost"), false, dispatch.Once},
		"irrecoverable, the word":    {dispatch.Ask{Irrecoverable: true}, accepted("CONFIRM"), nil, true, dispatch.Once},
		"irrecoverable, another one": {dispatch.Ask{Irrecoverable: true}, accepted("Allow"), nil, false, dispatch.Once},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Asker{ask: func(_ context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
				if p.Mode != "form" || !json.Valid(p.RequestedSchema.(json.RawMessage)) {
					t.Errorf("asked %+v", p)
				}
				return c.result, c.err
			}}
			got, err := a.Approve(t.Context(), c.ask)
			if got.Allow != c.allow || got.Scope != c.scope {
				t.Errorf("%+v, %v", got, err)
			}
			if c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	var nobody *Asker
	if got, err := nobody.Approve(t.Context(), dispatch.Ask{}); got.Allow || !errors.Is(err, ErrCantAsk) {
		t.Errorf("nobody: %+v, %v", got, err)
	}
	if _, ok, err := nobody.Choose(t.Context(), "Which?", []string{"a"}, false); ok || !errors.Is(err, ErrCantAsk) {
		t.Errorf("nobody: %v", err)
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"": "agent", "claude-code": "claude-code", "Some Agent": "some-agent", "../../x": "x", "\x1b[31m": "31m", "日本": "agent",
		"a-name-that-is-far-too-long-for-any-session": "a-name-that-is-far-too-long-for",
	} {
		if got := slug(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
