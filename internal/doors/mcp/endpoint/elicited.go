package endpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// Elicited asks the user of the agent that makes the call, where no editor is.
type Elicited struct{ Hide *redact.Redactor }

// Approve implements dispatch.Approver.
func (Elicited) Approve(ctx context.Context, a dispatch.Ask) (dispatch.Answer, error) {
	answer, err := AskerOf(ctx).Approve(ctx, a)
	switch {
	case errors.Is(err, ErrCantAsk):
		err = fmt.Errorf("no editor is there, and %w", err)
	case errors.Is(err, ErrUnseen), errors.Is(err, ErrClosed):
	default:
		return answer, err
	}
	return answer, fmt.Errorf("%w: %w. Tell the user: %s", dispatch.ErrNobody, err, waysOut(a))
}

// waysOut is what the user can do so that somebody is asked, or nobody needs to
// be.
func waysOut(a dispatch.Ask) string {
	ways := "open the workspace in an editor with sidecar-ls, which then shows the question"
	if !a.Rememberable {
		return ways
	}
	file := config.UserFile()
	if file == "" {
		file = "the user's settings"
	}
	if a.Diff != "" {
		ways += "; or set {\"mode\": \"review\"} in " + file + ", so that edits wait for `sidecar-ls review`"
	}
	return ways + fmt.Sprintf("; or allow the tool for good: {\"toolPermissions\": {%q: \"allow\"}} in %s", a.Tool, file)
}

// Ask implements editor.People.
func (p Elicited) Ask(ctx context.Context, q editor.Question) (string, bool, error) {
	text, options := q.Shown(p.Hide.Shown)
	answer, ok, err := AskerOf(ctx).Choose(ctx, text, options, q.AllowCustom)
	if i := slices.Index(options, answer); i >= 0 {
		answer = q.Options[i]
	}
	return answer, ok, err
}
