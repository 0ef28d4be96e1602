package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
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
		"with the pattern":           {dispatch.Ask{Rememberable: true, Pattern: "go test *"}, accepted("Allow `go test *` for this session"), nil, true, dispatch.Pattern},
		"another pattern":            {dispatch.Ask{Rememberable: true, Pattern: "go test *"}, accepted("Allow `*` for this session"), nil, false, dispatch.Once},
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

// TestWhoSaidNo: a no is the user's only if a person can have read the question
// and chosen.
func TestWhoSaidNo(t *testing.T) {
	for name, c := range map[string]struct {
		action string
		after  time.Duration
		want   error // of Approve
		ask    error // of Choose
	}{
		"declined by a program":      {"decline", 22 * time.Millisecond, ErrUnseen, ErrUnseen},
		"closed by a program":        {"cancel", 22 * time.Millisecond, ErrUnseen, ErrUnseen},
		"declined at the last":       {"decline", quickest - 1, ErrUnseen, ErrUnseen},
		"declined by a quick person": {"decline", quickest, nil, nil},
		"closed by a person":         {"cancel", 3 * time.Second, ErrClosed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			clock := time.Unix(0, 0)
			a := &Asker{
				ask: func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
					clock = clock.Add(c.after)
					return &sdk.ElicitResult{Action: c.action}, nil
				},
				now: func() time.Time { return clock },
			}
			for _, q := range []dispatch.Ask{{}, {Irrecoverable: true}} {
				if got, err := a.Approve(t.Context(), q); got.Allow || !errors.Is(err, c.want) {
					t.Errorf("%+v, %v, want %v", got, err, c.want)
				}
			}
			if _, ok, err := a.Choose(t.Context(), "Which?", []string{"a"}, false); ok || !errors.Is(err, c.ask) {
				t.Errorf("a question: %v, %v, want %v", ok, err, c.ask)
			}
		})
	}
}

// TestQuestion: the action comes first, then the reason, and nothing stands there twice;
// Allow is preset, but never for an irrecoverable call.
func TestQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		ask    dispatch.Ask
		want   string
		preset string
	}{
		"an edit":       {dispatch.Ask{Title: "Change `a`?", Brief: "a:3: -x / +y", BriefAll: true, Body: "--- a/a", Reason: "the mode asks"}, "Change `a`?\n\na:3: -x / +y\n\nthe mode asks", "Allow"},
		"a long edit":   {dispatch.Ask{Title: "Change `a`?", Brief: "a:3: -x / … 9 more lines", Body: "--- a/a", Reason: "the mode asks"}, "Change `a`?\n\na:3: -x / … 9 more lines\n\nthe mode asks\n\n--- a/a", "Allow"},
		"a command":     {dispatch.Ask{Title: "Run `make`?", Reason: "the mode asks", Rememberable: true}, "Run `make`?\n\nthe mode asks", "Allow"},
		"two lines":     {dispatch.Ask{Title: "Run `make …`?", Body: "make\nls", Reason: "the mode asks", Rememberable: true}, "Run `make …`?\n\nthe mode asks\n\nmake\nls", "Allow"},
		"irrecoverable": {dispatch.Ask{Title: "Run `rm -rf x`?", Reason: "It can't be undone: rm", Irrecoverable: true}, "Run `rm -rf x`?\n\nIt can't be undone: rm", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Asker{ask: func(_ context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
				if p.Message != c.want {
					t.Errorf("message %q", p.Message)
				}
				var f form
				if err := json.Unmarshal(p.RequestedSchema.(json.RawMessage), &f); err != nil {
					t.Fatal(err)
				}
				answer := f.Properties["answer"]
				if answer.Default != c.preset || c.preset != "" && answer.Enum[0] != c.preset {
					t.Errorf("preset %q of %q", answer.Default, answer.Enum)
				}
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer.Default}}, nil
			}}
			if got, err := a.Approve(t.Context(), c.ask); err != nil || got.Allow == c.ask.Irrecoverable {
				t.Errorf("Enter, Enter: %+v, %v", got, err)
			}
		})
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

// TestAskBy: a question reaches whoever asks in its own way, and the answer
// comes back as the dispatcher's.
func TestAskBy(t *testing.T) {
	for name, c := range map[string]struct {
		ask    dispatch.Ask
		answer string
		ok     bool
		allow  bool
	}{
		"yes":              {dispatch.Ask{Title: "Edit"}, "Allow", true, true},
		"no":               {dispatch.Ask{}, "Deny", true, false},
		"dismissed":        {dispatch.Ask{}, "Allow", false, false},
		"not offered":      {dispatch.Ask{}, "allow", true, false},
		"irrecoverable":    {dispatch.Ask{Irrecoverable: true}, "CONFIRM", true, true},
		"another word":     {dispatch.Ask{Irrecoverable: true}, "yes", true, false},
		"for ever and all": {dispatch.Ask{}, "Allow for session", true, false},
	} {
		var asked Question
		a := AskBy(func(_ context.Context, q Question) (string, bool, error) {
			asked = q
			return c.answer, c.ok, nil
		})
		got, _ := a.Approve(t.Context(), c.ask)
		if got.Allow != c.allow || asked.Field == "" || (asked.Options == nil) != c.ask.Irrecoverable {
			t.Errorf("%s: %+v, asked %+v", name, got, asked)
		}
	}
	broken := AskBy(func(context.Context, Question) (string, bool, error) { return "Allow", true, errors.New("no terminal") })
	if got, err := broken.Approve(t.Context(), dispatch.Ask{}); got.Allow || err == nil {
		t.Errorf("an error: %+v, %v", got, err)
	}
}
