package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
	team "github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// maxDepth is how far below a person's agent there may be others.
const maxDepth = 3

// stepsOfChild is how often a sub-agent may ask its model, unless its caller says less.
const stepsOfChild = 15

// Team runs sub-agents and proposes plans for the tools of our own agent.
type Team interface {
	team.Team
	team.Plans
}

// Team returns the sub-agents of this workspace's runs.
func (m *Manager) Team() Team { return m.team }

// subAgents are the agents that our own agent begins. It is a Team.
type subAgents struct {
	m         *base
	host      host
	following sync.WaitGroup // what they made is taken over before the workspace goes

	mu       sync.Mutex
	children map[string]*child        // by run
	slots    map[string]chan struct{} // of a session
}

// host begins runs of our own agent and sets the modes of sessions: *Manager.
type host interface {
	joined(*conversation.Run, *session.Session, loop.Options) error
	ModeSet(session, mode string)
	modeIs(session, mode string, changed func(*conversation.Run))
}

// child is a sub-agent.
type child struct {
	run     *conversation.Run
	driver  *own   // nil once it has ended; subAgents.mu guards that
	session string // its own
	parent  string // the session of its caller
	call    string // that began it
	depth   int
	shadow  string // of its own, which is taken over at its end; "": it has none
	begun   time.Time
	kept    bool          // its shadow stays for its caller
	needed  atomic.Bool   // and for people, because not all that is there was taken over
	stopped chan struct{} // closed once report says what it did
	report  team.Report
}

// Spawn implements team.Team.
func (a *subAgents) Spawn(ctx context.Context, by team.Caller, t team.Task) (team.Report, error) {
	if t.Leave {
		k, err := a.spawn(context.WithoutCancel(ctx), by, t, false)
		if err != nil {
			return team.Report{}, err
		}
		return team.Report{ID: k.run.ID(), End: string(conversation.Running), Files: []string{}}, nil
	}
	k, err := a.spawn(ctx, by, t, false)
	if err != nil {
		return team.Report{}, err
	}
	return a.await(ctx, k)
}

// await waits for the end of a sub-agent, or ends it.
func (a *subAgents) await(ctx context.Context, k *child) (team.Report, error) {
	defer a.waits(k.call)()
	select {
	case <-k.stopped:
		return k.report, nil
	case <-ctx.Done():
		k.stop()
		<-k.stopped
		return k.report, ctx.Err()
	}
}

// waits says that a call waits for sub-agents, until over is called.
func (a *subAgents) waits(call string) (over func()) {
	if above := a.m.runs.ownOf(call); above != nil {
		return above.Waits()
	}
	return func() {}
}

// spawn begins a sub-agent. kept: its shadow stays, for its caller to look at.
func (a *subAgents) spawn(ctx context.Context, by team.Caller, t team.Task, kept bool) (*child, error) {
	if t.Agent != "" && t.Agent != Builtin {
		return nil, tools.Errorf(tools.InvalidArguments, "agent: sub-agents are of the kind %q; leave it out", Builtin)
	}
	s, err := a.m.o.Sessions.Get(by.Session)
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "%v", err)
	}
	depth := a.depth(s.ID) + 1
	if depth > maxDepth {
		return nil, tools.Errorf(tools.DepthExceeded, "you are %d agents below the user's, and there may be no more: do the task yourself", maxDepth)
	}
	allow, err := a.narrowed(s, t.Allow, depth)
	if err != nil {
		return nil, err
	}
	over := a.waits(by.Call)
	release, err := a.slot(ctx, s.ID)
	over()
	if err != nil {
		return nil, err
	}
	k := &child{parent: s.ID, call: by.Call, depth: depth, begun: time.Now(), kept: kept, stopped: make(chan struct{})}
	if err := a.begin(ctx, k, s, t, allow); err != nil {
		release()
		return nil, err
	}
	a.following.Go(func() { // what it made is taken over before the workspace goes
		defer release()
		a.mind(k, s)
	})
	return k, nil
}

