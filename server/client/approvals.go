package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Confirm is what a person has to type before what can't be undone is done.
const Confirm = "CONFIRM"

// defaultExpiry bounds a question that has no end of its own.
const defaultExpiry = 5 * time.Minute

// The buttons of an approval.
const (
	buttonAllow         = "Allow"
	buttonSession       = "Allow for session"
	buttonPattern       = "Allow `%s` for this session"
	buttonDeny          = "Deny"
	ButtonIrrecoverable = "Run irrecoverable command"
)

// Approvals puts the dispatcher's questions to the user. A question is open on
// every way that the client has, and the first answer wins: a request that the
// editor shows, and the commands sidecar.approval.* at any time.
type Approvals struct {
	client *Client

	mu   sync.Mutex
	open []*Approval // oldest first
}

// Approval is a question that is not answered yet.
type Approval struct {
	dispatch.Ask
	byHand bool                 // the editor can't show it: only a command or a code action answers it
	answer chan dispatch.Answer // has room for the one answer
}

// ErrGone is the error of a question to an editor that is no longer there.
var ErrGone = lsp.ErrPeerGone

// ErrDismissed says that a person closed a question.
var ErrDismissed = errors.New(dispatch.Dismissed)

// NewApprovals has no question yet.
func NewApprovals(c *Client) *Approvals { return &Approvals{client: c} }

// Approve asks the user. Every error means no.
func (a *Approvals) Approve(ctx context.Context, ask dispatch.Ask) (dispatch.Answer, error) {
	if ask.Expires.IsZero() {
		ask.Expires = time.Now().Add(defaultExpiry)
	}
	ctx, cancel := context.WithDeadline(ctx, ask.Expires)
	asked := make(chan struct{})
	defer func() {
		cancel()
		<-asked
	}()
	q := &Approval{Ask: ask, answer: make(chan dispatch.Answer, 1)}
	a.mu.Lock()
	a.open = append(a.open, q)
	a.mu.Unlock()
	defer a.remove(q)

	failed := make(chan error, 1)
	go func() {
		defer close(asked)
		answer, err := a.ask(ctx, q)
		switch {
		case Unsupported(err):
			a.leave(ctx, q)
		case err != nil:
			failed <- err
		case a.remove(q):
			q.answer <- answer
		}
	}()
	select {
	case answer := <-q.answer:
		return answer, nil
	case err := <-failed:
		if !a.remove(q) { // answered at the same moment
			return <-q.answer, nil
		}
		if errors.Is(err, ErrDismissed) {
			return dispatch.Answer{Reason: err.Error()}, nil
		}
		return dispatch.Answer{}, err
	case <-ctx.Done():
		return dispatch.Answer{}, ctx.Err()
	}
}

// ask has the editor show the question.
func (a *Approvals) ask(ctx context.Context, q *Approval) (dispatch.Answer, error) {
	if a.client.Can.Sidecar.Approve {
		return a.askDirectly(ctx, q)
	}
	params := lsp.ShowMessageRequestParams{Type: lsp.MessageInfo, Message: q.Title + "\n" + q.Detail}
	if !q.Rememberable && !q.Irrecoverable {
		params.Message += "\n(This is asked every time: Allow for session allows it once.)"
	}
	alike := fmt.Sprintf(buttonPattern, q.Pattern)
	buttons := []string{buttonAllow, buttonSession, buttonDeny}
	if q.Pattern != "" {
		buttons = []string{buttonAllow, buttonSession, alike, buttonDeny}
	}
	if q.Irrecoverable {
		params.Type = lsp.MessageWarning
		buttons = []string{ButtonIrrecoverable, buttonDeny}
	}
	for _, b := range buttons {
		params.Actions = append(params.Actions, lsp.MessageActionItem{Title: b})
	}
	var chosen *lsp.MessageActionItem
	if err := a.client.Call(ctx, "window/showMessageRequest", params, &chosen); err != nil {
		return dispatch.Answer{}, err
	}
	switch {
	case chosen == nil:
		return dispatch.Answer{}, ErrDismissed
	case !slices.Contains(buttons, chosen.Title):
		return dispatch.Answer{Scope: dispatch.Once, Reason: "the editor gave an answer that was not offered"}, nil
	}
	switch chosen.Title {
	case buttonAllow:
		return dispatch.Answer{Allow: true, Scope: dispatch.Once}, nil
	case buttonSession:
		return dispatch.Answer{Allow: true, Scope: dispatch.ForSession}, nil
	case alike:
		return dispatch.Answer{Allow: true, Scope: dispatch.Pattern}, nil
	case ButtonIrrecoverable:
		return dispatch.Answer{Allow: true, Scope: dispatch.Once, Typed: Confirm}, nil
	}
	return dispatch.Answer{Scope: dispatch.Once}, nil
}

// askDirectly is ask for a client that has a dialog of its own.
func (a *Approvals) askDirectly(ctx context.Context, q *Approval) (dispatch.Answer, error) {
	var r *approveResult
	err := a.client.Call(ctx, "sidecar/approve", approveParams{
		CallID: q.CallID, Session: q.Session, AgentPath: q.AgentPath, Tool: q.Tool, Title: q.Title, Detail: q.Detail,
		Arguments: q.Arguments, Diff: q.Diff, Effects: q.Effects, Rule: q.Rule, Irrecoverable: q.Irrecoverable, Rememberable: q.Rememberable, Pattern: q.Pattern,
		ID: q.ID, Hash: q.Hash, ExpiresAt: q.Expires, Always: alwaysRule(q.Ask),
	}, &r)
	if err != nil {
		return dispatch.Answer{}, err
	}
	if r == nil {
		return dispatch.Answer{}, ErrDismissed
	}
	answer, err := answerOf(q, r.Outcome, r.Scope, r.Typed)
	if err != nil {
		return dispatch.Answer{Reason: err.Error()}, nil //nolint:nilerr // what is no answer allows nothing
	}
	answer.Reason = r.Reason
	return answer, nil
}

