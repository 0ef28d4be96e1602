// Package agents has the tools by which an agent has others work for it, and says what
// it is going to do. Who the others are, and how they are driven, is its Team's business.
package agents

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Deps is what the tools of this family work with.
type Deps struct {
	Team   Team  // nil: there are no agents here
	Plans  Plans // nil: nobody can be shown a plan
	Work   Works // nil: nobody keeps what callers set out to do
	Skills Skills
}

// Caller is who calls a tool.
type Caller struct{ Session, Call string }

// Team has agents work. Its errors are *tools.Error.
type Team interface {
	// Spawn has a sub-agent do a task, and waits for its end unless the task says no.
	Spawn(ctx context.Context, by Caller, t Task) (Report, error)
	// Best has several agents do the same task, and a person choose of what they made.
	Best(ctx context.Context, by Caller, task string, n int) (Choice, error)
	// Delegate has a model of the user's own answer a question by reading alone.
	Delegate(ctx context.Context, by Caller, task string) (Report, error)
	// List are the agents below the caller.
	List(by Caller) ([]Member, error)
	// Send tells one of them something, which it hears at its next step.
	Send(by Caller, id, text string) error
	// Wait waits until any or all of them have stopped; late is after how long it gives up.
	Wait(ctx context.Context, by Caller, ids []string, all bool, late time.Duration) ([]Member, error)
	// Cancel stops one of them, with all below it.
	Cancel(by Caller, id string) (Member, error)
}

// Task is what a sub-agent is to do.
type Task struct {
	Text   string
	Agent  string   // "" is our own
	Allow  []string // selectors of the only tools that it has; nil: those of the caller
	Budget Budget
	Leave  bool // the caller goes on while it works
}

// Budget bounds what an agent may use, within what its caller may. Zero is no bound of
// its own.
type Budget struct {
	Tokens  int64   `json:"tokens,omitempty" jsonschema:"of the model" minimum:"1"`
	Calls   int64   `json:"calls,omitempty" jsonschema:"of tools" minimum:"1"`
	Steps   int64   `json:"steps,omitempty" jsonschema:"requests to the model" minimum:"1" maximum:"15"`
	Seconds int64   `json:"seconds,omitempty" jsonschema:"of work" minimum:"1"`
	Cost    float64 `json:"cost,omitempty" jsonschema:"in US dollars"`
}

// Report is what a sub-agent has done.
type Report struct {
	ID        string   `json:"id" jsonschema:"of the sub-agent"`
	Answer    string   `json:"answer" jsonschema:"its last message"`
	End       string   `json:"end" jsonschema:"why it stopped: done, interrupted, budget, loop, refused, failed, waiting or paused; running if it works on"`
	Files     []string `json:"files" jsonschema:"that it changed"`
	Straight  bool     `json:"-"` // these are changed already; else the changes wait for review
	Conflicts []string `json:"conflicts,omitempty" jsonschema:"files whose changes do not go together with those of others"`
	Shadow    string   `json:"shadow,omitempty" jsonschema:"the shadow workspace that still has what could not be taken over"`
	Tokens    int64    `json:"tokens" jsonschema:"that it used"`

	Checks     []string `json:"checks,omitempty" jsonschema:"the tests and linters that it ran last, and what came of them"`
	Transcript string   `json:"transcript,omitempty" jsonschema:"the cursor of all that it said and did, for read_result"`
}

// Member is a sub-agent as it is listed.
type Member struct {
	ID         string `json:"id" jsonschema:"for the tools that take one"`
	Title      string `json:"title" jsonschema:"the beginning of its task"`
	State      string `json:"state" jsonschema:"idle, running, waiting, paused or ended"`
	Silent     int64  `json:"silent,omitempty" jsonschema:"seconds since something was heard of it, if that is long"`
	End        string `json:"end,omitempty" jsonschema:"why it stopped"`
	Answer     string `json:"answer,omitempty" jsonschema:"its last message, once it has stopped"`
	WaitingFor string `json:"waitingFor,omitempty" jsonschema:"what it asks the user"`
	Seconds    int64  `json:"seconds" jsonschema:"since it began"`
	Tokens     int64  `json:"tokens" jsonschema:"that it used"`
}

// Choice is what came of several agents at one task.
type Choice struct {
	Candidates []Candidate `json:"candidates" jsonschema:"what each of them made"`
	Taken      []string    `json:"taken" jsonschema:"ids of those that the user took"`
	Files      []string    `json:"files" jsonschema:"that they changed"`
	Straight   bool        `json:"-"` // as in a Report
	Conflicts  []string    `json:"conflicts,omitempty" jsonschema:"files whose changes do not go together"`
	Shadows    []string    `json:"shadows,omitempty" jsonschema:"the shadow workspaces that still have what could not be taken over"`
}

// Candidate is what one of several agents made.
type Candidate struct {
	Report
	Added   int    `json:"added" jsonschema:"lines"`
	Removed int    `json:"removed" jsonschema:"lines"`
	Tests   string `json:"tests" jsonschema:"what the tests said in its files"`
}

// Tools are the tools of this family.
func Tools(d Deps) []*tools.Tool {
	team := d.Team
	if team == nil {
		team = nobody{}
	}
	return []*tools.Tool{
		spawnAgent(team), bestOf(team), delegateTask(team),
		agentList(team), agentSend(team), agentWait(team), agentCancel(team),
		proposePlan(d.Plans), writeTodos(d.Work), completeTodo(d.Work), skill(d.Skills, d.Work),
		declareStep(d.Work), verifyStep(d.Work), claimComplete(d.Work), abortWithReport(d.Work),
	}
}

// nobody is a team where no agent can be driven.
type nobody struct{}

var errNobody = tools.Errorf(tools.Unavailable, "no agents can work for you here; do the task yourself")

func (nobody) Spawn(context.Context, Caller, Task) (Report, error)       { return Report{}, errNobody }
func (nobody) Best(context.Context, Caller, string, int) (Choice, error) { return Choice{}, errNobody }
func (nobody) Delegate(context.Context, Caller, string) (Report, error)  { return Report{}, errNobody }
func (nobody) List(Caller) ([]Member, error)                             { return nil, errNobody }
func (nobody) Send(Caller, string, string) error                         { return errNobody }
func (nobody) Cancel(Caller, string) (Member, error)                     { return Member{}, errNobody }
func (nobody) Wait(context.Context, Caller, []string, bool, time.Duration) ([]Member, error) {
	return nil, errNobody
}
