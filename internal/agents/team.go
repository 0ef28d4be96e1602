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

// child is a sub-agent.
type child struct {
	run     *conversation.Run
	driver  *own   // nil once it has ended; Manager.mu guards that
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
func (m *Manager) Spawn(ctx context.Context, by team.Caller, t team.Task) (team.Report, error) {
	if t.Leave {
		k, err := m.spawn(context.WithoutCancel(ctx), by, t, false)
		if err != nil {
			return team.Report{}, err
		}
		return team.Report{ID: k.run.ID(), End: string(conversation.Running), Files: []string{}}, nil
	}
	k, err := m.spawn(ctx, by, t, false)
	if err != nil {
		return team.Report{}, err
	}
	return m.await(ctx, k)
}

// await waits for the end of a sub-agent, or ends it.
func (m *Manager) await(ctx context.Context, k *child) (team.Report, error) {
	defer m.waits(k.call)()
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
func (m *Manager) waits(call string) (over func()) {
	if above := m.ownOf(call); above != nil {
		return above.Waits()
	}
	return func() {}
}

// spawn begins a sub-agent. kept: its shadow stays, for its caller to look at.
func (m *Manager) spawn(ctx context.Context, by team.Caller, t team.Task, kept bool) (*child, error) {
	if t.Agent != "" && t.Agent != Builtin {
		return nil, tools.Errorf(tools.InvalidArguments, "agent: sub-agents are of the kind %q; leave it out", Builtin)
	}
	s, err := m.o.Sessions.Get(by.Session)
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "%v", err)
	}
	depth := m.depth(s.ID) + 1
	if depth > maxDepth {
		return nil, tools.Errorf(tools.DepthExceeded, "you are %d agents below the user's, and there may be no more: do the task yourself", maxDepth)
	}
	allow, err := m.narrowed(s, t.Allow, depth)
	if err != nil {
		return nil, err
	}
	over := m.waits(by.Call)
	release, err := m.slot(ctx, s.ID)
	over()
	if err != nil {
		return nil, err
	}
	k := &child{parent: s.ID, call: by.Call, depth: depth, begun: time.Now(), kept: kept, stopped: make(chan struct{})}
	if err := m.begin(ctx, k, s, t, allow); err != nil {
		release()
		return nil, err
	}
	m.following.Go(func() { // what it made is taken over before the workspace goes
		defer release()
		m.mind(k, s)
	})
	return k, nil
}

// depth is how far below a person's agent a session is.
func (m *Manager) depth(session string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.children {
		if k.session == session {
			return k.depth
		}
	}
	return 0
}

