package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/files/checkpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
	team "github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// The names of our own agent: for commands, and for people.
const (
	Builtin      = "builtin"
	BuiltinTitle = "SideCar Agent"
)

// builtin is our own agent as people choose it. It sees what its session sees, and no
// more of the user's.
var builtin = profile.Profile{Name: Builtin, Title: BuiltinTitle, Tried: true}

// Backends are the language models of the settings.
type Backends interface {
	Backend(profile string) (loop.Backend, error) // "" is the active one
	Names() []string
	Worker() (profile string, err error)           // the user's own model, for work that costs nothing
	Try(ctx context.Context, profile string) error // whether it answers
}

// own is the driver of a run of our own agent, and its host.
type own struct {
	*loop.Agent
	m       *base
	team    below
	run     *conversation.Run
	session *session.Session

	before *checkpoint.Log
	done   done

	mu      sync.Mutex
	told    bool   // hooks know that the conversation has begun
	nested  nested // instructions for what it worked on
	offered string // what views were told of its skills
}

// below controls the sub-agents of a run. *subAgents implements it.
type below interface {
	depth(session string) int
	stopBelow(session string)
	endBelow(session string)
	sweepBelow(run string)
}

// openOwn opens our own agent for a run.
func (m *Manager) openOwn(run *conversation.Run, s *session.Session, o loop.Options) (*own, error) {
	d := &own{m: m.base, team: m.team, run: run, session: s, before: checkpoint.Open(m.store.Before(run.ID()))}
	o.Run, o.Host, o.Log, o.Journal, o.Close = run, d, m.log, m.store.Beside(run.ID()), d.left
	var err error
	if d.Agent, err = loop.Open(o); err != nil {
		return d, err
	}
	s.TellTo(d.Note)
	return d, d.recall()
}

// left ends what the agent's session has.
func (d *own) left() error {
	d.m.runs.left(d.run)
	d.team.endBelow(d.session.ID)
	if !d.m.closing.Load() {
		d.team.sweepBelow(d.run.ID())
	}
	d.m.o.Parts().Leave(d.session.ID)
	return errors.Join(d.before.Close(), d.m.o.Sessions.Close(d.session.ID))
}

// Prompt implements runs.Driver.
func (d *own) Prompt(ctx context.Context, items []conversation.Item) (string, error) {
	if len(items) > 0 && d.run.Info().Title == builtin.Title {
		if title := conversation.TitleOf(items[0].Text); title != "" {
			_ = d.run.Emit(conversation.Event{Kind: conversation.Note, Reason: "title", Title: title})
		}
	}
	if d.team.depth(d.session.ID) == 0 { // hooks of a sub-agent's start run in its caller
		d.begins(ctx)
		if why := d.submits(ctx, items); why != "" {
			return conversation.Refused, d.run.Emit(conversation.Event{Kind: conversation.Note, Reason: conversation.Refused, Text: why})
		}
	}
	d.offer()
	d.asksFor(ctx, items)
	return d.Agent.Prompt(ctx, items)
}

// Steer implements runs.Driver.
func (d *own) Steer(ctx context.Context, i conversation.Item) error {
	d.asksFor(ctx, []conversation.Item{i})
	return d.Agent.Steer(ctx, i)
}

// Cancel implements runs.Driver: what is below stops with it.
func (d *own) Cancel(ctx context.Context) error {
	d.team.stopBelow(d.session.ID)
	return d.Agent.Cancel(ctx)
}

func (d *own) failure() error { return nil }

func (d *own) ready(context.Context) error {
	_, err := d.m.o.Backend("")
	return err
}

func (d *own) choose(ctx context.Context, category, value string) error {
	if category != "model" {
		return errors.New("our own agent has no modes besides those of its session: set that one's with sidecar.mode.set")
	}
	if err := d.m.o.Try(ctx, value); err != nil {
		return err
	}
	if err := d.Use(value); err != nil {
		return err
	}
	return d.run.Emit(conversation.Event{Kind: conversation.Note, Reason: "chosen", Model: value})
}

func (d *own) stop(call string) (title string, end func(), err error) {
	title, end, ok := d.Running(call)
	if !ok {
		return "", nil, errOver
	}
	return title, end, nil
}

// Backend implements loop.Host.
func (d *own) Backend(profile string) (loop.Backend, error) {
	b, err := d.m.o.Backend(profile)
	if err == nil {
		d.session.UseModel(b.Name)
	}
	return b, err
}

