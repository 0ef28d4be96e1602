package review

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
)

// The kinds of code action.
const (
	KindAccept  = "quickfix.sidecar.accept"
	KindReject  = "quickfix.sidecar.reject"
	KindApprove = "quickfix.sidecar.approve"
)

// ActionKinds are the kinds of code action.
var ActionKinds = []string{KindAccept, KindReject, KindApprove}

// The titles of what decides on a conflict.
const (
	KeepMine     = "Keep mine"
	TakeProposed = "Take the agent's"
)

// selection is the argument of the accept and reject commands in lenses and
// actions. It names hunks, never only the file: a hunk's id stands for its
// content, so what is accepted is what was shown. A batch is named by its
// session and the revision at which it was shown.
type selection struct {
	Hunks    []string `json:"hunks,omitempty"`
	Session  string   `json:"session,omitempty"`
	Revision int64    `json:"revision,omitempty"`
	Take     bool     `json:"take,omitempty"`
}

func selected(title, command string, hunks ...pendingedits.Hunk) lsp.Command {
	ids := make([]string, len(hunks))
	for i, h := range hunks {
		ids[i] = h.ID
	}
	return lsp.Command{Title: title, Command: command, Arguments: []any{selection{Hunks: ids}}}
}

// take accepts what is in conflict, in the place of the user's lines.
func take(title string, hunks ...pendingedits.Hunk) lsp.Command {
	c := selected(title, "sidecar.review.accept", hunks...)
	s := c.Arguments[0].(selection)
	s.Take = true
	c.Arguments[0] = s
	return c
}

// acceptBatch accepts the batch that an edit is part of: no less can be.
func acceptBatch(title string, e pendingedits.Edit, revision int64) lsp.Command {
	return lsp.Command{Title: title, Command: "sidecar.review.accept", Arguments: []any{selection{Session: e.Session, Revision: revision}}}
}

