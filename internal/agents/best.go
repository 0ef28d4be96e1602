package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
	team "github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// Best implements team.Team.
func (a *subAgents) Best(ctx context.Context, by team.Caller, task string, n int) (team.Choice, error) {
	above := a.m.runs.ownOf(by.Call)
	if above == nil {
		return team.Choice{}, tools.Errorf(tools.Unavailable, "best_of is for runs of the agent %s, in which people are asked; use spawn_agent", Builtin)
	}
	s := above.session
	if s.Shadow != "" {
		return team.Choice{}, tools.Errorf(tools.Unavailable, "best_of needs the main tree, and you work in the shadow workspace %s; do the task yourself", s.Shadow)
	}
	if above.WasAnswered(by.Call) { // it would be an answer to other results than those that people saw
		return team.Choice{}, tools.Errorf(tools.Unavailable, "the server ended before a result was taken, and the agents with it: nothing was taken. Call best_of again if the task is still to be done")
	}
	var list []*child
	defer func() {
		halt(list)
		for _, k := range list {
			<-k.stopped
			_ = errors.Join(k.run.Close(), a.drop(k))
		}
	}()
	for range n {
		k, err := a.spawn(ctx, by, team.Task{Text: task}, true)
		if err != nil {
			return team.Choice{}, err
		}
		list = append(list, k)
		if k.shadow == "" {
			return team.Choice{}, tools.Errorf(tools.Unavailable, "best_of needs a git repository, in which each agent has a copy of the files; use spawn_agent")
		}
	}
	choice, patches := team.Choice{Candidates: make([]team.Candidate, len(list)), Taken: []string{}, Files: []string{}}, make([]string, len(list))
	for i, k := range list {
		if _, err := a.await(ctx, k); err != nil {
			return team.Choice{}, err
		}
		choice.Candidates[i], patches[i] = a.measured(ctx, k)
	}
	doc, uri, err := a.compared(above.run.ID(), above.Key(by.Call), task, choice.Candidates, patches)
	if err != nil {
		return team.Choice{}, tools.Errorf(tools.Unavailable, "the results can't be shown: %v", err)
	}
	taken, err := a.choose(ctx, above, by.Call, choice.Candidates, doc, uri)
	if err != nil {
		return team.Choice{}, err
	}
	choice.Straight = a.m.o.Mode(s.Mode()).Straight()
	for _, i := range taken {
		files, conflicts, err := a.m.o.ApplyChanges(ctx, list[i].shadow, list[i].driver.session.ID, s.Mode(), list[i].driver.applied)
		list[i].needed.Store(err != nil || len(conflicts) > 0)
		if err != nil {
			return team.Choice{}, tools.Errorf(tools.Unavailable, "what %s made could not be taken over: %v. The shadow workspace %s has it", list[i].run.ID(), err, list[i].shadow)
		}
		if len(conflicts) > 0 {
			choice.Shadows = append(choice.Shadows, list[i].shadow)
		}
		choice.Taken = append(choice.Taken, list[i].run.ID())
		choice.Files, choice.Conflicts = append(choice.Files, files...), append(choice.Conflicts, conflicts...)
	}
	return choice, nil
}

// measured is what one of several agents made, and what the tests say of it.
func (a *subAgents) measured(ctx context.Context, k *child) (c team.Candidate, patch string) {
	c = team.Candidate{Report: k.report, Tests: "not run"}
	if made, err := a.m.o.Changes(ctx, k.shadow); err == nil {
		c.Files, c.Added, c.Removed, patch = made.Files, made.Added, made.Removed, made.Patch
	}
	if len(c.Files) == 0 {
		return c, patch
	}
	res, err := a.m.o.Gate().Call(ctx, dispatch.Request{Name: "run_tests", Session: k.driver.session.ID, CallID: callFor(k.driver.run, "tests")})
	switch {
	case err != nil || res.Error != nil && res.Error.Code != tools.TestsFailed:
	case res.OK:
		c.Tests = "passed"
	default:
		c.Tests = "failed"
	}
	return c, patch
}

// callFor is the id of a call at the gate that nobody's model makes.
func callFor(run *conversation.Run, what string) string { return run.ID() + "." + what }

