// Package shadowsetup makes new shadow workspaces usable: the commands of the setting
// shadow.setup run in a session there, through the gate, as those of an agent do.
package shadowsetup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Settings are what the settings say about the shadow workspaces of a folder.
type Settings struct {
	*live.Settings
	Dir string
}

// Limits implements shadow.Settings, as do its neighbours.
func (s Settings) Limits() shadow.Limits {
	set := s.Now()
	return shadow.Limits{Shadows: set.Int("shadow.max"), Bytes: int64(set.Int("shadow.maxMegabytes")) << 20}
}

// Hidden reports whether a file's content is not shown.
func (s Settings) Hidden(name string) bool {
	return workspace.Sensitive(name) && !s.SensitiveOK(name)
}

// Setup are the steps that hold in the folder.
func (s Settings) Setup() (steps []shadow.Step) {
	for _, one := range s.Now().ShadowSetup([]string{s.Dir}) {
		steps = append(steps, shadow.Step{Run: one.Run, When: one.When, Timeout: one.Timeout()})
	}
	return steps
}

// Gate is what decides on commands, and runs them: *dispatch.Dispatcher.
type Gate interface {
	Call(context.Context, dispatch.Request) (*dispatch.Result, error)
}

// Shadows are the shadow workspaces of a folder. Who makes one, has it set up.
type Shadows struct {
	shadow.ForPeople
	Settings Settings
	Gate     Gate
	Sessions *session.Store
	Leave    func(session string) // gives up what commands of a session left
}

// By is for whom a shadow workspace is set up; the zero value is a person.
type By struct {
	Session string            // whose mode and budget its commands have; "": those of the settings
	Call    string            // of which they are part, so that questions go where its own go
	Emit    func(text string) // takes what they print; nil: nobody
}

// Create makes a shadow workspace of what the user sees, and sets it up. A setup that fails is
// in the Setup of what it returns, and the shadow workspace is kept.
func (s Shadows) Create(ctx context.Context, r shadow.CreateRequest) (shadow.Shadow, error) {
	return s.CreateShowing(ctx, r, nil)
}

// CreateShowing is Create for somebody who follows what the setup prints.
func (s Shadows) CreateShowing(ctx context.Context, r shadow.CreateRequest, emit func(text string)) (shadow.Shadow, error) {
	made, err := s.ForPeople.Create(ctx, r)
	if err != nil {
		return made, err
	}
	if made.Setup = s.begin(ctx, made.ID, By{Emit: emit}); made.Setup == nil {
		made.Setup = offered(s.Settings.Dir)
	}
	return made, nil
}

// CreateFor makes a shadow workspace for an agent, and sets it up. note says what is wrong with
// the setup, for the agent that works there.
func (s Shadows) CreateFor(ctx context.Context, r shadow.CreateRequest, by By) (made shadow.Shadow, note string, err error) {
	if made, err = s.Manager.Create(ctx, r); err != nil {
		return made, "", err
	}
	made.Setup = s.begin(ctx, made.ID, by)
	if err := ctx.Err(); err != nil { // who wanted it has gone
		_, discard := s.Discard(context.WithoutCancel(ctx), made.ID)
		return made, "", errors.Join(err, discard)
	}
	return made, noteOf(made.Setup), nil
}

// noteOf is what an agent is to know of a setup: nothing, if all went well.
func noteOf(s *shadow.Setup) string {
	if s == nil || s.State == shadow.SetupDone {
		return ""
	}
	text := fmt.Sprintf("The setup of your working tree is %s", s.State)
	if s.Command != "" {
		text += fmt.Sprintf(" at `%s`", s.Command)
	}
	if s.Why != "" {
		text += ": " + s.Why
	}
	text += ". What it installs or builds may be missing."
	if s.Output != "" {
		text += " Its last lines:\n" + s.Output
	}
	return text
}

// begin sets a new shadow workspace up. What keeps it from running is a failure of the setup.
func (s Shadows) begin(ctx context.Context, id string, by By) *shadow.Setup {
	got, err := s.run(ctx, id, by)
	if err != nil && got == nil {
		got = &shadow.Setup{State: shadow.SetupNeeded, Why: err.Error(), Next: "run `sidecar-ls shadow setup " + id + "`"}
	}
	return got
}

