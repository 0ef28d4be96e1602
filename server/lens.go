package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// The kinds of code action.
const (
	kindAccept  = "quickfix.sidecar.accept"
	kindReject  = "quickfix.sidecar.reject"
	kindApprove = "quickfix.sidecar.approve"
)

var actionKinds = []string{kindAccept, kindReject, kindApprove}

// selection is the argument of the accept and reject commands in lenses and
// actions. It names hunks, never only the file: a hunk's id stands for its
// content, so what is accepted is what was shown. A batch is named by its
// session and the revision at which it was shown.
type selection struct {
	Hunks    []string `json:"hunks,omitempty"`
	Session  string   `json:"session,omitempty"`
	Revision int64    `json:"revision,omitempty"`
}

func selected(title, command string, hunks ...pendingedits.Hunk) lsp.Command {
	ids := make([]string, len(hunks))
	for i, h := range hunks {
		ids[i] = h.ID
	}
	return lsp.Command{Title: title, Command: command, Arguments: []any{selection{Hunks: ids}}}
}

// acceptBatch accepts the batch that an edit is part of: no less can be.
func acceptBatch(title string, e pendingedits.Edit, revision int64) lsp.Command {
	return lsp.Command{Title: title, Command: "sidecar.review.accept", Arguments: []any{selection{Session: e.Session, Revision: revision}}}
}

// editOf returns the pending edit of a document, and the queue's revision.
func (s *Server) editOf(uri string) (e pendingedits.Edit, revision int64, doc *document, ok bool) {
	store := s.current().Review
	if store == nil {
		return e, 0, nil, false
	}
	doc = s.docs.at(uri)
	name := s.docs.nameOf(uri)
	if doc != nil && doc.name != "" {
		name = doc.name
	}
	if e, revision, ok = store.Edit(name); ok && liveName(e) == name {
		return e, revision, doc, true
	}
	// Another edit may have the document by a name through a link.
	list := store.List("")
	for _, e := range list.Edits {
		switch open := s.view().document(liveName(e)); {
		case doc != nil && open != nil && open.uri == doc.uri, doc == nil && name != "" && liveName(e) == name:
			return e, list.Revision, doc, true
		}
	}
	return e, 0, nil, false
}

// proposedScheme is that of a client's document which shows the proposed side
// of a file's pending edit, with the file's path: the right side of a diff.
const proposedScheme = "sidecar-proposed:"

// proposalOf returns the pending edit that gives a file its text, and the
// queue's revision. The file need not be there yet.
func (s *Server) proposalOf(uri string) (e pendingedits.Edit, revision int64, ok bool) {
	store := s.current().Review
	name, err := s.name("uri", uri)
	if store == nil || err != nil {
		return e, 0, false
	}
	list := store.List("")
	for _, e := range list.Edits {
		if e.Name == name {
			return e, list.Revision, true
		}
	}
	return e, 0, false
}

// proposedRange is where a hunk begins in the proposed text: at its own first
// line or, if it only deletes, at the line behind it.
func proposedRange(h pendingedits.Hunk) lsp.Range {
	start := h.NewStart - 1
	if h.NewLines == 0 {
		start++
	}
	return lsp.Range{Start: position(max(start, 0), 0), End: position(max(start, 0), 0)}
}

// codeLens handles textDocument/codeLens: what can be done with the whole file
// at its top, and with each hunk where it stands.
func (s *Server) codeLens(_ context.Context, params json.RawMessage) (any, error) {
	var p lsp.CodeLensParams
	if err := unmarshal(params, &p); err != nil {
		return nil, err
	}
	lenses := []lsp.CodeLens{}
	e, revision, doc, ok := s.editOf(p.TextDocument.URI)
	place := func(h pendingedits.Hunk) lsp.Range { return s.hunkRange(doc, e, h) }
	file, proposed := strings.CutPrefix(p.TextDocument.URI, proposedScheme)
	if proposed {
		e, revision, ok = s.proposalOf("file:" + file)
		place = proposedRange
	}
	if !ok {
		return lenses, nil
	}
	top := lsp.Range{}
	add := func(r lsp.Range, c lsp.Command) { lenses = append(lenses, lsp.CodeLens{Range: r, Command: &c}) }
	if e.Batch {
		add(top, acceptBatch("Accept the whole batch", e, revision))
	} else {
		add(top, selected("Accept file", "sidecar.review.accept", e.Hunks...))
	}
	add(top, selected("Reject file", "sidecar.review.reject", e.Hunks...))
	if !proposed { // else it is being shown
		add(top, lsp.Command{Title: "Show diff", Command: "sidecar.review.show", Arguments: []any{showArgs{URI: s.uri(e.Name)}}})
	}
	if e.Kind != "modify" {
		return lenses, nil
	}
	for _, h := range shownHunks(e) {
		r := place(h)
		r.End = r.Start
		if h.State != pendingedits.Conflict && !e.Batch {
			add(r, selected("Accept", "sidecar.review.accept", h))
		}
		add(r, selected("Reject", "sidecar.review.reject", h))
		if m := s.messageOf(h); m != nil {
			add(r, lsp.Command{Title: fmt.Sprintf("Message %d", m.Number), Command: "sidecar.agent.show", Arguments: []any{showRunArgs{m.Run, m.Seq}}})
		}
	}
	return lenses, nil
}

