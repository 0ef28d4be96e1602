package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/evals"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// evalMode is the mode in which agents do tasks: nobody is there who could review.
const evalMode = "autonomous"

// evalPlace is a workspace in which agents do tasks. Nobody is asked there.
type evalPlace struct {
	agents *serve.Agents
	w      *app.Workspace
	edits  []string // the names of the tools that edit files

	mu  sync.Mutex
	own map[string]bool // sessions whose commands are the task's
}

// openPlace opens a directory for agents that do tasks.
func (c *cli) openPlace(ctx context.Context, dir string) (evals.Place, error) {
	a := serve.NewAgents(c.Self)
	p := &evalPlace{agents: a, own: map[string]bool{}}
	user := a.Through(app.User{})
	user.Approver, user.People = p, nil
	var err error
	p.w, err = app.Open(ctx, []workspace.Folder{{Name: filepath.Base(dir), Dir: dir}}, app.Options{
		Log: slog.New(slog.DiscardHandler), Queue: app.QueueAlways, Program: c.Self, Programs: c.Programs, Machine: c.Machine, User: user,
	})
	if err != nil {
		return nil, err
	}
	a.Of(p.w.Client)
	list, _, err := p.w.Dispatch.List(dispatch.ListRequest{Registry: session.Full})
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	for _, t := range list {
		if t.Access == tools.Edit {
			p.edits = append(p.edits, t.Name)
		}
	}
	return p, nil
}

// Close implements evals.Place, as do its neighbours.
func (p *evalPlace) Close() error { return errors.Join(p.agents.Close(), p.w.Close()) }

// Approve implements dispatch.Approver: the commands of a task are those that the person
// wants run; to an agent the answer is no.
func (p *evalPlace) Approve(_ context.Context, ask dispatch.Ask) (dispatch.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own[ask.Session] {
		return dispatch.Answer{Allow: !ask.Irrecoverable, Scope: dispatch.Once}, nil
	}
	return dispatch.Answer{Reason: "nobody is here who could be asked"}, nil
}

// Run runs a command in the sandbox, in a session of its own.
func (p *evalPlace) Run(ctx context.Context, shadow string, argv []string) (evals.Ran, error) {
	s, err := p.w.Client.Sessions.Open(session.OpenRequest{Mode: evalMode, Shadow: shadow})
	if err != nil {
		return evals.Ran{}, err
	}
	p.owns(s.ID, true)
	defer func() {
		p.owns(s.ID, false)
		_ = p.w.Client.Sessions.Close(s.ID)
		serve.Programs(p.w).Leave(s.ID)
	}()
	var words []string
	for _, word := range argv {
		words = append(words, tools.ShellWord(word))
	}
	args, err := json.Marshal(map[string]any{"command": strings.Join(words, " "), "timeout_s": commandSeconds})
	if err != nil {
		return evals.Ran{}, err
	}
	var said output
	res, err := p.w.Dispatch.Call(ctx, dispatch.Request{Name: "run_command", Arguments: args, Session: s.ID, Emit: said.add})
	if err != nil {
		return evals.Ran{}, err
	}
	var ran struct {
		ExitCode *int
		TimedOut bool
	}
	data, err := json.Marshal(res.Structured)
	if err == nil {
		err = json.Unmarshal(data, &ran)
	}
	if err != nil || ran.ExitCode == nil {
		return evals.Ran{}, errors.New(strings.Join(argv, " ") + " was not run: " + res.Content)
	}
	code := *ran.ExitCode
	if ran.TimedOut && code == 0 {
		code = -1
	}
	return evals.Ran{Code: code, Output: said.text()}, nil
}

// output is the end of what a command prints.
type output struct {
	mu    sync.Mutex
	bytes []byte
}

// keptOutput is how much of it is kept, in bytes.
const keptOutput = 64 << 10

func (o *output) add(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes = append(o.bytes, text...)
	o.bytes = o.bytes[max(0, len(o.bytes)-keptOutput):]
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.ToValidUTF8(string(o.bytes), "")
}

// commandSeconds is how long a command of a task may take.
const commandSeconds = 300

func (p *evalPlace) owns(session string, is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own[session] = is
}

// Shadow makes a shadow workspace of a commit.
func (p *evalPlace) Shadow(ctx context.Context, commit string) (id, dir string, err error) {
	s, err := p.w.Home.Shadows.Create(ctx, shadow.CreateRequest{Base: commit})
	return s.ID, s.Root, err
}

// Discard discards it.
func (p *evalPlace) Discard(ctx context.Context, id string) error {
	_, err := p.w.ShadowsForPeople().Discard(ctx, id)
	return err
}