// SetUp runs the steps again that have not run or whose files have changed; after a setup that
// is done, all of them.
func (s Shadows) SetUp(ctx context.Context, id string, emit func(text string)) (shadow.Setup, error) {
	got, err := s.run(ctx, id, By{Emit: emit})
	if err != nil {
		return shadow.Setup{}, err
	}
	if got == nil {
		text := "the setting sidecar.shadow.setup has no steps for this workspace"
		if other := offered(s.Settings.Dir); other != nil {
			text += "; " + other.Why + ": " + other.Next
		}
		return shadow.Setup{}, tools.Errorf(tools.Unavailable, "%s", text)
	}
	return *got, nil
}

// Renew sets a shadow workspace up before somebody works there, if a step has not run since its
// files changed. A setup that failed or was interrupted waits for a person.
func (s Shadows) Renew(ctx context.Context, id string, emit func(text string)) (*shadow.Setup, error) {
	is, err := shadow.SetupOf(ctx, s.Manager, id)
	if err != nil || is == nil || is.State != shadow.SetupNeeded {
		return is, err
	}
	return s.run(ctx, id, By{Emit: emit})
}

// run runs the steps in a session of the shadow workspace's own.
func (s Shadows) run(ctx context.Context, id string, by By) (*shadow.Setup, error) {
	var in *session.Session
	defer func() {
		if in != nil {
			_ = s.Sessions.Close(in.ID)
			s.Leave(in.ID)
		}
	}()
	n := 0
	return shadow.SetUp(ctx, s.Manager, id, func(ctx context.Context, step shadow.Step) shadow.Ran {
		if in == nil {
			var err error
			if in, err = s.open(id, by); err != nil {
				return shadow.Ran{Why: err.Error()}
			}
		}
		n++
		r := dispatch.Request{Name: "run_command", Session: in.ID}
		if by.Call != "" {
			r.CallID = fmt.Sprintf("%s.setup%d", by.Call, n)
		}
		return s.step(ctx, r, step, by.Emit)
	})
}

// open opens the session. Its name says in the audit log and in questions what it is for.
func (s Shadows) open(id string, by By) (*session.Session, error) {
	r := session.OpenRequest{ID: "setup-" + id, Shadow: id, Under: by.Session}
	if above, err := s.Sessions.Get(by.Session); err == nil && by.Session != "" {
		r.Allow = above.Allow
	}
	in, err := s.Sessions.Open(r)
	if errors.Is(err, session.ErrExists) || errors.Is(err, session.ErrInvalid) { // a person has one of that name, or it is too long
		r.ID = ""
		in, err = s.Sessions.Open(r)
	}
	return in, err
}

// step runs a step, as far as the gate lets it.
func (s Shadows) step(ctx context.Context, r dispatch.Request, step shadow.Step, emit func(text string)) shadow.Ran {
	args, err := json.Marshal(map[string]any{"command": step.Run, "timeout_s": int(step.Timeout.Seconds())})
	if err != nil {
		return shadow.Ran{Why: err.Error()}
	}
	var said printed
	r.Arguments, r.Emit = args, func(text string) {
		said.add(text)
		if emit != nil {
			emit(text)
		}
	}
	res, err := s.Gate.Call(ctx, r)
	switch {
	case err != nil:
		return shadow.Ran{Why: err.Error()}
	case res.OK:
		return shadow.Ran{OK: true}
	}
	ran := shadow.Ran{Why: res.Error.Message, Output: said.end()}
	switch res.Error.Code {
	case tools.CommandFailed:
		if code := exitCode(res.Structured); code != nil {
			ran.ExitCode, ran.Why = code, fmt.Sprintf("exit code %d", *code)
		}
	case tools.Timeout:
		ran.Why = fmt.Sprintf("it was ended after %v; give it more with timeout, in the setting sidecar.shadow.setup", step.Timeout)
	}
	return ran
}

// printed is the end of what a command prints, without secrets.
type printed struct {
	mu    sync.Mutex
	bytes []byte
}

// keptOutput is how much of it is kept, in bytes.
const keptOutput = 16 << 10

func (p *printed) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes = append(p.bytes, text[max(0, len(text)-keptOutput):]...)
	p.bytes = p.bytes[max(0, len(p.bytes)-keptOutput):]
}

func (p *printed) end() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return redact.Sanitize(string(p.bytes))
}

// exitCode is that of a command that ran.
func exitCode(structured any) *int {
	var ran struct {
		ExitCode *int `json:"exitCode"`
	}
	data, err := json.Marshal(structured)
	if err != nil || json.Unmarshal(data, &ran) != nil {
		return nil
	}
	return ran.ExitCode
}

// checkSteps makes sure that the settings take steps.
func checkSteps(set *config.Settings, steps []config.SetupStep) error {
	value, err := config.SetupValue(steps)
	if err != nil {
		return err
	}
	return set.Check("shadow.setup", value)
}
