package server

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
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

type approvalList struct {
	Approvals []openApproval `json:"approvals"`
}

func (s *Server) listApprovals(context.Context, none) (approvalList, error) {
	out := approvalList{Approvals: []openApproval{}}
	for _, q := range s.approvals.list() {
		out.Approvals = append(out.Approvals, openApproval{q.ID, q.CallID, q.Session, q.Tool, q.Title, q.Detail, q.Irrecoverable, q.Pattern, q.Expires})
	}
	return out, nil
}

type answerArgs struct {
	ID      string         `json:"id"`
	Outcome string         `json:"outcome"`
	Scope   dispatch.Scope `json:"scope,omitempty"`
	Typed   string         `json:"typed,omitempty"`
}

func (s *Server) answerApproval(_ context.Context, a answerArgs) (none, error) {
	if a.ID == "" {
		return none{}, invalidParams("id: is empty")
	}
	return none{}, s.approvals.reply(a.ID, a.Outcome, a.Scope, a.Typed)
}

func (s *Server) allowOldest(context.Context, none) (none, error) {
	return none{}, s.approvals.reply("", "allow", dispatch.Once, "")
}

func (s *Server) denyOldest(context.Context, none) (none, error) {
	return none{}, s.approvals.reply("", "deny", dispatch.Once, "")
}
