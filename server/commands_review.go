package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

var errNoReview = errors.New("the review queue is not available: no folder is open in the editor")

func (s *Server) review() (*pendingedits.Store, error) {
	core := s.current()
	switch {
	case core.Review != nil:
		return core.Review, core.Review.Locked()
	case core.NoReview != nil:
		return nil, core.NoReview
	}
	return nil, errNoReview
}

// batch reports whether what a session proposes is accepted as a whole or not
// at all.
func (s *Server) batch(session string) bool {
	f := s.current().Batch
	return f != nil && f(session)
}

// name is the view name of a URI in a command's argument.
func (s *Server) name(member, uri string) (string, error) {
	path, ok := workspace.FilePath(uri)
	if !ok {
		return "", invalidParams("%s: %.200q is not a file URI", member, uri)
	}
	if s.view() == nil {
		return "", errNoReview
	}
	name, err := s.view().Resolve(path)
	if err != nil {
		return "", invalidParams("%s: %.200q: %v", member, uri, err)
	}
	return name, nil
}

type sessionArgs struct {
	Session string `json:"session,omitempty"`
}

type reviewList struct {
	Revision int64          `json:"revision"`
	Batch    bool           `json:"batch"`
	Edits    []pendingEdit  `json:"edits"`
	Commits  []queuedCommit `json:"commits"`

	Verified *pendingedits.Verified `json:"verified,omitempty"`

	// Problems are those that the edits would bring, also to files that none of
	// them is of.
	Problems []locatedProblem `json:"problems,omitempty"`
}

func (s *Server) listReview(_ context.Context, a sessionArgs) (reviewList, error) {
	st, err := s.review()
	if err != nil {
		return reviewList{}, err
	}
	return s.reviewList(st.List(a.Session), a.Session), nil
}

// reviewList is a list as the client is told it; session is whose it is, or "".
func (s *Server) reviewList(list pendingedits.List, session string) reviewList {
	var verified *pendingedits.Verified
	if st, err := s.review(); err == nil {
		verified = st.Verified()
	}
	batch := slices.ContainsFunc(list.Commits, func(c pendingedits.Commit) bool { return !c.ByFile }) || slices.ContainsFunc(list.Edits, func(e pendingedits.Edit) bool { return e.Batch })
	return reviewList{
		Revision: list.Revision, Batch: batch || s.batch(session),
		Edits: s.pendingEdits(list.Edits), Commits: queuedCommits(list.Commits),
		Problems: s.locate(list.Edits), Verified: verified,
	}
}

type diffArgs struct {
	URI string `json:"uri,omitempty"`
}

type diffResult struct {
	Diff string `json:"diff"`
}

func (s *Server) diffReview(_ context.Context, a diffArgs) (diffResult, error) {
	st, err := s.review()
	if err != nil {
		return diffResult{}, err
	}
	name := ""
	if a.URI != "" {
		if name, err = s.name("uri", a.URI); err != nil {
			return diffResult{}, err
		}
	}
	text, err := st.Diff(name)
	return diffResult{text}, reviewError(err)
}

type textArgs struct {
	URI  string `json:"uri"`
	Side string `json:"side"`
}

type textResult struct {
	Text string `json:"text"`
}

func (s *Server) textReview(_ context.Context, a textArgs) (textResult, error) {
	st, err := s.review()
	if err != nil {
		return textResult{}, err
	}
	side := pendingedits.Side(a.Side)
	if side != pendingedits.Base && side != pendingedits.Proposed {
		return textResult{}, invalidParams("side: base or proposed is expected")
	}
	name, err := s.name("uri", a.URI)
	if err != nil {
		return textResult{}, err
	}
	data, err := st.Text(name, side)
	if err != nil {
		return textResult{}, reviewError(err)
	}
	if text, err := workspace.DecodeText([]byte(data)); err == nil {
		data = text.Body // as an editor shows it
	}
	return textResult{data}, nil
}

type acceptArgs struct {
	URIs     []string `json:"uris,omitempty"`
	Hunks    []string `json:"hunks,omitempty"`
	Revision int64    `json:"revision,omitempty"`
	Session  string   `json:"session,omitempty"`
}

type acceptResult struct {
	Accepted []string       `json:"accepted"`
	Failed   []failure      `json:"failed"`
	Commits  []commitResult `json:"commits,omitempty"`
	Revision int64          `json:"revision"`
}

