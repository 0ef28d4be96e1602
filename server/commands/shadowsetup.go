package commands

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/review"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// setUpShadow runs the setup of a shadow workspace again.
func setUpShadow(ctx context.Context, d *Deps, token lsp.ProgressToken, a shadowArgs) (shadow.Setup, error) {
	sh, err := shadows(d)
	if err != nil {
		return shadow.Setup{}, err
	}
	ctx, job := d.Progress.Begin(ctx, token, "Set up the shadow workspace "+a.ID)
	defer job.End()
	is, err := sh.SetUp(ctx, a.ID, job.Emit)
	return is, shadowError(err)
}

// renewShadow sets a shadow workspace up before a session begins there, where that is needed.
// The user is told of what fails; the session begins all the same.
func renewShadow(ctx context.Context, d *Deps, id string) {
	if id == "" || d.Shadows == nil {
		return
	}
	is, err := d.Shadows.Renew(ctx, id, nil)
	if err == nil && is != nil {
		warn(ctx, d.Client, "The setup of the shadow workspace "+id, setupWords(is))
	}
}

// setupWords are what a person is to know of a setup: nothing, if it is done.
func setupWords(s *shadow.Setup) (words []string) {
	if s == nil || s.State == shadow.SetupDone {
		return nil
	}
	first := string(s.State)
	if s.Command != "" {
		first += ": " + s.Command
	}
	words = append(words, first)
	for _, text := range []string{s.Why, s.Output, s.Next} {
		if text != "" {
			words = append(words, text)
		}
	}
	return words
}

type takeSetupArgs struct {
	From string `json:"from"`
}

type takenSetup struct {
	File  string   `json:"file"`
	Steps []string `json:"steps"`
	Left  []string `json:"left,omitempty"`
}

// takeSetup has a person decide about a setup that the project has for another program, and
// writes it into their settings. No tool comes here, so that no agent asks for one.
func takeSetup(ctx context.Context, d *Deps, a takeSetupArgs) (takenSetup, error) {
	sh, err := shadows(d)
	if err != nil {
		return takenSetup{}, err
	}
	p, err := sh.Plan(a.From)
	if err != nil {
		return takenSetup{}, review.Error(err)
	}
	args, err := json.Marshal(a)
	if err != nil {
		return takenSetup{}, err
	}
	title := fmt.Sprintf("Run the setup of %s in new shadow workspaces?", p.Offer.File)
	const reason = "Its commands run in each new shadow workspace of this project, as far as the mode and your rules let them."
	detail := reason + "\n\n" + p.Body
	hash := sha256.Sum256([]byte(title + detail))
	answer, err := d.Approvals.Approve(ctx, dispatch.Ask{
		ID: rand.Text(), Session: "default", AgentPath: []string{}, Tool: "sidecar.shadow.takeSetup", Title: title, Reason: reason, Body: p.Body, Detail: detail,
		Arguments: args, Effects: dispatch.EffectList{Access: tools.Edit, Writes: []string{p.File}}, Hash: hex.EncodeToString(hash[:]),
	})
	switch {
	case err != nil:
		return takenSetup{}, err
	case !answer.Allow && answer.Reason != "":
		return takenSetup{}, lsp.Errorf(lsp.RequestFailed, "nothing was written: %s", answer.Reason)
	case !answer.Allow:
		return takenSetup{}, lsp.Errorf(lsp.RequestFailed, "nothing was written: the user did not allow it")
	}
	if err := sh.Take(p); err != nil {
		return takenSetup{}, lsp.Errorf(lsp.RequestFailed, "nothing was written: %v", err)
	}
	return takenSetup{p.File, p.Offer.Lines, p.Offer.Left}, nil
}