// Tools implements loop.Host.
func (d *own) Tools() ([]loop.Tool, error) {
	list, _, err := d.m.o.Gate().List(dispatch.ListRequest{Session: d.session.ID, Model: true, Own: true})
	if err != nil {
		return nil, err
	}
	own := []string{"agents", team.Planning}
	if d.m.o.StepsRequired() {
		own = append(own, team.Steps)
	}
	for _, category := range own {
		more, _, err := d.m.o.Gate().List(dispatch.ListRequest{Session: d.session.ID, Model: true, Own: true, Filter: tools.Filter{Category: category}})
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			if !slices.Contains(list, t) {
				list = append(list, t)
			}
		}
	}
	list = slices.DeleteFunc(list, func(t *tools.Tool) bool { // what could only say that it can't
		return t.Name == "delegate_task" && !d.delegates() || t.Name == "best_of" && d.session.Shadow != ""
	})
	all := make([]loop.Tool, len(list))
	for i, t := range list {
		all[i] = loop.Tool{
			Name: t.Name, Description: t.Description, Schema: t.SchemaForModels(false),
			Title: t.Title, Kind: kindOf(t), Reads: t.Access == tools.Read && t.Category != "agents", Beside: t.Access == tools.Read && !t.InOrder,
		}
	}
	return all, nil
}

// kindOf is what a tool does, as views of agents know it.
func kindOf(t *tools.Tool) string {
	switch t.Access {
	case tools.Edit:
		return "edit"
	case tools.Exec:
		return "execute"
	}
	return cmp.Or(kinds[t.Category], "other")
}

// kinds are those of tools that only read.
var kinds = map[string]string{"search": "search", "web": "fetch", "files": "read", "editor": "search", "git": "read"}

// delegates reports whether there is a model that costs nothing, beside one that does.
func (d *own) delegates() bool {
	worker, err := d.m.o.Worker()
	if err != nil || worker == d.Profile() {
		return false
	}
	b, err := d.m.o.Backend(d.Profile())
	return err == nil && b.Paid
}

// Call implements loop.Host.
func (d *own) Call(ctx context.Context, c loop.Call) (loop.Outcome, error) {
	req := dispatch.Request{Name: c.Name, Arguments: c.Args, Session: d.session.ID, CallID: c.ID, Emit: c.Emit, Making: d.making}
	if c.Name == "read_result" {
		req.Arguments = d.readable(c.Args)
	}
	res, err := d.m.o.Gate().Call(ctx, req)
	if errors.Is(err, dispatch.ErrRetired) { // the folders have just changed
		res, err = d.m.o.Gate().Call(ctx, req)
	}
	if err != nil {
		return loop.Outcome{}, err
	}
	d.done.checked(res)
	out := loop.Outcome{Text: res.Content, Failed: !res.OK}
	for _, i := range res.Images {
		out.Images = append(out.Images, loop.Picture{MIME: i.MIME, Data: i.Data, Words: i.Words()})
	}
	for _, ch := range res.Changes {
		out.Files = append(out.Files, conversation.Location{Path: ch.Path})
	}
	d.worksOn(c.Args, changedFiles(res.Changes))
	if len(res.Changes) > 0 {
		d.done.touched(res.Changes)
		d.run.Changed(d.m.o.Pending(d.session.ID))
	}
	return out, nil
}

func changedFiles(changes []dispatch.ChangeRef) (names []string) {
	for _, c := range changes {
		names = append(names, c.Path)
	}
	return names
}

// readable are the arguments of read_result with a cursor that the gate knows, in the
// place of one of a result that the conversation alone has.
func (d *own) readable(args json.RawMessage) json.RawMessage {
	var in struct{ Cursor string }
	if json.Unmarshal(args, &in) != nil {
		return args
	}
	text, ok := d.Past(in.Cursor)
	if !ok {
		return args
	}
	cursor, err := d.m.o.Gate().Keep(d.session.ID, text)
	if err != nil {
		return args
	}
	args, _ = json.Marshal(map[string]string{"cursor": cursor})
	return args
}

// Notes implements loop.Host: what was told before the conversation could keep it, and
// the know-how that its calls have led to.
func (d *own) Notes() []string {
	return slices.Concat(d.session.TakeNotes(), d.untold())
}

// Pending implements loop.Host.
func (d *own) Pending() []string { return d.m.o.Files(d.session.ID) }