func (s *Server) acceptReview(ctx context.Context, a acceptArgs) (acceptResult, error) {
	st, err := s.review()
	if err != nil {
		return acceptResult{}, err
	}
	sel, err := s.selection(a.URIs, a.Hunks, a.Revision, a.Session)
	if err != nil {
		return acceptResult{}, err
	}
	if nothingChosen(a.URIs, a.Hunks) {
		return acceptResult{Accepted: []string{}, Failed: []failure{}, Revision: st.Revision()}, nil
	}
	var part *pendingedits.PartError
	if errors.As(st.CheckParts(sel, s.batch(sel.Session)), &part) {
		member := "uris"
		if part.Hunk {
			member = "hunks"
		}
		return acceptResult{}, invalidParams("%s.%d: a batch (audit mode) is accepted as a whole or not at all; leave uris and hunks out", member, part.Index)
	}
	r, err := st.Accept(ctx, sel)
	if errors.Is(err, pendingedits.ErrBatch) {
		return acceptResult{}, invalidParams("uris, hunks: %v", err) // it became one just now
	}
	if ctx.Err() != nil && len(r.Accepted) == 0 {
		return acceptResult{}, ctx.Err()
	}
	if errors.Is(err, workspace.ErrConflict) {
		r = st.Refused(sel, err) // what was seen is not what is there: nothing is accepted
	}
	if err != nil && len(r.Failed) == 0 { // nor is there a file to say it of
		return acceptResult{}, reviewError(err)
	}
	s.view().saveAccepted(ctx, r.Accepted)
	s.publisher.changed()
	return acceptResult{s.uris(r.Accepted), s.failures(r.Failed), commitResults(r.Commits), r.Revision}, nil
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

type rejectResult struct {
	Rejected []string       `json:"rejected"`
	Commits  []queuedCommit `json:"commits,omitempty"` // that will not be made
	Made     []commitResult `json:"made,omitempty"`    // of commits that waited for nothing else
	Revision int64          `json:"revision"`
}

func (s *Server) rejectReview(ctx context.Context, a rejectArgs) (rejectResult, error) {
	st, err := s.review()
	if err != nil {
		return rejectResult{}, err
	}
	sel, err := s.selection(a.URIs, a.Hunks, a.Revision, a.Session)
	if err != nil {
		return rejectResult{}, err
	}
	if nothingChosen(a.URIs, a.Hunks) {
		return rejectResult{Rejected: []string{}, Revision: st.Revision()}, nil
	}
	r, err := st.Reject(ctx, sel, a.Reason)
	if err != nil {
		return rejectResult{}, reviewError(err)
	}
	s.publisher.changed()
	return rejectResult{s.uris(r.Rejected), queuedCommits(r.Commits), commitResults(r.Made), r.Revision}, nil
}

type proposeArgs struct {
	URI  string `json:"uri"`
	Text string `json:"text"`
}

func (s *Server) proposeReview(ctx context.Context, a proposeArgs) (none, error) {
	st, err := s.review()
	if err != nil {
		return none{}, err
	}
	name, err := s.name("uri", a.URI)
	if err != nil {
		return none{}, err
	}
	data, err := proposal(st, name, a.Text)
	if err != nil {
		return none{}, reviewError(err)
	}
	err = st.Propose(ctx, name, data)
	s.publisher.changed()
	return none{}, reviewError(err)
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
	f := formOf([]byte(now))
	if f.set && f.text.Encoding == workspace.Bytes {
		return nil, fmt.Errorf("%s: its encoding is not known, so its text can't be edited here", name)
	}
	return f.bytes(text), nil
}

func (s *Server) selection(uris, hunks []string, revision int64, session string) (pendingedits.Selection, error) {
	sel := pendingedits.Selection{Hunks: hunks, Revision: revision, Session: session}
	for i, uri := range uris {
		name, err := s.name(fmt.Sprintf("uris.%d", i), uri)
		if err != nil {
			return sel, err
		}
		sel.Names = append(sel.Names, name)
	}
	return sel, nil
}

func (s *Server) uris(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = s.uri(name)
	}
	return out
}

func (s *Server) failures(failed []pendingedits.Failure) []failure {
	out := make([]failure, len(failed))
	for i, f := range failed {
		out[i] = failure{s.uri(f.Name), f.Err.Error()}
		if errors.Is(f.Err, workspace.ErrConflict) && !strings.HasPrefix(out[i].Error, string(tools.Conflict)) {
			out[i].Error = string(tools.Conflict) + ": " + out[i].Error
		}
	}
	return out
}

// reviewError gives a conflict its code, which clients branch on.
func reviewError(err error) error {
	if errors.Is(err, workspace.ErrConflict) {
		return tools.Errorf(tools.Conflict, "%v; look at the edits again", err)
	}
	return err
}
