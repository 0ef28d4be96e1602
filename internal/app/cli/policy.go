package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
)

// policyCommand is the command policy.
func policyCommand(ctx context.Context, c *cli) error {
	verb := ""
	if len(c.args) > 0 {
		verb = c.args[0]
	}
	switch verb {
	case "explain":
		return explainPolicy(ctx, c)
	case "test":
		return testPolicy(ctx, c)
	case "suggest":
		return suggestPolicy(ctx, c)
	}
	return usagef("policy has the verbs explain, test and suggest")
}

// policyExplain asks what would be decided about calls in a mode.
var policyExplain = query[callsToExplain, []dispatch.Explanation]{name: "policy explain", queue: app.QueueByMode, answer: explainCalls}

type callsToExplain struct {
	Mode      string            `json:"mode,omitempty"` // "": that of the settings
	Name      string            `json:"name"`
	Arguments []json.RawMessage `json:"arguments"` // of a call each
}

// explainCalls explains them as those of a session in which nobody has allowed
// anything yet.
func explainCalls(ctx context.Context, w *app.Workspace, a callsToExplain) ([]dispatch.Explanation, error) {
	s, err := w.Client.Sessions.Open(session.OpenRequest{Mode: a.Mode})
	if errors.Is(err, session.ErrMode) {
		return nil, noMode(w.Client.Settings, a.Mode)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Client.Sessions.Close(s.ID) }()
	out := make([]dispatch.Explanation, len(a.Arguments))
	for i, args := range a.Arguments {
		if out[i], err = w.Dispatch.Explain(ctx, dispatch.Request{Name: a.Name, Arguments: args, Session: s.ID}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func explainPolicy(ctx context.Context, c *cli) error {
	r, err := c.request(ctx, "policy explain", c.args[1:])
	if err != nil {
		return err
	}
	all, err := ask(ctx, c, policyExplain, callsToExplain{c.mode, r.Name, []json.RawMessage{r.Arguments}})
	if err != nil {
		return err
	}
	e := all[0]
	if c.json {
		return c.print(e)
	}
	fmt.Fprintf(c.Out, "%s by %s: %s\n", e.Decision, e.Rule, e.Reason)
	if e.Floor != "" {
		fmt.Fprintf(c.Out, "Nobody can loosen this here: %s.\n", e.Floor)
	}
	for _, row := range []struct {
		what string
		list []string
	}{{"reads", e.Effects.Reads}, {"writes", e.Effects.Writes}, {"hosts", e.Effects.Hosts}} {
		if len(row.list) > 0 {
			fmt.Fprintf(c.Out, "%s: %s\n", row.what, strings.Join(row.list, ", "))
		}
	}
	if e.Effects.Command != "" {
		fmt.Fprintf(c.Out, "command: %s\n", e.Effects.Command)
	}
	if e.Effects.Sandbox != "" {
		fmt.Fprintln(c.Out, e.Effects.Sandbox)
	}
	c.parts(e)
	for _, x := range e.Crosses {
		fmt.Fprintf(c.Out, "crosses: %s (%s, %s)\n", x.What, x.Kind, x.Decision)
	}
	conditions(c.Out, e.Conditions)
	return nil
}

// conditions writes on what commands run unasked, and what of it is missing.
func conditions(out io.Writer, list []effects.Condition) {
	for _, x := range list {
		mark := "✓"
		if !x.Holds {
			mark = "✗"
		}
		fmt.Fprintf(out, "  %s %s: %s\n", mark, x.Name, x.Why)
	}
}

// parts writes what was decided about the pieces of a command line.
func (c *cli) parts(e dispatch.Explanation) {
	for _, p := range e.Parts {
		fmt.Fprintf(c.Out, "  %s: %s by %s: %s\n", p.Command, cmp.Or(string(p.Decision), "the mode decides"), p.Rule, p.Reason)
	}
}

// maxLines bounds the lines that one test reads.
const maxLines = 100_000

// testPolicy says what would be decided about lines for run_command, and fails
// when it is not what was expected.
func testPolicy(ctx context.Context, c *cli) error {
	if c.expect != "" && !slices.Contains([]policy.Outcome{policy.Allow, policy.Ask, policy.Deny}, policy.Outcome(c.expect)) {
		return usagef("--expect must be allow, ask or deny, not %q", c.expect)
	}
	lines := c.args[1:]
	if len(lines) == 1 {
		if rules, problems, is := rulesIn(lines[0]); is {
			return testRules(c, lines[0], rules, problems)
		}
	}
	if len(lines) == 1 && lines[0] == "-" {
		lines = nil
		in := bufio.NewScanner(c.In)
		in.Buffer(nil, 1<<20)
		for in.Scan() && len(lines) < maxLines {
			if text := strings.TrimSpace(in.Text()); text != "" && !strings.HasPrefix(text, "#") {
				lines = append(lines, in.Text())
			}
		}
		if err := in.Err(); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		return usagef("policy test takes lines for run_command, each as one argument, - for lines on standard input, or a file of command rules, whose examples it checks")
	}
	calls := callsToExplain{Mode: c.mode, Name: "run_command"}
	for _, line := range lines {
		args, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			return err
		}
		calls.Arguments = append(calls.Arguments, args)
	}
	explained, err := ask(ctx, c, policyExplain, calls)
	if err != nil {
		return err
	}
	type tested struct {
		Line string `json:"line"`
		dispatch.Explanation
	}
	var all []tested
	wrong := 0
	for i, line := range lines {
		e, mark := explained[i], ""
		if c.expect != "" && string(e.Decision) != c.expect {
			wrong++
			mark = " (expected: " + c.expect + ")"
		}
		all = append(all, tested{line, e})
		if !c.json {
			fmt.Fprintf(c.Out, "%-5s  %s  [%s]%s\n", e.Decision, line, e.Rule, mark)
			if len(lines) == 1 || mark != "" {
				c.parts(e)
			}
		}
	}
	if c.json {
		if err := c.print(all); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d lines are not decided as expected", wrong, len(lines))
	}
	return nil
}
