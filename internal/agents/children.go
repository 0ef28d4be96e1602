package agents

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/tools"
	team "github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// below are the sub-agents of a caller and those below them, the oldest first.
func (a *subAgents) below(session string) (all []*child) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.children {
		for at := k; at != nil; at = a.childOf(at.parent) {
			if at.parent == session {
				all = append(all, k)
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b *child) int { return a.begun.Compare(b.begun) })
	return all
}

// childOf is the sub-agent that has a session. a.mu is held.
func (a *subAgents) childOf(session string) *child {
	for _, k := range a.children {
		if k.session == session {
			return k
		}
	}
	return nil
}

// one finds a sub-agent of a caller.
func (a *subAgents) one(by team.Caller, id string) (*child, error) {
	for _, k := range a.below(by.Session) {
		if k.run.ID() == id {
			return k, nil
		}
	}
	return nil, tools.Errorf(tools.NotFound, "id: you have no sub-agent %q; agent_list has their ids", id)
}

// member is a sub-agent as it is listed.
func (a *subAgents) member(k *child) team.Member {
	i := k.run.Info()
	one := team.Member{ID: i.Run, Title: i.Title, State: string(i.State), Seconds: int64(time.Since(k.begun).Seconds())}
	a.mu.Lock()
	d := k.driver
	a.mu.Unlock()
	if d != nil {
		used, _ := d.Used()
		one.Tokens = used.Tokens
	}
	if quiet := time.Since(i.HeardAt); i.State == conversation.Running && quiet >= silence {
		one.Silent = int64(quiet.Seconds())
	}
	for _, e := range k.run.Open() {
		one.WaitingFor = conversation.TitleOf(e.Text)
	}
	select {
	case <-k.stopped:
		one.End, one.Answer, one.Tokens = k.report.End, k.report.Answer, k.report.Tokens
	default:
	}
	return one
}

// List lists the sub-agents of a caller.
func (a *subAgents) List(by team.Caller) ([]team.Member, error) {
	list := []team.Member{}
	for _, k := range a.below(by.Session) {
		list = append(list, a.member(k))
	}
	return list, nil
}

// Send implements team.Team.
func (a *subAgents) Send(by team.Caller, id, text string) error {
	k, err := a.one(by, id)
	if err != nil {
		return err
	}
	select {
	case <-k.stopped:
		return tools.Errorf(tools.Unavailable, "%s has stopped (%s); begin another with spawn_agent", id, k.report.End)
	default:
	}
	if _, err := k.run.Prompt(conversation.Item{Text: text}, conversation.Steer); err != nil {
		return tools.Errorf(tools.Unavailable, "%v", err)
	}
	return nil
}

// Wait implements team.Team.
func (a *subAgents) Wait(ctx context.Context, by team.Caller, ids []string, all bool, late time.Duration) ([]team.Member, error) {
	var list []*child
	for _, id := range ids {
		k, err := a.one(by, id)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	defer a.waits(by.Call)()
	ctx, cancel := context.WithTimeout(ctx, late)
	defer cancel()
	stopped := make(chan struct{}, len(list))
	for _, k := range list {
		go func() {
			select {
			case <-k.stopped:
				stopped <- struct{}{}
			case <-ctx.Done():
			}
		}()
	}
	for n := 0; n < len(list); n++ {
		select {
		case <-stopped:
		case <-ctx.Done():
		}
		if !all || ctx.Err() != nil {
			break
		}
	}
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	members := []team.Member{}
	for _, k := range list {
		members = append(members, a.member(k))
	}
	return members, nil
}

// Cancel stops a sub-agent.
func (a *subAgents) Cancel(by team.Caller, id string) (team.Member, error) {
	k, err := a.one(by, id)
	if err != nil {
		return team.Member{}, err
	}
	k.stop()
	<-k.stopped
	return a.member(k), nil
}

// modeBelow tells the sub-agents of a session their mode, which follows its own: they are
// never more than their caller.
func (a *subAgents) modeBelow(session string) {
	for _, k := range a.below(session) {
		if k.parent == session {
			a.tellMode(k)
		}
	}
}

// tellMode tells a sub-agent its mode, if it was told another one.
func (a *subAgents) tellMode(k *child) {
	if s, err := a.m.o.Sessions.Get(k.session); err == nil { // it may have ended
		a.host.ModeSet(s.ID, s.Mode())
	}
}
