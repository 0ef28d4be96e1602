package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Setup puts this program into the agents and editors that people have.
type Setup interface {
	List(ctx context.Context) ([]SetupClient, error)
	Plan(client string, o SetupOptions) (SetupPlan, error)
	PlanUndo(client string, o SetupOptions) (SetupPlan, error)
}

// SetupClient is an agent or editor.
type SetupClient struct {
	Name    string      `json:"name"`
	Title   string      `json:"title"`
	Found   bool        `json:"found"`
	Version string      `json:"version,omitempty"`
	Roads   []SetupRoad `json:"roads"`
}

// SetupRoad is a way of a client to the workspace.
type SetupRoad struct {
	Road    string `json:"road"`
	State   string `json:"state"`
	What    string `json:"what"`
	Why     string `json:"why,omitempty"`
	Command string `json:"command,omitempty"`
}

// SetupOptions say what is to be set up.
type SetupOptions struct {
	Roads             []string
	Project, OnlyOurs bool
}

// SetupPlan is what would be changed. Apply changes it, and is nil where there
// is nothing to do.
type SetupPlan struct {
	Title    string
	Changed  []SetupChange
	Replaces []string // what is somebody else's
	Left     []string // what undo leaves
	Notes    []string
	Apply    func() error
}

// SetupChange is what becomes of a file.
type SetupChange struct {
	Path   string `json:"path"`
	Target string `json:"target,omitempty"`
	Diff   string `json:"diff"`
}

func (s *Server) setup() (Setup, error) {
	if u := s.current().Setup; u != nil {
		return u, nil
	}
	return nil, errors.New("this server sets up no clients; run `sidecar-ls setup` in a terminal")
}

type setupList struct {
	Clients []SetupClient `json:"clients"`
}

func (s *Server) listSetup(ctx context.Context, _ none) (setupList, error) {
	u, err := s.setup()
	if err != nil {
		return setupList{}, err
	}
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
func (s *Server) applySetup(ctx context.Context, a setupApplyArgs) (setupResult, error) {
	u, err := s.setup()
	if err != nil {
		return setupResult{}, err
	}
	p, err := u.Plan(a.Client, SetupOptions{a.Roads, a.Project, a.OnlyOurs})
	if err != nil {
		return setupResult{}, err
	}
	return s.carryOut(ctx, "sidecar.setup.apply", "Put sidecar-ls into "+p.Title+"?", a, p)
}

func (s *Server) undoSetup(ctx context.Context, a setupUndoArgs) (setupResult, error) {
	u, err := s.setup()
	if err != nil {
		return setupResult{}, err
	}
	p, err := u.PlanUndo(a.Client, SetupOptions{Roads: a.Roads, Project: a.Project})
	if err != nil {
		return setupResult{}, err
	}
	return s.carryOut(ctx, "sidecar.setup.undo", "Take sidecar-ls out of "+p.Title+"?", a, p)
}

// carryOut asks about a plan, and does it.
func (s *Server) carryOut(ctx context.Context, command, title string, args any, p SetupPlan) (setupResult, error) {
	out := setupResult{p.Changed, p.Left, p.Notes}
	if out.Changed == nil {
		out.Changed = []SetupChange{}
	}
	if len(p.Changed) > 0 {
		if err := s.agree(ctx, command, title, args, p); err != nil {
			return setupResult{}, err
		}
	}
	if p.Apply == nil {
		return out, nil
	}
	return out, p.Apply()
}

func (s *Server) agree(ctx context.Context, command, title string, args any, p SetupPlan) error {
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
	answer, err := s.approvals.Approve(ctx, dispatch.Ask{
		ID: rand.Text(), Session: "default", AgentPath: []string{}, Tool: command, Title: title, Body: detail.String(), Detail: detail.String(),
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