// answerOf checks an answer that was not given with one of our buttons.
func answerOf(q *Approval, outcome string, scope dispatch.Scope, typed string) (dispatch.Answer, error) {
	switch scope {
	case "":
		scope = dispatch.Once
	case dispatch.Once, dispatch.ForSession, dispatch.Pattern:
	default:
		return dispatch.Answer{}, InvalidParams("scope: once, session or pattern is expected")
	}
	switch outcome {
	case "deny":
		return dispatch.Answer{Scope: scope}, nil
	case "allow":
	default:
		return dispatch.Answer{}, InvalidParams("outcome: allow or deny is expected")
	}
	if q.Irrecoverable {
		if typed != Confirm {
			return dispatch.Answer{}, InvalidParams("typed: this can't be undone; the word %s is expected", Confirm)
		}
		scope = dispatch.Once
	}
	return dispatch.Answer{Allow: true, Scope: scope, Typed: typed}, nil
}

// leave leaves the question open for the commands and tells the user so.
func (a *Approvals) leave(ctx context.Context, q *Approval) {
	a.mu.Lock()
	q.byHand = true
	a.mu.Unlock()
	how := "run sidecar.approval.allowOldest or sidecar.approval.denyOldest, or use the code action"
	if q.Irrecoverable {
		how = "it can't be undone: allow it with the code action, or run sidecar.approval.denyOldest"
	}
	a.client.Warn(ctx, "sidecar asks: "+q.Title+"\n"+q.Detail+"\n("+how+")")
}

// remove closes a question. It reports whether it was open: whoever gets true
// is the first and only one to answer.
func (a *Approvals) remove(q *Approval) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.open, q)
	if i < 0 {
		return false
	}
	a.open = slices.Delete(a.open, i, i+1)
	return true
}

// List returns the open questions, oldest first.
func (a *Approvals) List() []*Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.open)
}

// Unshown returns those of them that the editor could not show.
func (a *Approvals) Unshown() []*Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []*Approval
	for _, q := range a.open {
		if q.byHand {
			out = append(out, q)
		}
	}
	return out
}

// AnswerArgs are those of sidecar.approval.answer.
type AnswerArgs struct {
	ID      string         `json:"id"`
	Outcome string         `json:"outcome"`
	Scope   dispatch.Scope `json:"scope,omitempty"`
	Typed   string         `json:"typed,omitempty"`
	Reason  string         `json:"reason,omitempty"` // for the agent
}

// Answer answers the question with that id, or the oldest one for "".
func (a *Approvals) Answer(r AnswerArgs) error {
	for _, q := range a.List() {
		if r.ID != "" && q.ID != r.ID {
			continue
		}
		answer, err := answerOf(q, r.Outcome, r.Scope, r.Typed)
		if err != nil {
			return err
		}
		if !a.remove(q) {
			break
		}
		answer.Reason = r.Reason
		q.answer <- answer
		return nil
	}
	if r.ID == "" {
		return InvalidParams("no approval is open")
	}
	return InvalidParams("id: no such approval is open; it was answered or has expired")
}

// approveParams are those of the request sidecar/approve.
type approveParams struct {
	CallID        string              `json:"callId"`
	Session       string              `json:"session"`
	AgentPath     []string            `json:"agentPath"`
	Tool          string              `json:"tool"`
	Title         string              `json:"title"`
	Detail        string              `json:"detail"`
	Arguments     json.RawMessage     `json:"arguments"`
	Diff          string              `json:"diff,omitempty"`
	Effects       dispatch.EffectList `json:"effects"`
	Rule          string              `json:"rule,omitempty"`
	Irrecoverable bool                `json:"irrecoverable"`
	Rememberable  bool                `json:"rememberable"`      // else an answer holds once, whatever its scope
	Pattern       string              `json:"pattern,omitempty"` // what the scope pattern holds for; without it that scope holds once
	ID            string              `json:"id"`
	Hash          string              `json:"hash"`
	ExpiresAt     time.Time           `json:"expiresAt"`
	Always        *ruleForGood        `json:"always,omitempty"` // what sidecar.policy.allowAlways can be asked for
}

// ruleForGood is a rule as that command takes it.
type ruleForGood struct {
	Prefix   []string `json:"prefix"`
	Decision string   `json:"decision"`
	Rest     string   `json:"rest"`
	Packages string   `json:"packages,omitempty"`
	Host     string   `json:"host,omitempty"` // it is no command, but this host
}

func alwaysRule(q dispatch.Ask) *ruleForGood {
	if q.Always == "" {
		return nil
	}
	return &ruleForGood{strings.Fields(q.Always), "allow", "known", q.Packages, q.Host}
}

type approveResult struct {
	Outcome string         `json:"outcome"`
	Scope   dispatch.Scope `json:"scope"`
	Reason  string         `json:"reason"`
	Typed   string         `json:"typed"`
}
