package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// run is one that may be one of an earlier process.
func run(m *agents.Manager, id string) (*conversation.Run, error) {
	r, err := m.Get(id)
	if err != nil {
		return nil, client.InvalidParams("run: %v; sidecar.agent.runs lists them", err)
	}
	return r, nil
}

// runIn is a run of the agents as they are now.
func runIn(d *Deps, id string) (*conversation.Run, error) {
	m, err := manager(d)
	if err != nil {
		return nil, err
	}
	return run(m, id)
}

type agentList struct {
	Agents []agents.Info `json:"agents"`
}

func listAgents(_ context.Context, a *agents.Manager, _ none) (agentList, error) {
	return agentList{a.List()}, nil
}

type agentSessionsArgs struct {
	Agent   string `json:"agent"`
	Cursor  string `json:"cursor,omitempty"`
	Consent bool   `json:"consent,omitempty"`
}

// sessionsOfAgent lists what an agent remembers, also of what was not a run.
func sessionsOfAgent(ctx context.Context, m *agents.Manager, a agentSessionsArgs) (agents.EarlierPage, error) {
	return m.Earlier(ctx, a.Agent, a.Cursor, a.Consent)
}

type agentRunArgs struct {
	Prompt      string                    `json:"prompt,omitempty"`
	Agent       string                    `json:"agent,omitempty"`
	Session     string                    `json:"session,omitempty"`
	Mode        string                    `json:"mode,omitempty"`
	Shadow      string                    `json:"shadow,omitempty"`
	Model       string                    `json:"model,omitempty"`
	Attachments []conversation.Attachment `json:"attachments,omitempty"`
	Budget      agentBudgetArgs           `json:"budget,omitzero"`
	Consent     bool                      `json:"consent,omitempty"`
	Resume      string                    `json:"resume,omitempty"` // an id of sidecar.agent.sessions
}

type runResult struct {
	Run string `json:"run"`
}

func runAgent(ctx context.Context, d *Deps, a agentRunArgs) (runResult, error) {
	m, err := manager(d)
	if err != nil {
		return runResult{}, err
	}
	if err := a.Budget.check(); err != nil {
		return runResult{}, err
	}
	renewShadow(ctx, d, a.Shadow)
	r, err := m.Begin(agents.Begin{Agent: a.Agent, Session: a.Session, Mode: a.Mode, Shadow: a.Shadow, Model: a.Model, Title: conversation.TitleOf(a.Prompt), Tokens: a.Budget.Tokens, Calls: a.Budget.Calls, Budget: a.Budget.budget(), Consent: a.Consent, Resume: a.Resume})
	if err != nil {
		return runResult{}, sessionError(err)
	}
	if a.Resume != "" { // what was said is in the run before what is said now
		if err := m.Ready(ctx, r); err != nil {
			return runResult{}, err
		}
	}
	if a.Prompt != "" || len(a.Attachments) > 0 {
		if _, err := r.Prompt(conversation.Item{Text: a.Prompt, Attachments: a.Attachments}, conversation.Queue); err != nil {
			return runResult{}, errors.Join(err, r.Close())
		}
	}
	return runResult{r.ID()}, nil
}

type promptArgs struct {
	Run         string                    `json:"run"`
	Text        string                    `json:"text"`
	Attachments []conversation.Attachment `json:"attachments,omitempty"`
	When        string                    `json:"when,omitempty"`
	StartIfIdle *bool                     `json:"startIfIdle,omitempty"`
}

type itemResult struct {
	Item string `json:"item"`
}

func promptAgent(_ context.Context, m *agents.Manager, a promptArgs) (itemResult, error) {
	item := conversation.Item{Text: a.Text, Attachments: a.Attachments, Hold: a.StartIfIdle != nil && !*a.StartIfIdle}
	return prompt(m, a.Run, item, a.When)
}

// prompt puts a prompt into the queue of a run; a run of an earlier process gets its agent back.
func prompt(m *agents.Manager, id string, item conversation.Item, when string) (itemResult, error) {
	r, err := awake(m, id)
	if err != nil {
		return itemResult{}, err
	}
	made, err := r.Prompt(item, when)
	if err != nil {
		return itemResult{}, client.InvalidParams("%v", err)
	}
	return itemResult{made}, nil
}

func awake(m *agents.Manager, id string) (*conversation.Run, error) {
	r, err := run(m, id)
	if err != nil {
		return nil, err
	}
	return r, m.Wake(r)
}

