package commands

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type suggestArgs struct {
	Days int `json:"days,omitempty"`
}

type suggested struct {
	Rules any `json:"rules"`
}

func suggestRules(_ context.Context, a Always, args suggestArgs) (suggested, error) {
	list, err := a.Suggest(args.Days)
	if err != nil {
		return suggested{}, lsp.Errorf(lsp.RequestFailed, "%v", err)
	}
	return suggested{list}, nil
}

type allowAlwaysArgs struct {
	Rule  AlwaysRule `json:"rule"`
	Scope string     `json:"scope"`
}

type allowedAlways struct {
	File    string `json:"file"`
	Figures any    `json:"figures"`
}

// allowAlways has a person decide about a rule, by what it would have done, and writes it. No
// tool comes here, so that no agent asks for one.
func allowAlways(ctx context.Context, d *Deps, a allowAlwaysArgs) (allowedAlways, error) {
	if a.Scope != "user" && a.Scope != "workspace" {
		return allowedAlways{}, client.InvalidParams("scope: user or workspace is expected")
	}
	rules, err := always(d)
	if err != nil {
		return allowedAlways{}, err
	}
	p, err := rules.Plan(a.Rule, a.Scope)
	if err != nil {
		return allowedAlways{}, client.InvalidParams("rule: %v", err)
	}
	args, err := json.Marshal(a)
	if err != nil {
		return allowedAlways{}, err
	}
	detail := p.Reason + "\n\n" + p.Body
	hash := sha256.Sum256([]byte(p.Title + detail))
	answer, err := d.Approvals.Approve(ctx, dispatch.Ask{
		ID: rand.Text(), Session: "default", AgentPath: []string{}, Tool: "sidecar.policy.allowAlways", Title: p.Title, Reason: p.Reason, Body: p.Body, Detail: detail,
		Arguments: args, Effects: dispatch.EffectList{Access: tools.Edit, Writes: []string{p.File}}, Hash: hex.EncodeToString(hash[:]),
	})
	switch {
	case err != nil:
		return allowedAlways{}, err
	case !answer.Allow && answer.Reason != "":
		return allowedAlways{}, lsp.Errorf(lsp.RequestFailed, "nothing was written: %s", answer.Reason)
	case !answer.Allow:
		return allowedAlways{}, lsp.Errorf(lsp.RequestFailed, "nothing was written: the user did not allow it")
	}
	if err := p.Write(); err != nil {
		return allowedAlways{}, lsp.Errorf(lsp.RequestFailed, "nothing was written: %v", err)
	}
	return allowedAlways{p.File, p.Figures}, nil
}