// narrowed are the tools of a sub-agent: those of its caller, of them what is allowed.
// The deepest has none that begin others, and a plan is proposed by who has them.
func (m *Manager) narrowed(s *session.Session, allow []string, depth int) ([]string, error) {
	list, unmatched, err := m.o.Gate().List(dispatch.ListRequest{Session: s.ID, Registry: session.Full, Filter: tools.Filter{Allow: allow}})
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
func (m *Manager) slot(ctx context.Context, session string) (release func(), err error) {
	m.mu.Lock()
	slots := m.slots[session]
	if slots == nil {
		slots = make(chan struct{}, max(1, m.o.SubAgents()))
		m.slots[session] = slots
	}
	m.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin opens the session and the run of a sub-agent, and tells it its task.
func (m *Manager) begin(ctx context.Context, k *child, parent *session.Session, t team.Task, allow []string) (err error) {
	request := session.OpenRequest{Under: parent.ID, Shadow: parent.Shadow, Allow: allow}
	if parent.Shadow == "" { // one that has a shadow shares it
		if k.shadow, err = m.o.Shadow(ctx, parent.ID); err != nil && !errors.Is(err, ErrNoShadow) {
			return tools.Errorf(tools.Unavailable, "the sub-agent has no files to work on: %v", err)
		}
		request.Shadow = k.shadow
	}
	s, err := m.open(request, builtin)
	if err != nil {
		return tools.Errorf(tools.Unavailable, "%v", errors.Join(err, m.drop(k)))
	}
	above := m.ownOf(k.call)
	task := t.Text
	if above != nil {
		more, err := above.spawns(ctx, s.ID, t.Text)
		if err != nil {
			return tools.Errorf(tools.Denied, "%v", errors.Join(err, m.o.Sessions.Close(s.ID), m.drop(k)))
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
	if k.run, err = m.store.Start(spec); err != nil {
		return tools.Errorf(tools.Unavailable, "%v", errors.Join(err, m.o.Sessions.Close(s.ID), m.drop(k)))
	}
	if err := m.joined(k.run, s, o); err != nil {
		return tools.Errorf(tools.Unavailable, "%v", errors.Join(err, m.drop(k)))
	}
	k.driver, _ = m.driverOf(k.run).(*own)
	k.session = s.ID
	m.mu.Lock()
	m.children[k.run.ID()] = k
	m.mu.Unlock()
	m.tellMode(k) // its caller's was set just now
	if above != nil {
		_ = above.run.Emit(conversation.Event{Kind: conversation.Child, Child: k.run.ID(), Title: spec.Title, Call: &conversation.Call{ID: above.Key(k.call)}})
	}
	if _, err := k.run.Prompt(conversation.Item{Text: task}, conversation.Queue); err != nil {
		return tools.Errorf(tools.Unavailable, "%v", errors.Join(err, k.run.Close(), m.drop(k)))
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
func (m *Manager) drop(k *child) error {
	if k.shadow == "" || k.needed.Load() {
		return nil
	}
	return m.o.Discard(context.Background(), k.shadow)
}

// mind follows a sub-agent to its end, and takes over what it made.
func (m *Manager) mind(k *child, parent *session.Session) {
	defer close(k.stopped)
	answer, end := m.followed(k.run)
	ctx := context.Background() // what was made is taken over, whoever has gone meanwhile
	used, _ := k.driver.Used()
	files, checks := k.driver.done.soFar()
	k.report = team.Report{ID: k.run.ID(), Answer: answer, End: end, Files: files, Tokens: used.Tokens, Checks: checks, Transcript: m.transcript(k)}
	if above := m.ownOf(k.call); above != nil {
		above.ended(k.run.ID(), answer)
		if err := above.Spend(k.run.ID(), used); err != nil {
			m.log.Warn("what a sub-agent used is not kept", "error", err)
		}
	}
	if m.closing.Load() {
		return // its run goes on with the next process
	}
	k.report.Straight = m.straight(k, parent)
	if k.shadow != "" && !k.kept {
		if err := m.takeOver(ctx, k, parent); err != nil {
			k.report.Answer += fmt.Sprintf("\n\n(What it changed could not be taken over: %v. The shadow workspace %s has it.)", err, k.shadow)
			k.report.Shadow = k.shadow
		}
	}
	if !k.kept {
		if err := k.run.Close(); err != nil {
			m.log.Warn("a sub-agent was not ended in good order", "error", err)
		}
		m.mu.Lock()
		k.driver = nil // its report is enough, and its conversation may be long
		m.mu.Unlock()
	}
}

// straight reports whether what a sub-agent changes waits for nobody: it goes where edits of
// its caller go.
func (m *Manager) straight(k *child, parent *session.Session) bool {
	mode := m.o.Mode(parent.Mode())
	if k.shadow != "" { // it was asked about nothing there
		return mode.Straight()
	}
	return parent.Shadow != "" || !mode.ToStore
}

// takeOver makes what a sub-agent changed in its shadow pending.
func (m *Manager) takeOver(ctx context.Context, k *child, parent *session.Session) error {
	files, conflicts, err := m.o.TakeOver(ctx, k.shadow, k.driver.session.ID, parent.Mode(), k.driver.takenOver)
	if err != nil {
		return err
	}
	k.report.Files, k.report.Conflicts = files, conflicts
	if len(conflicts) > 0 {
		k.report.Shadow = k.shadow
		return nil
	}
	if err := m.o.Discard(ctx, k.shadow); err != nil {
		m.log.Warn("the shadow of a sub-agent stays", "shadow", k.shadow, "error", err)
	}
	return nil
}

// followed waits until an agent has stopped, and returns what it said last, and why it
// stopped. A person may pause it meanwhile.
func (m *Manager) followed(run *conversation.Run) (answer, end string) {
	events := run.Subscribe(0)
	for {
		e, err := events.Next(m.base)
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
func (m *Manager) forsake(run *conversation.Run) {
	text := "The process of its caller ended."
	if shadow := ownShadow(m.store, run.Info()); shadow != "" {
		text += " What it changed, if anything, is in the shadow workspace " + shadow + "."
		m.following.Go(func() {
			if made, err := m.o.Changes(m.base, shadow); err == nil && len(made.Files) == 0 {
				m.discard(shadow)
			}
		})
	}
	err := errors.Join(loop.Settle(run.ID(), m.store.Beside), run.Emit(conversation.Event{Kind: conversation.Note, Reason: forsaken, Text: text}))
	if err = errors.Join(err, run.Close()); err != nil {
		m.log.Warn("a sub-agent of an earlier process was not ended", "run", run.ID(), "error", err)
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
func (m *Manager) sweepBelow(run string) {
	for _, i := range m.store.List(true) {
		if i.Parent != run || i.State != conversation.Ended || ownShadow(m.store, i) == "" {
			continue
		}
		r, err := m.store.Get(i.Run)
		if err != nil {
			continue
		}
		events, _, _ := r.History(0, 0, 0)
		if slices.ContainsFunc(events, func(e conversation.Event) bool { return e.Kind == conversation.Note && e.Reason == forsaken }) {
			m.discard(i.Shadow)
		}
	}
}

// discard discards a shadow that may be gone already.
func (m *Manager) discard(shadow string) {
	if err := m.o.Discard(context.Background(), shadow); err != nil {
		m.log.Debug("the shadow of a sub-agent of an earlier process stays", "shadow", shadow, "error", err)
	}
}

// stopBelow stops the sub-agents of a session, also those that nobody waits for.
func (m *Manager) stopBelow(session string) { halt(m.below(session)) }

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
func (m *Manager) endBelow(session string) {
	all := m.below(session)
	halt(all)
	for _, k := range all {
		if k.kept {
			_ = errors.Join(k.run.Close(), m.drop(k))
		}
		m.mu.Lock()
		delete(m.children, k.run.ID())
		m.mu.Unlock()
	}
	m.mu.Lock()
	delete(m.slots, session)
	m.mu.Unlock()
}