type itemArgs struct {
	Run  string `json:"run"`
	Item string `json:"item"`
}

type editItemArgs struct {
	Run  string `json:"run"`
	Item string `json:"item"`
	Text string `json:"text"`
}

func editPrompt(_ context.Context, m *agents.Manager, a editItemArgs) (none, error) {
	return withRun(m, a.Run, func(r *conversation.Run) error { return r.Edit(a.Item, a.Text) })
}

func withdrawPrompt(_ context.Context, m *agents.Manager, a itemArgs) (none, error) {
	return withRun(m, a.Run, func(r *conversation.Run) error { return r.Withdraw(a.Item) })
}

type answerRunArgs struct {
	Run      string `json:"run"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// byEditor is who answers by command.
const byEditor = "editor"

func answerAgent(_ context.Context, d *Deps, a answerRunArgs) (none, error) {
	m, err := manager(d)
	if err != nil {
		return none{}, err
	}
	return withRun(m, a.Run, func(r *conversation.Run) error {
		if err := m.Wake(r); err != nil {
			return err
		}
		return answerRun(d, r, a.Question, a.Answer)
	})
}

func withRun(m *agents.Manager, id string, f func(*conversation.Run) error) (none, error) {
	r, err := run(m, id)
	if err != nil {
		return none{}, err
	}
	if err := f(r); err != nil {
		return none{}, client.InvalidParams("%v", err)
	}
	return none{}, nil
}

type runArgs struct {
	Run string `json:"run"`
}

type stateResult struct {
	State conversation.State `json:"state"`
}

func cancelAgent(_ context.Context, m *agents.Manager, a runArgs) (stateResult, error) {
	return stateOf(m, a, (*conversation.Run).Cancel)
}

func pauseAgent(_ context.Context, m *agents.Manager, a runArgs) (stateResult, error) {
	return stateOf(m, a, (*conversation.Run).Pause)
}

func resumeAgent(_ context.Context, m *agents.Manager, a runArgs) (stateResult, error) {
	r, err := awake(m, a.Run)
	if err != nil {
		return stateResult{}, err
	}
	return stateResult{r.Resume()}, nil
}

func closeAgent(_ context.Context, m *agents.Manager, a runArgs) (stateResult, error) {
	r, err := run(m, a.Run)
	if err != nil {
		return stateResult{}, err
	}
	return stateResult{conversation.Ended}, r.Close()
}

func stateOf(m *agents.Manager, a runArgs, f func(*conversation.Run) conversation.State) (stateResult, error) {
	r, err := run(m, a.Run)
	if err != nil {
		return stateResult{}, err
	}
	return stateResult{f(r)}, nil
}

type forkArgs struct {
	Run  string `json:"run"`
	At   int64  `json:"at,omitempty"`
	What string `json:"what,omitempty"` // "conversation", which is also what none means
}

// forkAgent begins a run that knows what was said in another one.
func forkAgent(ctx context.Context, m *agents.Manager, a forkArgs) (runResult, error) {
	if a.What != "" && a.What != "conversation" {
		return runResult{}, client.InvalidParams("only a conversation is forked: a fork works on the files as they are now; leave what out")
	}
	r, err := run(m, a.Run)
	if err != nil {
		return runResult{}, err
	}
	fork, err := m.Fork(ctx, r, a.At)
	if err != nil {
		return runResult{}, client.InvalidParams("%v", err)
	}
	return runResult{fork.ID()}, nil
}

type rewindArgs struct {
	Run  string `json:"run"`
	At   int64  `json:"at"`
	What string `json:"what,omitempty"`
}

// rewindAgent has an agent forget what was said after an event, or takes back what it
// changed since, or both.
func rewindAgent(ctx context.Context, m *agents.Manager, a rewindArgs) (runResult, error) {
	a.What = cmp.Or(a.What, "conversation")
	if !slices.Contains([]string{"conversation", "files", "both"}, a.What) {
		return runResult{}, client.InvalidParams("what: %q is none of conversation, files and both", a.What)
	}
	r, err := run(m, a.Run)
	if err != nil {
		return runResult{}, err
	}
	if err := m.Rewind(ctx, r, a.At, a.What); err != nil {
		return runResult{}, client.InvalidParams("%v", err)
	}
	return runResult{r.ID()}, nil
}