// depth is how far below a person's agent a session is.
func (a *subAgents) depth(session string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.children {
		if k.session == session {
			return k.depth
		}
	}
	return 0
}

// narrowed are the tools of a sub-agent: those of its caller, of them what is allowed.
// The deepest has none that begin others, and a plan is proposed by who has them.
func (a *subAgents) narrowed(s *session.Session, allow []string, depth int) ([]string, error) {
	list, unmatched, err := a.m.o.Gate().List(dispatch.ListRequest{Session: s.ID, Registry: session.Full, Filter: tools.Filter{Allow: allow}})
	if err != nil {
		return nil, err
	}
	if len(unmatched) > 0 {
		return nil, tools.Errorf(tools.InvalidArguments, "allow: there is no %q; tool_search finds the names of tools", unmatched[0])
	}
	names := []string{}
	for _, t := range list {
		if t.Name == "propose_plan" || depth == maxDepth && (t.Name == "spawn_agent" || t.Name == "best_of") {
			continue
		}
		names = append(names, t.Name)
	}
	return names, nil
}

// slot waits until a caller may have one more sub-agent at work.
func (a *subAgents) slot(ctx context.Context, session string) (release func(), err error) {
	a.mu.Lock()
	slots := a.slots[session]
	if slots == nil {
		slots = make(chan struct{}, max(1, a.m.o.SubAgents()))
		a.slots[session] = slots
	}
	a.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin opens the session and the run of a sub-agent, and tells it its task.
func (a *subAgents) begin(ctx context.Context, k *child, parent *session.Session, t team.Task, allow []string) (err error) {
	request := session.OpenRequest{Under: parent.ID, Shadow: parent.Shadow, Allow: allow}
	task := t.Text
	if parent.Shadow == "" { // one that has a shadow shares it
		var note string
		if k.shadow, note, err = a.m.o.Shadow(ctx, parent.ID, k.call); err != nil && !errors.Is(err, ErrNoShadow) {
			return tools.Errorf(tools.Unavailable, "the sub-agent has no files to work on: %v", err)
		}
		request.Shadow = k.shadow
		if note != "" {
			task += "\n\n" + note
		}
	}
	s, err := a.m.open(request, builtin)
	if err != nil {
		return tools.Errorf(tools.Unavailable, "%v", errors.Join(err, a.drop(k)))
	}
	above := a.m.runs.ownOf(k.call)
	if above != nil {
		more, err := above.spawns(ctx, s.ID, t.Text)
		if err != nil {
			return tools.Errorf(tools.Denied, "%v", errors.Join(err, a.m.o.Sessions.Close(s.ID), a.drop(k)))
		}
		for _, text := range more {
			task += "\n\nA hook of the user's says: " + text
		}
	}
	spec := conversation.Spec{Agent: Builtin, Title: conversation.TitleOf(t.Text), Session: s.ID, Shadow: s.Shadow, Mode: s.Mode(), Once: true} // its tools would be others
	o := loop.Options{Budget: budgetOf(t.Budget), Task: t.Text}
	if above != nil {
		spec.Parent, o.Parent, o.Profile = above.run.ID(), above.Agent, above.Profile()
	}
	if k.run, err = a.m.store.Start(spec); err != nil {
		return tools.Errorf(tools.Unavailable, "%v", errors.Join(err, a.m.o.Sessions.Close(s.ID), a.drop(k)))
	}
	if err := a.host.joined(k.run, s, o); err != nil {
		return tools.Errorf(tools.Unavailable, "%v", errors.Join(err, a.drop(k)))
	}
	k.driver, _ = a.m.runs.driver(k.run).(*own)
	k.session = s.ID
	a.mu.Lock()
	a.children[k.run.ID()] = k
	a.mu.Unlock()
	a.tellMode(k) // its caller's was set just now
	if above != nil {
		_ = above.run.Emit(conversation.Event{Kind: conversation.Child, Child: k.run.ID(), Title: spec.Title, Call: &conversation.Call{ID: above.Key(k.call)}})
	}
	if _, err := k.run.Prompt(conversation.Item{Text: task}, conversation.Queue); err != nil {
		return tools.Errorf(tools.Unavailable, "%v", errors.Join(err, k.run.Close(), a.drop(k)))
	}
	return nil
}

func budgetOf(b team.Budget) loop.Budget {
	return loop.Budget{
		Tokens: b.Tokens, Calls: b.Calls, Cost: b.Cost, Time: time.Duration(b.Seconds) * time.Second,
		Steps: max(1, min(cmp.Or(b.Steps, stepsOfChild), stepsOfChild)-1), // the last one has no tools
	}
}

// drop discards the shadow of a sub-agent that did not begin, or that is not needed.
func (a *subAgents) drop(k *child) error {
	if k.shadow == "" || k.needed.Load() {
		return nil
	}
	return a.m.o.Discard(context.Background(), k.shadow)
}

// mind follows a sub-agent to its end, and takes over what it made.
func (a *subAgents) mind(k *child, parent *session.Session) {
	defer close(k.stopped)
	answer, end := a.followed(k.run)
	ctx := context.Background() // what was made is taken over, whoever has gone meanwhile
	used, _ := k.driver.Used()
	files, checks := k.driver.done.soFar()
	k.report = team.Report{ID: k.run.ID(), Answer: answer, End: end, Files: files, Tokens: used.Tokens, Checks: checks, Transcript: a.transcript(k)}
	if above := a.m.runs.ownOf(k.call); above != nil {
		above.ended(k.run.ID(), answer)
		if err := above.Spend(k.run.ID(), used); err != nil {
			a.m.log.Warn("what a sub-agent used is not kept", "error", err)
		}
	}
	if a.m.closing.Load() {
		return // its run goes on with the next process
	}
	k.report.Straight = a.straight(k, parent)
	if k.shadow != "" && !k.kept {
		if err := a.applyChanges(ctx, k, parent); err != nil {
			k.report.Answer += fmt.Sprintf("\n\n(What it changed could not be taken over: %v. The shadow workspace %s has it.)", err, k.shadow)
			k.report.Shadow = k.shadow
		}
	}
	if !k.kept {
		if err := k.run.Close(); err != nil {
			a.m.log.Warn("a sub-agent was not ended in good order", "error", err)
		}
		a.mu.Lock()
		k.driver = nil // its report is enough, and its conversation may be long
		a.mu.Unlock()
	}
}

// straight reports whether what a sub-agent changes waits for nobody: it goes where edits of
// its caller go.
func (a *subAgents) straight(k *child, parent *session.Session) bool {
	mode := a.m.o.Mode(parent.Mode())
	if k.shadow != "" { // it was asked about nothing there
		return mode.Straight()
	}
	return parent.Shadow != "" || !mode.ToStore
}

// applyChanges makes the changes of a sub-agent's shadow pending.
func (a *subAgents) applyChanges(ctx context.Context, k *child, parent *session.Session) error {
	files, conflicts, err := a.m.o.ApplyChanges(ctx, k.shadow, k.driver.session.ID, parent.Mode(), k.driver.applied)
	if err != nil {
		return err
	}
	k.report.Files, k.report.Conflicts = files, conflicts
	if len(conflicts) > 0 {
		k.report.Shadow = k.shadow
		return nil
	}
	if err := a.m.o.Discard(ctx, k.shadow); err != nil {
		a.m.log.Warn("the shadow of a sub-agent stays", "shadow", k.shadow, "error", err)
	}
	return nil
}

// followed waits until an agent has stopped, and returns what it said last, and why it
// stopped. A person may pause it meanwhile.
func (a *subAgents) followed(run *conversation.Run) (answer, end string) {
	events := run.Subscribe(0)
	for {
		e, err := events.Next(a.m.ctx)
		if err != nil {
			return answer, conversation.Interrupted
		}
		switch {
		case e.Kind == conversation.Text && e.Role == "assistant" && e.Text != "":
			answer = e.Text
		case e.Kind == conversation.RunEnd && e.Reason != loop.Paused:
			if e.Reason == conversation.Failed && e.Text != "" {
				answer = e.Text
			}
			return answer, e.Reason
		}
	}
}

// forsaken is the reason of the note that a sub-agent was left by an earlier process.
const forsaken = "forsaken"

// forsake ends a sub-agent of an earlier process: nobody waits for it, and its tools
// would be others. Its shadow stays if something was changed there, until the run of its
// caller is closed.
func (a *subAgents) forsake(run *conversation.Run) {
	text := "The process of its caller ended."
	if shadow := ownShadow(a.m.store, run.Info()); shadow != "" {
		text += " What it changed, if anything, is in the shadow workspace " + shadow + "."
		a.following.Go(func() {
			if made, err := a.m.o.Changes(a.m.ctx, shadow); err == nil && len(made.Files) == 0 {
				a.discard(shadow)
			}
		})
	}
	err := errors.Join(loop.Settle(run.ID(), a.m.store.Beside), run.Emit(conversation.Event{Kind: conversation.Note, Reason: forsaken, Text: text}))
	if err = errors.Join(err, run.Close()); err != nil {
		a.m.log.Warn("a sub-agent of an earlier process was not ended", "run", run.ID(), "error", err)
	}
}

// ownShadow is the shadow that a sub-agent has for itself; "": it has none.
func ownShadow(store *conversation.Store, i conversation.Info) string {
	above, err := store.Get(i.Parent)
	if err != nil || above.Info().Shadow == i.Shadow {
		return ""
	}
	return i.Shadow
}

// sweepBelow discards the shadows of the sub-agents of a run that were forsaken.
func (a *subAgents) sweepBelow(run string) {
	for _, i := range a.m.store.List(true) {
		if i.Parent != run || i.State != conversation.Ended || ownShadow(a.m.store, i) == "" {
			continue
		}
		r, err := a.m.store.Get(i.Run)
		if err != nil {
			continue
		}
		events, _, _ := r.History(0, 0, 0)
		if slices.ContainsFunc(events, func(e conversation.Event) bool { return e.Kind == conversation.Note && e.Reason == forsaken }) {
			a.discard(i.Shadow)
		}
	}
}

// discard discards a shadow that may be gone already.
func (a *subAgents) discard(shadow string) {
	if err := a.m.o.Discard(context.Background(), shadow); err != nil {
		a.m.log.Debug("the shadow of a sub-agent of an earlier process stays", "shadow", shadow, "error", err)
	}
}

// stopBelow stops the sub-agents of a session, also those that nobody waits for.
func (a *subAgents) stopBelow(session string) { halt(a.below(session)) }

// halt stops sub-agents side by side: each may take as long as a cancellation may.
func halt(all []*child) {
	var each sync.WaitGroup
	for _, k := range all {
		each.Go(k.stop)
	}
	each.Wait()
}

// stop stops a sub-agent. One that is paused does nothing that could be stopped: it is
// ended.
func (k *child) stop() {
	if k.run.Cancel() == conversation.Paused {
		_ = k.run.Close() // its report says what came of it
	}
}

// endBelow ends the sub-agents of a session that is left.
func (a *subAgents) endBelow(session string) {
	all := a.below(session)
	halt(all)
	for _, k := range all {
		if k.kept {
			_ = errors.Join(k.run.Close(), a.drop(k))
		}
		a.mu.Lock()
		delete(a.children, k.run.ID())
		a.mu.Unlock()
	}
	a.mu.Lock()
	delete(a.slots, session)
	a.mu.Unlock()
}