// stopTime is how long an agent that is stopped may take to say that it has.
const stopTime = 10 * time.Second

// Work has our own agent work until it stops.
func (p *evalPlace) Work(ctx context.Context, shadow string, a evals.Ask) (evals.Told, error) {
	m, err := p.agents.Manager()
	if err != nil {
		return evals.Told{}, err
	}
	r, err := m.Begin(agents.Begin{
		Agent: agents.Builtin, Mode: evalMode, Shadow: shadow, Model: a.Profile, Title: conversation.TitleOf(a.Prompt), Budget: loop.Budget{Tokens: a.Tokens},
	})
	if err != nil {
		return evals.Told{}, err
	}
	w := &evalWork{place: p, agents: m, run: r.ID()}
	defer p.agents.Subscribe(w.heard)()
	err = w.follow(ctx, r, a.Prompt)
	used, unknown := m.Used(r)
	told := w.result()
	told.Steps, told.Tokens, told.Cost = used.Steps, used.Tokens, used.Cost
	return told, errors.Join(err, unknown, r.Close())
}

// evalWork is a run that is followed, with those of its sub-agents.
type evalWork struct {
	place  *evalPlace
	agents *agents.Manager
	run    string

	mu   sync.Mutex
	told evals.Told
	note conversation.Event // the latest that gives a reason
}

func (w *evalWork) result() evals.Told {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told
}

// follow tells the agent what to do, and waits until it stops. The error is ctx's.
func (w *evalWork) follow(ctx context.Context, r *conversation.Run, prompt string) error {
	if _, err := r.Prompt(conversation.Item{Text: prompt}, conversation.Queue); err != nil {
		return err
	}
	events := r.Subscribe(0)
	hear := ctx
	for {
		e, err := events.Next(hear)
		switch {
		case err != nil && ctx.Err() != nil && hear == ctx:
			r.Cancel()
			var over context.CancelFunc
			hear, over = context.WithTimeout(context.WithoutCancel(ctx), stopTime)
			defer over()
			continue
		case err != nil:
			return errors.Join(ctx.Err(), err)
		}
		w.ended(e)
		if e.Kind == conversation.StateNow && e.Seq > 2 && (e.State == conversation.Paused || e.State == conversation.Idle && r.Info().State == conversation.Idle) {
			return ctx.Err()
		}
	}
}

// ended takes in what the run has done, and how it ends.
func (w *evalWork) ended(e conversation.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case conversation.Note:
		w.note = e
	case conversation.RunEnd:
		w.told.End, w.told.Why = e.Reason, e.Text
		if e.Text == "" && e.Reason != conversation.Done && w.note.Reason == e.Reason {
			w.told.Why = w.note.Text
		}
	case conversation.UsageNow:
		w.told.Priced = w.told.Priced || e.Usage != nil && e.Usage.Currency != ""
	case conversation.CallFinished:
		if w.place.refused(e) {
			w.told.Refused++
		}
	}
}

// refused reports whether a call of a tool that edits files has failed.
func (p *evalPlace) refused(e conversation.Event) bool {
	return e.Kind == conversation.CallFinished && e.Call != nil && e.Call.Outcome == "failed" && slices.Contains(p.edits, e.Call.Tool)
}

// heard hears of all runs of the place: the edits of sub-agents that fail are counted, and
// what a run asks is answered with no.
func (w *evalWork) heard(e conversation.Event) {
	switch {
	case e.Kind == conversation.Asked && w.isOurs(e.Run):
		if r, err := w.agents.Get(e.Run); err == nil {
			_ = r.Answer(e.Question, refusal(e), byTerminal) // or it was closed
		}
	case w.place.refused(e) && e.Run != w.run && w.isOurs(e.Run):
		w.mu.Lock()
		w.told.Refused++
		w.mu.Unlock()
	}
}

// isOurs reports whether a run is the one that is followed, or one of its sub-agents'.
func (w *evalWork) isOurs(run string) bool {
	for run != w.run {
		r, err := w.agents.Get(run)
		if err != nil || r.Info().Parent == "" {
			return false
		}
		run = r.Info().Parent
	}
	return true
}

// refusal is the answer to a question that says no, or nothing.
func refusal(q conversation.Event) string {
	for _, o := range q.Options {
		if o.ID == "none" || strings.HasPrefix(o.Kind, "reject") {
			return o.ID
		}
	}
	if len(q.Options) > 0 && !q.Custom {
		return q.Options[len(q.Options)-1].ID
	}
	return "no"
}