// editOf returns the pending edit of a document, and the queue's revision.
func (q *Queue) editOf(uri string) (e pendingedits.Edit, revision int64, doc *documents.Document, ok bool) {
	if q.Store == nil {
		return e, 0, nil, false
	}
	doc = q.Docs.At(uri)
	name := q.Docs.NameOf(uri)
	if doc != nil && doc.Name != "" {
		name = doc.Name
	}
	if e, revision, ok = q.Store.Edit(name); ok && liveName(e) == name {
		return e, revision, doc, true
	}
	// Another edit may have the document by a name through a link.
	list := q.Store.List("")
	for _, e := range list.Edits {
		switch open := q.Live.Document(liveName(e)); {
		case doc != nil && open != nil && open.URI == doc.URI, doc == nil && name != "" && liveName(e) == name:
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
func (q *Queue) proposalOf(uri string) (e pendingedits.Edit, revision int64, ok bool) {
	name, err := q.Name("uri", uri)
	if q.Store == nil || err != nil {
		return e, 0, false
	}
	list := q.Store.List("")
	for _, e := range list.Edits {
		if e.Name == name {
			return e, list.Revision, true
		}
	}
	return e, 0, false
}

// proposedRange is where the lenses of a hunk stand beside the proposed text. Those of a hunk that
// takes lines away stand over the line before it: an editor draws what is taken away between
// that line and what comes in its place, and lenses would tear the two apart.
func proposedRange(h pendingedits.Hunk) lsp.Range {
	start := h.NewStart - 1
	if h.TakenStart > 0 {
		start = h.TakenStart - 1
	}
	if h.OldLines > 0 && h.NewLines > 0 {
		start--
	}
	return lsp.Range{Start: documents.Position(max(start, 0), 0), End: documents.Position(max(start, 0), 0)}
}

// Lenses handles textDocument/codeLens: what can be done with the whole file
// at its top, and with each hunk where it stands.
func (q *Queue) Lenses(params json.RawMessage) (any, error) {
	var p lsp.CodeLensParams
	if err := client.Decode(params, &p); err != nil {
		return nil, err
	}
	lenses := []lsp.CodeLens{}
	e, revision, doc, ok := q.editOf(p.TextDocument.URI)
	place := func(h pendingedits.Hunk) lsp.Range { return q.hunkRange(doc, e, h) }
	file, proposed := strings.CutPrefix(p.TextDocument.URI, proposedScheme)
	if proposed {
		e, revision, ok = q.proposalOf("file:" + file)
		place = proposedRange
	}
	if !ok {
		return lenses, nil
	}
	top := lsp.Range{}
	add := func(r lsp.Range, c lsp.Command) { lenses = append(lenses, lsp.CodeLens{Range: r, Command: &c}) }
	conflict := e.State == pendingedits.Conflict
	switch {
	case e.Batch:
		add(top, acceptBatch("Accept the whole batch", e, revision))
	case conflict && e.Kind != "modify":
		add(top, take(TakeProposed, e.Hunks...))
	case !conflict:
		add(top, selected("Accept file", "sidecar.review.accept", e.Hunks...))
	}
	add(top, selected("Reject file", "sidecar.review.reject", e.Hunks...))
	if !proposed { // else it is being shown
		add(top, lsp.Command{Title: "Show diff", Command: "sidecar.review.show", Arguments: []any{FileArgs{URI: q.Live.URI(e.Name)}}})
	}
	if e.Kind != "modify" {
		return lenses, nil
	}
	for _, h := range shownHunks(e) {
		r := place(h)
		r.End = r.Start
		switch {
		case h.State == pendingedits.Conflict && !e.Batch:
			add(r, selected(KeepMine, "sidecar.review.reject", h))
			add(r, take(TakeProposed, h))
		case !e.Batch:
			add(r, selected("Accept", "sidecar.review.accept", h))
			fallthrough
		default:
			add(r, selected("Reject", "sidecar.review.reject", h))
		}
		if m := q.messageOf(h); m != nil {
			add(r, lsp.Command{Title: fmt.Sprintf("Message %d", m.Number), Command: "sidecar.agent.show", Arguments: []any{ShowRunArgs{m.Run, m.Seq}}})
		}
	}
	return lenses, nil
}

// Actions handles textDocument/codeAction: the hunks under the range, the
// whole file, and questions that the editor could not show otherwise.
func (q *Queue) Actions(c *client.Client, a *client.Approvals, params json.RawMessage) (any, error) {
	var p lsp.CodeActionParams
	if err := client.Decode(params, &p); err != nil {
		return nil, err
	}
	if before(p.Range.End, p.Range.Start) {
		return nil, client.InvalidParams("range: its end is before its start")
	}
	actions := approvalActions(a)
	if e, revision, doc, ok := q.editOf(p.TextDocument.URI); ok {
		actions = append(actions, q.reviewActions(e, revision, doc, p.Range)...)
	}
	literals, commands := []lsp.CodeAction{}, []lsp.Command{}
	for _, a := range actions {
		if wanted(a.Kind, p.Context.Only) {
			literals, commands = append(literals, a), append(commands, *a.Command)
		}
	}
	if c.Can.LiteralActions {
		return literals, nil
	}
	return commands, nil
}

func (q *Queue) reviewActions(e pendingedits.Edit, revision int64, doc *documents.Document, at lsp.Range) []lsp.CodeAction {
	var actions []lsp.CodeAction
	add := func(kind string, c lsp.Command) {
		actions = append(actions, lsp.CodeAction{Title: c.Title, Kind: kind, Command: &c})
	}
	if e.Kind == "modify" {
		for _, h := range e.Hunks {
			r := q.hunkRange(doc, e, h)
			if before(at.End, r.Start) || before(r.End, at.Start) {
				continue
			}
			where := fmt.Sprintf(" (%s at line %d)", e.Tool, r.Start.Line+1)
			switch {
			case h.State == pendingedits.Conflict && !e.Batch:
				add(KindAccept, take("Take the agent's text in place of mine"+where, h))
			case !e.Batch:
				add(KindAccept, selected("Accept pending change"+where, "sidecar.review.accept", h))
			}
			add(KindReject, selected("Reject pending change"+where, "sidecar.review.reject", h))
		}
	}
	if e.Batch {
		add(KindAccept, acceptBatch("Accept the whole batch of pending changes and commits", e, revision))
	} else {
		add(KindAccept, selected("Accept all pending changes of this file", "sidecar.review.accept", e.Hunks...))
	}
	add(KindReject, selected("Reject all pending changes of this file", "sidecar.review.reject", e.Hunks...))
	return actions
}

// approvalActions answer the questions that the editor could not show.
func approvalActions(a *client.Approvals) []lsp.CodeAction {
	var actions []lsp.CodeAction
	for _, q := range a.Unshown() {
		allow, typed := "Allow: ", ""
		if q.Irrecoverable {
			allow, typed = client.ButtonIrrecoverable+": ", client.Confirm
		}
		for _, c := range []lsp.Command{
			{Title: allow + q.Title, Arguments: []any{client.AnswerArgs{ID: q.ID, Outcome: "allow", Typed: typed}}},
			{Title: "Deny: " + q.Title, Arguments: []any{client.AnswerArgs{ID: q.ID, Outcome: "deny"}}},
		} {
			c.Command = "sidecar.approval.answer"
			actions = append(actions, lsp.CodeAction{Title: c.Title, Kind: KindApprove, Command: &c})
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

// ShowRunArgs are those of sidecar.agent.show.
type ShowRunArgs struct {
	Run string `json:"run"`
	At  int64  `json:"at,omitempty"`
}
