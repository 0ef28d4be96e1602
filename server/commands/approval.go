package commands

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

type openApproval struct {
	ID            string    `json:"id"`
	CallID        string    `json:"callId"`
	Session       string    `json:"session"`
	Tool          string    `json:"tool"`
	Title         string    `json:"title"`
	Detail        string    `json:"detail"`
	Irrecoverable bool      `json:"irrecoverable"`
	Pattern       string    `json:"pattern,omitempty"`
	ExpiresAt     time.Time `json:"expiresAt"`
}

// ApprovalList are the questions that are open.
type ApprovalList struct {
	Approvals []openApproval `json:"approvals"`
}

func listApprovals(_ context.Context, a *client.Approvals, _ none) (ApprovalList, error) {
	out := ApprovalList{Approvals: []openApproval{}}
	for _, q := range a.List() {
		out.Approvals = append(out.Approvals, openApproval{q.ID, q.CallID, q.Session, q.Tool, q.Title, q.Detail, q.Irrecoverable, q.Pattern, q.Expires})
	}
	return out, nil
}

func answerApproval(_ context.Context, open *client.Approvals, a client.AnswerArgs) (none, error) {
	if a.ID == "" {
		return none{}, client.InvalidParams("id: is empty")
	}
	return none{}, open.Answer(a)
}

func allowOldest(_ context.Context, a *client.Approvals, _ none) (none, error) {
	return none{}, a.Answer(client.AnswerArgs{Outcome: "allow", Scope: dispatch.Once})
}

func denyOldest(_ context.Context, a *client.Approvals, _ none) (none, error) {
	return none{}, a.Answer(client.AnswerArgs{Outcome: "deny", Scope: dispatch.Once})
}
