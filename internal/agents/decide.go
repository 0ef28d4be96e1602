package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// decide answers a permission by the policy; "" leaves it to people, and then by is why they
// are asked. What an agent
// asks about, it does itself in its world: edits become pending there whatever is
// answered, so that the policy says as much about them as if we made them.
func (c *external) decide(ctx context.Context, r acp.PermissionRequest) (option, by string) {
	outcome, rule := c.judge(ctx, r.Tool)
	kinds := map[policy.Outcome][]string{
		policy.Allow: {"allow_once", "allow_always"},
		policy.Deny:  {"reject_once", "reject_always"},
	}[outcome]
	for _, kind := range kinds {
		if i := slices.IndexFunc(r.Options, func(o acp.PermissionOption) bool { return o.Kind == kind }); i >= 0 {
			return r.Options[i].ID, "policy: " + rule
		}
	}
	if outcome != policy.Ask || rule == "" {
		rule = "no rule of yours decides what the agent asks for"
	}
	return "", rule
}

// judge says what the policy has for a call of the agent's: by which rule, or, of a question,
// why.
func (c *external) judge(ctx context.Context, t acp.ToolCall) (policy.Outcome, string) {
	if ours(t) {
		return policy.Allow, "the tool asks for itself"
	}
	switch t.Kind {
	case "read", "search":
		return policy.Allow, "it sees what its world shows"
	case "edit", "delete", "move":
		return c.edits(ctx, t)
	case "execute":
		if line := command(t); line != "" {
			e := c.explain(ctx, "run_command", map[string]string{"command": line})
			if e.Rule == "command.hidden" { // an answer has no reason here, and the rest of the line may be wanted
				return policy.Ask, e.Reason
			}
			return e.Decision, why(e)
		}
	}
	return policy.Ask, ""
}

// edits judges an edit by the files that it names.
func (c *external) edits(ctx context.Context, t acp.ToolCall) (policy.Outcome, string) {
	paths := touched(t)
	if len(paths) == 0 || slices.Contains(paths, "") { // of the latter nobody knows which
		return policy.Ask, ""
	}
	worst, rule := policy.Allow, ""
	for _, path := range paths {
		name, ok := c.below(path)
		if !ok {
			return policy.Deny, "outside of the workspace"
		}
		e := c.explain(ctx, "write_file", map[string]string{"path": name, "content": "\n"})
		switch {
		case e.Decision == policy.Deny:
			return e.Decision, why(e)
		case e.Decision == policy.Ask:
			worst, rule = e.Decision, why(e)
		case rule == "":
			rule = why(e)
		}
	}
	return worst, rule
}

// touched are the files that a call names; "" is one that it does not name.
func touched(t acp.ToolCall) (paths []string) {
	for _, l := range t.Locations {
		paths = append(paths, l.Path)
	}
	for _, part := range t.Content {
		if part.Type == acp.ShowsDiff {
			paths = append(paths, part.Path)
		}
	}
	return paths
}

// explain asks the gate what it would decide.
func (c *external) explain(ctx context.Context, tool string, arguments map[string]string) dispatch.Explanation {
	args, err := json.Marshal(arguments)
	if err != nil {
		return dispatch.Explanation{Decision: policy.Ask}
	}
	e, err := c.m.o.Gate().Explain(ctx, dispatch.Request{Name: tool, Arguments: args, Session: c.session.ID, RunBy: cmp.Or(c.profile.Title, c.profile.Name)})
	if err != nil {
		return dispatch.Explanation{Decision: policy.Ask}
	}
	return e
}

// why is the rule that decided, or of a question the reason, which people read.
func why(e dispatch.Explanation) string {
	if e.Decision == policy.Ask {
		return e.Reason
	}
	return e.Rule
}

// ours reports whether a call is one of our tools, which the gate judges when it is made.
// Claude Code, Codex, opencode and Gemini CLI name them differently, the last in the call's id.
// A title may be a command line, which no name is.
func ours(t acp.ToolCall) bool {
	for _, prefix := range []string{"mcp__sidecar__", "mcp.sidecar.", "sidecar_", "mcp_sidecar_"} {
		rest, named := strings.CutPrefix(t.Title, prefix)
		if strings.HasPrefix(t.Name, prefix) || named && isName(rest) || prefix == "mcp_sidecar_" && strings.HasPrefix(t.ID, prefix) {
			return true
		}
	}
	return false
}

func isName(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
}

// command is the command line of a call: in its input by the names that agents use,
// or else the title, which it is for agents that tell no input.
func command(t acp.ToolCall) string {
	if t.RawInput == nil {
		return t.Title
	}
	raw := t.RawInput
	var in struct {
		Command json.RawMessage
		Cmd     string
	}
	if json.Unmarshal(raw, &in) != nil {
		return ""
	}
	var line string
	if json.Unmarshal(in.Command, &line) == nil {
		return line
	}
	var argv []string
	if json.Unmarshal(in.Command, &argv) == nil && len(argv) > 0 {
		if n := len(argv); n == 3 && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") { // a shell
			return argv[2]
		}
		return words(argv)
	}
	return in.Cmd
}
