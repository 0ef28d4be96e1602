package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// query is what the command line asks of a workspace: of the process that
// serves it, so that there is one queue, or, when there is none, of one opened for
// it. Both give the same answer, which is printed in one way.
type query[A, R any] struct {
	name    string       // as it is typed
	queue   app.QueueUse // of a workspace opened for it
	decides bool         // it is a person's decision: whoever has an editor is told of it there
	answer  func(context.Context, *app.Workspace, A) (R, error)
}

// served is a query as the process sees it that answers.
type served interface {
	called() (name string, decides bool)
	serve(ctx context.Context, w *app.Workspace, args json.RawMessage) (any, error)
}

func (q query[A, R]) called() (string, bool) { return q.name, q.decides }

func (q query[A, R]) serve(ctx context.Context, w *app.Workspace, args json.RawMessage) (any, error) {
	var a A
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, err
	}
	return q.answer(ctx, w, a)
}

// queryRequest is a query on its way, and queryReply is its answer. Each is one line.
type queryRequest struct {
	Query string          `json:"query"`
	Args  json.RawMessage `json:"args"`
}

// works reports whether the query starts something that works in the process which answers.
func (q queryRequest) works() bool {
	switch q.Query {
	case runQuery, acpQuery:
		return true
	case agentQuery:
		var ask agentAsk
		return json.Unmarshal(q.Args, &ask) == nil && (ask.Verb == "run" || ask.Verb == "resume")
	}
	return false
}

type queryReply struct {
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  string          `json:"error,omitempty"`
	Usage  bool            `json:"usage,omitempty"` // the command line makes no sense

	Refused bool `json:"refused,omitempty"` // whoever asks is no person; an earlier version then looks itself
}

// ask puts a query to whoever answers it.
func ask[A, R any](ctx context.Context, c *cli, q query[A, R], a A) (R, error) {
	var r R
	there, err := c.askThere(ctx, q.name, a, &r)
	if there || err != nil {
		return r, err
	}
	if q.queue != app.QueueNever {
		if err := c.makeRoom(ctx); err != nil {
			return r, err
		}
	}
	w, err := c.open(ctx, q.queue)
	if err != nil {
		return r, err
	}
	defer func() { _ = w.Close() }()
	return q.answer(ctx, w, a)
}

// askThere asks the process that serves the workspace. there is false when none
// does, or none that can be asked.
func (c *cli) askThere(ctx context.Context, name string, args, answer any) (there bool, err error) {
	folders, err := c.folders()
	if err != nil {
		return false, err
	}
	conn, g, err := attach.DialPerson(ctx, workspace.Dirs(folders)...)
	if errors.Is(err, attach.ErrApart) {
		return false, err
	}
	if err != nil {
		if !errors.Is(err, attach.ErrNone) && !errors.Is(err, attach.ErrUnable) {
			fmt.Fprintln(c.Err, "sidecar-ls: not attached:", err)
		}
		return false, nil
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	data, err := encode(args)
	if err == nil {
		data, err = encode(queryRequest{name, data})
	}
	if err == nil {
		_, err = conn.Write(data)
	}
	var t queryReply
	if err == nil {
		err = json.NewDecoder(conn).Decode(&t)
	}
	switch {
	case ctx.Err() != nil:
		return true, ctx.Err()
	case err != nil:
		return true, fmt.Errorf("the sidecar-ls of process %d ended before it answered (%w); look whether it was done before you try again", g.PID, err)
	case t.Usage:
		return true, usagef("%s", t.Error)
	case t.Error != "":
		return true, errors.New(t.Error)
	}
	return true, json.Unmarshal(t.Answer, answer)
}

// encode is v as a line of JSON, with its characters as they are.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
