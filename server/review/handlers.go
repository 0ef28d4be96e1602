package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
)

type sessionArgs struct {
	Session string `json:"session,omitempty"`
}

// List lists the pending edits of a session; "" is all.
func List(_ context.Context, q *Queue, a sessionArgs) (Listed, error) {
	return q.reviewList(q.Store.List(a.Session), a.Session), nil
}

// DiffResult is a diff of pending edits.
type DiffResult struct {
	Diff string `json:"diff"`
}

// Diff is the diff of the pending edits, or of those of a file.
func Diff(_ context.Context, q *Queue, a FileArgs) (DiffResult, error) {
	name := ""
	if a.URI != "" {
		var err error
		if name, err = q.Name("uri", a.URI); err != nil {
			return DiffResult{}, err
		}
	}
	text, err := q.Store.Diff(name)
	return DiffResult{text}, Error(err)
}

type textArgs struct {
	URI  string `json:"uri"`
	Side string `json:"side"`
}

// TextResult is one side of a pending edit.
type TextResult struct {
	Text string `json:"text"`
}

// Text is one side of a pending edit, as an editor shows it.
func Text(_ context.Context, q *Queue, a textArgs) (TextResult, error) {
	side := pendingedits.Side(a.Side)
	if side != pendingedits.Base && side != pendingedits.Proposed && side != pendingedits.Taken {
		return TextResult{}, client.InvalidParams("side: base, proposed or taken is expected")
	}
	name, err := q.Name("uri", a.URI)
	if err != nil {
		return TextResult{}, err
	}
	data, err := q.Store.Text(name, side)
	if err != nil {
		return TextResult{}, Error(err)
	}
	if text, err := workspace.DecodeText([]byte(data)); err == nil {
		data = text.Body // as an editor shows it
	}
	return TextResult{data}, nil
}

type acceptArgs struct {
	URIs     []string `json:"uris,omitempty"`
	Hunks    []string `json:"hunks,omitempty"`
	Revision int64    `json:"revision,omitempty"`
	Session  string   `json:"session,omitempty"`
	Take     bool     `json:"take,omitempty"` // what is in conflict, in the place of the user's lines
}

// AcceptResult says what was accepted, and what not.
type AcceptResult struct {
	Accepted []string            `json:"accepted"`
	Failed   []documents.Failure `json:"failed"`
	Commits  []CommitResult      `json:"commits,omitempty"`
	Revision int64               `json:"revision"`
}

// Accept accepts what was chosen, or all.
func Accept(ctx context.Context, q *Queue, a acceptArgs) (AcceptResult, error) {
	if a.Take {
		if len(a.Hunks) == 0 || len(a.URIs) > 0 {
			return AcceptResult{}, client.InvalidParams("take: hunks are expected with it, and no uris")
		}
		taken, err := pendingedits.TakeProposed(ctx, q.Store, a.Hunks)
		if err != nil {
			return AcceptResult{}, Error(err)
		}
		a.Hunks = append([]string{}, taken...)
	}
	sel, err := q.selection(a.URIs, a.Hunks, a.Revision, a.Session)
	if err != nil {
		return AcceptResult{}, err
	}
	if nothingChosen(a.URIs, a.Hunks) {
		return AcceptResult{Accepted: []string{}, Failed: []documents.Failure{}, Revision: q.Store.Revision()}, nil
	}
	var part *pendingedits.PartError
	if errors.As(q.Store.CheckParts(sel, q.batch(sel.Session)), &part) {
		member := "uris"
		if part.Hunk {
			member = "hunks"
		}
		return AcceptResult{}, client.InvalidParams("%s.%d: a batch (audit mode) is accepted as a whole or not at all; leave uris and hunks out", member, part.Index)
	}
	r, err := q.Store.Accept(ctx, sel)
	if errors.Is(err, pendingedits.ErrBatch) {
		return AcceptResult{}, client.InvalidParams("uris, hunks: %v", err) // it became one just now
	}
	if ctx.Err() != nil && len(r.Accepted) == 0 {
		return AcceptResult{}, ctx.Err()
	}
	if errors.Is(err, workspace.ErrConflict) {
		r = q.Store.Refused(sel, err) // what was seen is not what is there: nothing is accepted
	}
	if err != nil && len(r.Failed) == 0 { // nor is there a file to say it of
		return AcceptResult{}, Error(err)
	}
	q.Live.SaveAccepted(ctx, r.Accepted)
	q.Changed()
	return AcceptResult{q.uris(r.Accepted), q.failures(r.Failed), commitResults(r.Commits), r.Revision}, nil
}

// nothingChosen tells an empty choice, as of a list in which nothing is
// ticked, from no choice, which means all.
func nothingChosen(uris, hunks []string) bool {
	return len(uris)+len(hunks) == 0 && (uris != nil || hunks != nil)
}

type rejectArgs struct {
	URIs     []string `json:"uris,omitempty"`
	Hunks    []string `json:"hunks,omitempty"`
	Revision int64    `json:"revision,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Session  string   `json:"session,omitempty"`
}

// RejectResult says what was rejected.
type RejectResult struct {
	Rejected []string       `json:"rejected"`
	Commits  []QueuedCommit `json:"commits,omitempty"` // that will not be made
	Made     []CommitResult `json:"made,omitempty"`    // of commits that waited for nothing else
	Revision int64          `json:"revision"`
}

// Reject rejects what was chosen, or all.
func Reject(ctx context.Context, q *Queue, a rejectArgs) (RejectResult, error) {
	sel, err := q.selection(a.URIs, a.Hunks, a.Revision, a.Session)
	if err != nil {
		return RejectResult{}, err
	}
	if nothingChosen(a.URIs, a.Hunks) {
		return RejectResult{Rejected: []string{}, Revision: q.Store.Revision()}, nil
	}
	r, err := q.Store.Reject(ctx, sel, a.Reason)
	if err != nil {
		return RejectResult{}, Error(err)
	}
	q.Changed()
	return RejectResult{q.uris(r.Rejected), queuedCommits(r.Commits), commitResults(r.Made), r.Revision}, nil
}

type proposeArgs struct {
	URI  string `json:"uri"`
	Text string `json:"text"`
}

// Propose gives a pending edit another text.
func Propose(ctx context.Context, q *Queue, a proposeArgs) (struct{}, error) {
	name, err := q.Name("uri", a.URI)
	if err != nil {
		return struct{}{}, err
	}
	data, err := proposal(q.Store, name, a.Text)
	if err != nil {
		return struct{}{}, Error(err)
	}
	err = q.Store.Propose(ctx, name, data)
	q.Changed()
	return struct{}{}, Error(err)
}

// proposal is text in the form that the proposal has now, or else its base.
func proposal(st *pendingedits.Store, name, text string) ([]byte, error) {
	now, err := st.Text(name, pendingedits.Proposed)
	if err == nil && now == "" {
		now, err = st.Text(name, pendingedits.Base)
	}
	if err != nil {
		return nil, err
	}
	f := documents.FormOf([]byte(now))
	if f.Unknown() {
		return nil, fmt.Errorf("%s: its encoding is not known, so its text can't be edited here", name)
	}
	return f.Bytes(text), nil
}
