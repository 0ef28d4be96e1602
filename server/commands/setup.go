package commands

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type setupList struct {
	Clients []SetupClient `json:"clients"`
}

func listSetup(ctx context.Context, u Setup, _ none) (setupList, error) {
	list, err := u.List(ctx)
	return setupList{list}, err
}

type setupApplyArgs struct {
	Client   string   `json:"client"`
	Roads    []string `json:"roads"`
	Project  bool     `json:"project,omitempty"`
	OnlyOurs bool     `json:"onlyOurs,omitempty"`
}

type setupUndoArgs struct {
	Client  string   `json:"client"`
	Roads   []string `json:"roads"`
	Project bool     `json:"project,omitempty"`
}

type setupResult struct {
	Changed []SetupChange `json:"changed"`
	Left    []string      `json:"left,omitempty"`
	Notes   []string      `json:"notes,omitempty"`
}

// applySetup is a person's decision: the diffs are shown, and the files are
// written as they were shown or not at all.
func applySetup(ctx context.Context, d *Deps, a setupApplyArgs) (setupResult, error) {
	u, err := setup(d)
	if err != nil {
		return setupResult{}, err
	}
	p, err := u.Plan(a.Client, SetupOptions{a.Roads, a.Project, a.OnlyOurs})
	if err != nil {
		return setupResult{}, err
	}
	return carryOut(ctx, d.Approvals, "sidecar.setup.apply", "Put sidecar-ls into "+p.Title+"?", a, p)
}

func undoSetup(ctx context.Context, d *Deps, a setupUndoArgs) (setupResult, error) {
	u, err := setup(d)
	if err != nil {
		return setupResult{}, err
	}
	p, err := u.PlanUndo(a.Client, SetupOptions{Roads: a.Roads, Project: a.Project})
	if err != nil {
		return setupResult{}, err
	}
	return carryOut(ctx, d.Approvals, "sidecar.setup.undo", "Take sidecar-ls out of "+p.Title+"?", a, p)
}

// carryOut asks about a plan, and does it.
func carryOut(ctx context.Context, ask *client.Approvals, command, title string, args any, p SetupPlan) (setupResult, error) {
	out := setupResult{p.Changed, p.Left, p.Notes}
	if out.Changed == nil {
		out.Changed = []SetupChange{}
	}
	if len(p.Changed) > 0 {
		if err := agree(ctx, ask, command, title, args, p); err != nil {
			return setupResult{}, err
		}
	}
	if p.Apply == nil {
		return out, nil
	}
	return out, p.Apply()
}

func agree(ctx context.Context, ask *client.Approvals, command, title string, args any, p SetupPlan) error {
	const why = "It changes settings of another program, which you can take back"
	var detail strings.Builder
	for _, text := range p.Replaces {
		detail.WriteString("Careful: " + text + ". It is replaced; undo brings it back.\n")
	}
	var paths []string
	for _, c := range p.Changed {
		paths = append(paths, c.Path)
		if c.Target != "" {
			detail.WriteString(c.Path + " leads by a link to " + c.Target + ", which is what changes.\n")
		}
		detail.WriteString(c.Diff + "\n")
	}
	data, err := json.Marshal(args)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(title + detail.String()))
	answer, err := ask.Approve(ctx, dispatch.Ask{
		ID: rand.Text(), Session: "default", AgentPath: []string{}, Tool: command, Title: title, Reason: why, Body: detail.String(), Detail: why + "\n\n" + detail.String(),
		Arguments: data, Effects: dispatch.EffectList{Access: tools.Edit, Writes: paths}, Hash: hex.EncodeToString(hash[:]),
	})
	switch {
	case err != nil:
		return err
	case answer.Allow:
		return nil
	case answer.Reason != "":
		return errors.New("nothing was written: " + answer.Reason)
	}
	return errors.New("nothing was written: the user did not allow it")
}