// Facts implements loop.Host.
func (d *own) Facts() loop.Facts {
	mode := d.m.o.Mode(d.session.Mode())
	f := loop.Facts{
		Root: d.session.Root, System: runtime.GOOS, Date: time.Now().Format(time.DateOnly), Task: d.Task(),
		Mode: d.session.Mode(), Means: mode.Help, Advice: mode.Advice, Plans: mode.OnlyReads(),
	}
	f.Folders, f.Files = d.project()
	f.Skills = titles(d.knows())
	return f
}

// IsOwn reports whether a session is that of a run of our own agent.
func IsOwn(m *Manager, session string) bool { return m.runs.isOwn(session) }

// Answers to a permission.
const (
	allowOnce    = "allow_once"
	allowSession = "allow_session"
	allowPattern = "allow_pattern"
	denyOnce     = "reject_once"
)

// confirmed is the answer that allows what can't be undone: views have people type it.
const confirmed = "CONFIRM"

// Approve asks people in the run whose agent makes a call; ok is false for a call of
// nobody here.
func (m *Manager) Approve(ctx context.Context, ask dispatch.Ask) (a dispatch.Answer, ok bool, err error) {
	d := m.runs.ownOf(ask.CallID)
	if d == nil && dispatch.OfSession(ask.Tool) {
		d = m.runs.ownIn(ask.Session)
	}
	if d == nil {
		return a, false, nil
	}
	q := conversation.Question{Text: ask.Title + "\n" + ask.Detail, Irrecoverable: ask.Irrecoverable, Call: &conversation.Call{Title: ask.Title}}
	if line := ask.Effects.Command; line != "" {
		q.Call.Kind, q.Call.Title = "execute", line
	}
	if over := len(q.Text) - maxAsked; over > 0 {
		q.Text = strings.ToValidUTF8(q.Text[:maxAsked], "") + "\n(cut)"
	}
	if !ask.Expires.IsZero() {
		q.ExpiresAt = &ask.Expires
	}
	if prefix := strings.Fields(ask.Always); len(prefix) > 0 && !ask.Irrecoverable {
		q.Always = &conversation.Rule{Prefix: prefix, Decision: "allow", Rest: "known", Packages: ask.Packages, Host: ask.Host}
	}
	if ask.Irrecoverable {
		q.Options = []conversation.Option{{ID: confirmed, Label: "Allow", Kind: "allow_once"}, {ID: denyOnce, Label: "Deny", Kind: "reject_once"}}
	} else {
		q.Options = []conversation.Option{{ID: allowOnce, Label: "Allow", Kind: "allow_once"}}
		if ask.Rememberable {
			q.Options = append(q.Options, conversation.Option{ID: allowSession, Label: "Allow in this run", Kind: "allow_always"})
		}
		if ask.Pattern != "" {
			q.Options = append(q.Options, conversation.Option{ID: allowPattern, Label: "Allow " + ask.Pattern, Kind: "allow_always"})
		}
		q.Options = append(q.Options, conversation.Option{ID: denyOnce, Label: "Deny", Kind: "reject_once"})
	}
	answer, err := d.AskPeople(ctx, ask.CallID, q, func(answer string) bool { return answer != denyOnce })
	if err != nil {
		return a, true, err
	}
	switch answer {
	case allowOnce:
		a = dispatch.Answer{Allow: true, Scope: dispatch.Once}
	case allowSession:
		a = dispatch.Answer{Allow: true, Scope: dispatch.ForSession}
	case allowPattern:
		a = dispatch.Answer{Allow: true, Scope: dispatch.Pattern}
	case confirmed:
		a = dispatch.Answer{Allow: ask.Irrecoverable, Scope: dispatch.Once, Typed: confirmed}
	}
	return a, true, nil
}

// maxAsked bounds the text of a question, in bytes.
const maxAsked = 32 << 10

// AskUser asks people in the run whose agent calls ask_user; ok is false for a call of
// nobody here.
func (m *Manager) AskUser(ctx context.Context, call, text string, options []string, custom bool) (answer string, ok bool, err error) {
	d := m.runs.ownOf(call)
	if d == nil {
		return "", false, nil
	}
	q := conversation.Question{Text: text, Custom: custom, Call: &conversation.Call{Kind: "ask_user", Title: "Ask the user"}}
	for i, o := range options {
		q.Options = append(q.Options, conversation.Option{ID: fmt.Sprint(i + 1), Label: o})
	}
	answer, err = d.AskPeople(ctx, call, q, func(string) bool { return true })
	for i, o := range options {
		if answer == fmt.Sprint(i+1) {
			answer = o
		}
	}
	return answer, true, err
}
