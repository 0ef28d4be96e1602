package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
)

// Builder builds afresh what sessions hold as output: a person need not trust what an agent
// built, if the accepted text gives it again.
type Builder struct {
	Files    workspace.Files // with nothing that is pending
	Sessions *session.Store
	Dispatch interface {
		CallFresh(ctx context.Context, r dispatch.Request, files workspace.Files) (*dispatch.Result, error)
	}
	Output Output
}

// Output is held output: *confine.Confiner.
type Output interface {
	HeldOutput(session string) ([]workspace.Held, error)
	WorldStatus() (what, why string)
	// TakeBuilt takes what the session built has made, in the place of what session holds
	// there; without take it goes.
	TakeBuilt(built, session string, take bool) (files int, left []string, err error)
}

// BuildRequest chooses what is built again.
type BuildRequest struct {
	Session string // whose output it takes the place of; "" is all that is held
	Command string
	Emit    func(chunk string)
}

// Built is what came of it.
type Built struct {
	OK       bool   `json:"ok"`
	Command  string `json:"command"`
	ExitCode int    `json:"exitCode"`
	Output   string `json:"output"`
	Cursor   string `json:"cursor,omitempty"` // the rest of the output

	Files int      `json:"-"` // that went to the workspace
	Left  []string `json:"-"` // what did not, in sentences
}

// builder is the tool that runs it, and buildTime how long it may take, in seconds.
const (
	builder   = "run_command"
	buildTime = 3600
)

// ErrNoOutput says that nothing is held.
var ErrNoOutput = errors.New("no output is held that a build could replace")

// Build runs a command over the accepted text, in a world that has nothing of what is held,
// and takes what it builds in the place of that. A command that fails changes nothing.
func (b Builder) Build(ctx context.Context, r BuildRequest) (out Built, err error) {
	if world, why := b.Output.WorldStatus(); world == "disk" {
		return Built{}, fmt.Errorf("commands see the disk here, so that no build is apart from it: %s", why)
	}
	if held, err := b.Output.HeldOutput(r.Session); err != nil || len(held) == 0 {
		return Built{}, errors.Join(err, ErrNoOutput)
	}
	args, err := json.Marshal(map[string]any{"command": r.Command, "timeout_s": buildTime})
	if err != nil {
		return Built{}, err
	}
	s, err := b.Sessions.Open(session.OpenRequest{Mode: "review"})
	if err != nil {
		return Built{}, err
	}
	defer func() {
		var failed error
		_ = b.Sessions.Close(s.ID)
		out.Files, out.Left, failed = b.Output.TakeBuilt(s.ID, r.Session, err == nil && out.OK)
		err = errors.Join(err, failed)
	}()
	res, err := b.Dispatch.CallFresh(ctx, dispatch.Request{Name: builder, Arguments: args, Session: s.ID, Emit: r.Emit}, b.Files)
	if err != nil {
		return Built{}, err
	}
	var ran run
	if data, err := json.Marshal(res.Structured); err != nil || json.Unmarshal(data, &ran) != nil || ran.World == "" {
		return Built{}, errors.New(res.Content)
	}
	out = Built{OK: res.OK, Command: r.Command, ExitCode: ran.ExitCode, Output: res.Content}
	if res.Truncated != nil {
		out.Cursor = res.Truncated.Cursor
	}
	return out, nil
}
