package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
	team "github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// afterPlan are the modes in which a person may have a plan carried out.
var afterPlan = []string{"review", "cautious", "autonomous"}

// Answers to a plan.
const (
	approveIn    = "approve_" // and the mode
	keepPlanning = "keep_planning"
)

// Propose implements team.Plans. What is approved is the document as it is then: whoever
// approves it has seen that, and whatever else they say approves nothing.
func (a *subAgents) Propose(ctx context.Context, by team.Caller, plan string) (team.Decision, error) {
	s, err := a.m.o.Sessions.Get(by.Session)
	if err != nil {
		return team.Decision{}, tools.Errorf(tools.Unavailable, "%v", err)
	}
	d := team.Decision{Mode: s.Mode()}
	if d.Needed = a.m.o.Mode(d.Mode).OnlyReads(); !d.Needed {
		return d, nil
	}
	above := a.m.runs.ownOf(by.Call)
	switch {
	case a.depth(s.ID) > 0:
		return d, tools.Errorf(tools.Unavailable, "you are a sub-agent: put the plan into your answer, and your caller proposes it")
	case above == nil:
		return d, tools.Errorf(tools.Unavailable, "a plan is approved in a run of the agent %s: tell the user what you would do, and go on when they have chosen another mode", Builtin)
	}
	doc := filepath.Join(a.m.o.Shown, documentName(above.run.ID(), "plan", above.Key(by.Call)))
	d.URI = workspace.FileURI(doc)
	shown := a.m.o.Show(plain(plan))
	if !above.WasAnswered(by.Call) { // else it is there, with what the person made of it
		if err := putDocument(doc, shown); err != nil {
			return d, tools.Errorf(tools.Unavailable, "the plan can't be shown: %v", err)
		}
	}
	answer, err := above.AskPeople(ctx, by.Call, a.askAbout(d, doc), func(answer string) bool { return strings.HasPrefix(answer, approveIn) })
	if err != nil {
		return d, err
	}
	mode, approved := strings.CutPrefix(answer, approveIn)
	if !approved || !slices.Contains(afterPlan, mode) {
		if answer != keepPlanning {
			d.Comment = strings.TrimSpace(answer)
		}
		return d, nil
	}
	if d.Plan, err = readDocument(doc); err != nil {
		return d, tools.Errorf(tools.NotApproved, "nothing is approved: %v. Propose the plan again", err)
	}
	if err := s.SetMode(mode); err != nil {
		return d, tools.Errorf(tools.Unavailable, "nothing is approved: %v", err)
	}
	a.host.modeIs(s.ID, mode, func(*conversation.Run) {}) // the result of the call tells it
	sum := sha256.Sum256([]byte(d.Plan))
	d.Approved, d.Mode, d.Means, d.Edited, d.Hash = true, mode, a.m.o.Mode(mode).Help, d.Plan != shown, hex.EncodeToString(sum[:])
	return d, above.run.Emit(conversation.Event{Kind: conversation.Note, Reason: "approved", Ref: d.URI, Mode: mode, Text: fmt.Sprintf("The plan %s was approved, to be carried out in the mode %s.", d.Hash[:12], mode)})
}

// askAbout is the question whether a plan is to be carried out.
func (a *subAgents) askAbout(d team.Decision, doc string) conversation.Question {
	q := conversation.Question{
		Text:   "Shall this plan be carried out? You can change the document first; what it says then is what is done.\n\n" + doc,
		Custom: true, Call: &conversation.Call{Kind: "propose_plan", Title: "Propose a plan", URI: d.URI},
	}
	for _, mode := range afterPlan {
		if a.m.o.Mode(mode).Name != "" {
			q.Options = append(q.Options, conversation.Option{ID: approveIn + mode, Label: "Approve, and go on in " + mode})
		}
	}
	q.Options = append(q.Options, conversation.Option{ID: keepPlanning, Label: "Keep planning", Kind: "reject_once"})
	return q
}