// choose asks the person which of several results to take, which a document has beside
// each other.
func (a *subAgents) choose(ctx context.Context, above *own, call string, list []team.Candidate, doc, uri string) (taken []int, err error) {
	var b strings.Builder
	q := conversation.Question{Custom: true, Call: &conversation.Call{Kind: "best_of", Title: "Choose a result", URI: uri}}
	then := "It waits for review then, each hunk by itself."
	if a.m.o.Mode(above.session.Mode()).Straight() {
		then = "It is written to the files then."
	}
	b.WriteString("Which result shall be taken? " + then + " Write several numbers to take more than one. What each has changed is in\n\n" + doc + "\n")
	for i, c := range list {
		label := fmt.Sprintf("%d: %s, +%d -%d lines, tests %s", i+1, tools.Count(len(c.Files), "file"), c.Added, c.Removed, c.Tests)
		fmt.Fprintf(&b, "\n%s (%s)\n%s\n", label, c.End, firstLines(c.Answer))
		q.Options = append(q.Options, conversation.Option{ID: fmt.Sprint(i + 1), Label: label})
	}
	q.Text, q.Options = b.String(), append(q.Options, conversation.Option{ID: "none", Label: "None"})
	answer, err := above.AskPeople(ctx, call, q, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, word := range strings.FieldsFunc(answer, func(r rune) bool { return r < '0' || r > '9' }) {
		var n int
		if _, err := fmt.Sscan(word, &n); err == nil && n >= 1 && n <= len(list) && !slices.Contains(taken, n-1) {
			taken = append(taken, n-1)
		}
	}
	return taken, nil
}

func firstLines(text string) string {
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.TrimSpace(text)
}

// reach is how long a local model may take to answer that it is there.
const reach = 2 * time.Second

// Delegate implements team.Team: a model of the user's own reads and answers. What it
// uses is nobody's.
func (a *subAgents) Delegate(ctx context.Context, by team.Caller, task string) (team.Report, error) {
	worker, err := a.m.o.Worker()
	if err != nil {
		return team.Report{}, err
	}
	s, err := a.m.o.Sessions.Get(by.Session)
	if err != nil {
		return team.Report{}, tools.Errorf(tools.Unavailable, "%v", err)
	}
	release, err := a.slot(ctx, s.ID)
	if err != nil {
		return team.Report{}, err
	}
	defer release()
	if err := a.reached(ctx, worker); err != nil {
		return team.Report{}, err
	}
	list, _, err := a.m.o.Gate().List(dispatch.ListRequest{Session: s.ID, Registry: session.Full})
	if err != nil {
		return team.Report{}, err
	}
	reads := []string{}
	for _, t := range list {
		if t.Access == tools.Read && !t.Interactive && !t.InOrder && t.Category != "agents" {
			reads = append(reads, t.Name)
		}
	}
	opened, err := a.m.open(session.OpenRequest{Under: s.ID, Shadow: s.Shadow, Allow: reads}, builtin)
	if err != nil {
		return team.Report{}, tools.Errorf(tools.Unavailable, "%v", err)
	}
	spec := conversation.Spec{Agent: Builtin, Title: conversation.TitleOf(task), Session: opened.ID, Shadow: opened.Shadow, Mode: opened.Mode(), Once: true}
	if above := a.m.runs.ownOf(by.Call); above != nil {
		spec.Parent = above.run.ID()
	}
	run, err := a.m.store.Start(spec)
	if err != nil {
		return team.Report{}, tools.Errorf(tools.Unavailable, "%v", errors.Join(err, a.m.o.Sessions.Close(opened.ID)))
	}
	if err := a.host.joined(run, opened, loop.Options{Profile: worker, Task: task, Budget: budgetOf(team.Budget{})}); err != nil {
		return team.Report{}, tools.Errorf(tools.Unavailable, "%v", err)
	}
	defer func() { _ = run.Close() }()
	d, _ := a.m.runs.driver(run).(*own)
	if _, err := run.Prompt(conversation.Item{Text: task}, conversation.Queue); err != nil {
		return team.Report{}, tools.Errorf(tools.Unavailable, "%v", err)
	}
	defer context.AfterFunc(ctx, func() { run.Cancel() })()
	answer, end := a.followed(run)
	used, _ := d.Used()
	r := team.Report{ID: run.ID(), Answer: answer, End: end, Files: []string{}, Tokens: used.Tokens}
	if over := len(r.Answer) - maxDelegated; over > 0 {
		r.Answer = strings.ToValidUTF8(r.Answer[:maxDelegated], "") + "\n(cut)"
	}
	return r, ctx.Err()
}

// maxDelegated bounds the answer of a local model, in bytes.
const maxDelegated = 16 << 10

// reached fails when a model does not answer soon.
func (a *subAgents) reached(ctx context.Context, profile string) error {
	ctx, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	if err := a.m.o.Try(ctx, profile); err != nil {
		return tools.Errorf(tools.Unavailable, "the local model can't be asked: %v; do the task yourself", err)
	}
	return nil
}
