// Package verify runs tests, or another command, over pending edits before anybody
// accepts them: in a world of its own, which goes with the run.
package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// Parts are what a run needs.
type Parts struct {
	Queue    *pendingedits.Store
	Dispatch Dispatcher
	Sessions *session.Store
}

// Dispatcher is *dispatch.Dispatcher.
type Dispatcher interface {
	CallOver(ctx context.Context, r dispatch.Request, files workspace.Files) (*dispatch.Result, error)
}

// Request chooses what is verified, and how.
type Request struct {
	Selection pendingedits.Selection
	Command   string // "" is what the tool finds: the project's tests
	Emit      func(chunk string)
}

// Result is what the run said.
type Result struct {
	OK       bool      `json:"ok"`
	Command  string    `json:"command"`
	ExitCode int       `json:"exitCode"`
	Passed   *int      `json:"passed,omitempty"`
	Failed   *int      `json:"failed,omitempty"`
	Skipped  *int      `json:"skipped,omitempty"`
	Failing  []Failing `json:"failing,omitempty"`
	Output   string    `json:"output"`
	Cursor   string    `json:"cursor,omitempty"` // the rest of the output
}

// Failing is a test that failed.
type Failing struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// tool is the one that runs tests.
const tool = "run_tests"

// ErrNothing says that nothing is pending.
var ErrNothing = errors.New("nothing is pending that could be verified")

// Run runs it. Only what could not be run is an error: tests that fail are a result.
func Run(ctx context.Context, p Parts, r Request) (Result, error) {
	files, err := p.Queue.Choose(ctx, r.Selection)
	if err != nil {
		return Result{}, err
	}
	if files.Empty() {
		return Result{}, ErrNothing
	}
	arguments := map[string]any{}
	if r.Command != "" {
		arguments["command"] = r.Command
	}
	args, err := json.Marshal(arguments)
	if err != nil {
		return Result{}, err
	}
	s, err := p.Sessions.Open(session.OpenRequest{Mode: "review"})
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = p.Sessions.Close(s.ID) }()
	res, err := p.Dispatch.CallOver(ctx, dispatch.Request{Name: tool, Arguments: args, Session: s.ID, Emit: r.Emit}, files)
	if err != nil {
		return Result{}, err
	}
	ran, ok := tested(res.Structured)
	if !ok {
		return Result{}, fmt.Errorf("%s", res.Content)
	}
	if ran.World == "disk" {
		return Result{}, errors.New("pending edits can't be verified: commands see the disk here; `sidecar-ls doctor` says why")
	}
	out := Result{OK: res.OK, Command: cmp.Or(r.Command, ran.Command), ExitCode: ran.ExitCode, Output: res.Content}
	if ran.Counted {
		out.Passed, out.Failed, out.Skipped = &ran.Passed, &ran.Failed, &ran.Skipped
	}
	for _, f := range ran.Failures {
		out.Failing = append(out.Failing, Failing{f.Name, f.Message})
	}
	if res.Truncated != nil {
		out.Cursor = res.Truncated.Cursor
	}
	p.Queue.Verify(r.Selection, files, pendingedits.Verified{Command: out.Command, OK: out.OK, Passed: out.Passed, Failed: out.Failed})
	return out, nil
}

// run is the structured result of the tool.
type run struct {
	Command  string
	Counted  bool
	Passed   int
	Failed   int
	Skipped  int
	ExitCode int
	World    string
	Failures []struct{ Name, Message string }
}

func tested(structured any) (r run, ok bool) {
	if structured == nil {
		return r, false
	}
	data, err := json.Marshal(structured)
	return r, err == nil && json.Unmarshal(data, &r) == nil && r.Command != ""
}
