package agents

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed spawn_agent.md
var spawnAgentText string

type spawnAgentIn struct {
	Task    string   `json:"task" jsonschema:"what to do, and what to answer" minLength:"1" maxLength:"20000"`
	Context string   `json:"context,omitempty" jsonschema:"what it has to know: files, decisions, what was tried" maxLength:"50000"`
	Agent   string   `json:"agent,omitempty" jsonschema:"which agent; by default one like you" maxLength:"64"`
	Allow   []string `json:"allow,omitempty" jsonschema:"the only tools that it has, by name; by default yours" maxItems:"64"`
	Budget  *Budget  `json:"budget,omitempty" jsonschema:"what it may use of yours"`
	Wait    bool     `json:"wait,omitempty" jsonschema:"false: go on while it works; agent_wait gets what it says" default:"true"`
}

func spawnAgent(team Team) *tools.Tool {
	d := tools.Def{
		Name: "spawn_agent", Title: "Have a sub-agent work", Description: spawnAgentText, Category: "agents", Interactive: true,
		Example: `{"task": "Find every place that parses dates, and say which formats each takes.", "allow": ["read_file", "search_files"]}`,
		Tags:    []string{"subagent", "task", "parallel", "delegate"}, Names: []string{"agent_wait"}, Output: Report{},
	}
	return tools.NewRead(d, func(ctx context.Context, c *tools.Call, in spawnAgentIn) (tools.Result, error) {
		t := Task{Text: strings.TrimSpace(in.Task), Agent: in.Agent, Allow: in.Allow, Leave: !in.Wait}
		if t.Text == "" {
			return tools.Result{}, tools.Errorf(tools.InvalidArguments, "task: is empty; write what the sub-agent is to do")
		}
		if in.Context != "" {
			t.Text += "\n\n# What you have to know\n" + in.Context
		}
		if in.Budget != nil {
			t.Budget = *in.Budget
		}
		r, err := team.Spawn(ctx, Caller{c.Session, c.ID}, t)
		if err != nil {
			return tools.Result{}, err
		}
		return r.result()
	})
}

// result is a report as the result of the call that waited for it. An agent that failed, as one
// whose model does not answer, has not done its task.
func (r Report) result() (tools.Result, error) {
	if r.End != "failed" {
		return tools.Result{Text: r.words(), Structured: r}, nil
	}
	why := "it said nothing"
	if r.Answer != "" {
		why = r.Answer
	}
	return tools.Result{}, &tools.Error{Code: tools.CommandFailed, Message: fmt.Sprintf("%s failed: %s", r.ID, why), Detail: r.words(), Structured: r}
}

// changes says where changes are that were taken over.
func changes(straight bool) string {
	if straight {
		return "Its changes are in the files, and wait for nobody"
	}
	return "Its changes wait for review"
}

// words are a report as a model reads it.
func (r Report) words() string {
	var b strings.Builder
	if r.End == "running" {
		fmt.Fprintf(&b, "%s works. agent_wait gets what it says at its end.", r.ID)
		return b.String()
	}
	how := "stopped: " + r.End
	if r.End == "done" {
		how = "is done"
	}
	fmt.Fprintf(&b, "%s %s. It used %d tokens.\n", r.ID, how, r.Tokens)
	if len(r.Files) > 0 {
		fmt.Fprintf(&b, "%s: %s\n", changes(r.Straight), strings.Join(r.Files, ", "))
	}
	if len(r.Conflicts) > 0 {
		fmt.Fprintf(&b, "Not taken over, because others changed the same places: %s. The shadow workspace %s still has them.\n", strings.Join(r.Conflicts, ", "), r.Shadow)
	}
	if len(r.Checks) > 0 {
		fmt.Fprintf(&b, "It checked: %s\n", strings.Join(r.Checks, "; "))
	}
	if r.Transcript != "" {
		fmt.Fprintf(&b, "All that it said and did: read_result with the cursor %s\n", r.Transcript)
	}
	switch {
	case r.End == "failed": // the error says why
	case r.Answer == "":
		b.WriteString("It said nothing.")
	default:
		b.WriteString("Its answer:\n\n" + r.Answer)
	}
	return b.String()
}