// codeAction handles textDocument/codeAction: the hunks under the range, the
// whole file, and questions that the editor could not show otherwise.
func (s *Server) codeAction(_ context.Context, params json.RawMessage) (any, error) {
	var p lsp.CodeActionParams
	if err := unmarshal(params, &p); err != nil {
		return nil, err
	}
	if before(p.Range.End, p.Range.Start) {
		return nil, invalidParams("range: its end is before its start")
	}
	actions := s.approvalActions()
	if e, revision, doc, ok := s.editOf(p.TextDocument.URI); ok {
		actions = append(actions, s.reviewActions(e, revision, doc, p.Range)...)
	}
	literals, commands := []lsp.CodeAction{}, []lsp.Command{}
	for _, a := range actions {
		if wanted(a.Kind, p.Context.Only) {
			literals, commands = append(literals, a), append(commands, *a.Command)
		}
	}
	if s.client.can.literalActions {
		return literals, nil
	}
	return commands, nil
}

func (s *Server) reviewActions(e pendingedits.Edit, revision int64, doc *document, at lsp.Range) []lsp.CodeAction {
	var actions []lsp.CodeAction
	add := func(kind string, c lsp.Command) {
		actions = append(actions, lsp.CodeAction{Title: c.Title, Kind: kind, Command: &c})
	}
	if e.Kind == "modify" {
		for _, h := range e.Hunks {
			r := s.hunkRange(doc, e, h)
			if before(at.End, r.Start) || before(r.End, at.Start) {
				continue
			}
			where := fmt.Sprintf(" (%s at line %d)", e.Tool, r.Start.Line+1)
			if h.State != pendingedits.Conflict && !e.Batch {
				add(kindAccept, selected("Accept pending change"+where, "sidecar.review.accept", h))
			}
			add(kindReject, selected("Reject pending change"+where, "sidecar.review.reject", h))
		}
	}
	if e.Batch {
		add(kindAccept, acceptBatch("Accept the whole batch of pending changes and commits", e, revision))
	} else {
		add(kindAccept, selected("Accept all pending changes of this file", "sidecar.review.accept", e.Hunks...))
	}
	add(kindReject, selected("Reject all pending changes of this file", "sidecar.review.reject", e.Hunks...))
	return actions
}

// approvalActions answer the questions that the editor could not show.
func (s *Server) approvalActions() []lsp.CodeAction {
	var actions []lsp.CodeAction
	for _, q := range s.approvals.unshown() {
		allow, typed := "Allow: ", ""
		if q.Irrecoverable {
			allow, typed = buttonIrrecoverable+": ", confirm
		}
		for _, c := range []lsp.Command{
			{Title: allow + q.Title, Arguments: []any{answerArgs{ID: q.ID, Outcome: "allow", Typed: typed}}},
			{Title: "Deny: " + q.Title, Arguments: []any{answerArgs{ID: q.ID, Outcome: "deny"}}},
		} {
			c.Command = "sidecar.approval.answer"
			actions = append(actions, lsp.CodeAction{Title: c.Title, Kind: kindApprove, Command: &c})
		}
	}
	return actions
}

func before(a, b lsp.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}

// wanted reports whether a client that asks for these kinds only wants one; a
// kind includes those that go on after a dot.
func wanted(kind string, only []string) bool {
	for _, o := range only {
		if o == "" || kind == o || strings.HasPrefix(kind, o+".") {
			return true
		}
	}
	return len(only) == 0
}
