// Package review is the review queue as the client sees it: lists, diffs, lenses,
// actions and diagnostics, and what a person decides about edits. Publisher notifies the
// client of what waits.
package review

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Queue is the review queue of the workspace, and how the client sees it.
type Queue struct {
	Store      *pendingedits.Store // nil: there is none
	Docs       *documents.Documents
	Live       *documents.Editor // nil: there never was a folder
	Introduced Introduced        // nil: nobody looks
	Requests   Requests          // nil: no agent works
	Batches    Batches           // nil: nothing is a batch
	Changed    func()            // says that the queue changed; it never waits
}

// Requests tells after which request of a person a pending change was made.
type Requests interface {
	Request(sessions []string, hunk string) (run string, r conversation.Request, ok bool)
}

// Batches tells whether what a session proposes is accepted as a whole or not at all.
type Batches interface{ Batch(session string) bool }

func (q *Queue) batch(session string) bool { return q.Batches != nil && q.Batches.Batch(session) }

// ErrNone says that there is no queue.
var ErrNone = errors.New("the review queue is not available: no folder is open in the editor")

// Name is the view name of a URI in a command's argument.
func (q *Queue) Name(member, uri string) (string, error) {
	path, ok := workspace.FilePath(uri)
	if !ok {
		return "", client.InvalidParams("%s: %.200q is not a file URI", member, uri)
	}
	if q.Live == nil {
		return "", ErrNone
	}
	name, err := q.Live.Place(path)
	if err != nil {
		return "", client.InvalidParams("%s: %.200q: %v", member, uri, err)
	}
	return name, nil
}

// Introduced tells which problems pending edits would bring.
type Introduced interface {
	// Of returns the new problems of an edit's file with the edits made; known
	// is false while nobody has looked at the edit as it is.
	Of(e pendingedits.Edit) (problems []langserver.Problem, known bool)
	// Elsewhere returns the new problems of files that no edit is pending for.
	Elsewhere() []langserver.Problem
	// Generation grows when an answer may be another.
	Generation() int64
}

// liveName is the name that an edit's file has now.
func liveName(e pendingedits.Edit) string {
	if e.From != "" {
		return e.From
	}
	return e.Name
}

// FileArgs name a file; "" is all.
type FileArgs struct {
	URI string `json:"uri,omitempty"`
}

func (q *Queue) selection(uris, hunks []string, revision int64, session string) (pendingedits.Selection, error) {
	sel := pendingedits.Selection{Hunks: hunks, Revision: revision, Session: session}
	for i, uri := range uris {
		name, err := q.Name(fmt.Sprintf("uris.%d", i), uri)
		if err != nil {
			return sel, err
		}
		sel.Names = append(sel.Names, name)
	}
	return sel, nil
}

func (q *Queue) uris(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = q.Live.URI(name)
	}
	return out
}

func (q *Queue) failures(failed []pendingedits.Failure) []documents.Failure {
	out := make([]documents.Failure, len(failed))
	for i, f := range failed {
		out[i] = documents.Failure{URI: q.Live.URI(f.Name), Error: f.Err.Error()}
		if errors.Is(f.Err, workspace.ErrConflict) && !strings.HasPrefix(out[i].Error, string(tools.Conflict)) {
			out[i].Error = string(tools.Conflict) + ": " + out[i].Error
		}
	}
	return out
}

// Error gives a conflict its code, which clients branch on.
func Error(err error) error {
	if errors.Is(err, workspace.ErrConflict) {
		return tools.Errorf(tools.Conflict, "%v; look at the edits again", err)
	}
	return err
}
