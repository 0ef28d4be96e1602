package loop

import (
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// prune takes old results out of requests, if that wins so many tokens. Failures stay,
// and what is recent. It returns how many it has won.
func (a *Agent) prune(b Backend, atLeast int64) (won int64, err error) {
	a.mu.Lock()
	keys, won := a.prunable(b.part(keepRecent))
	if won >= atLeast {
		err = a.kept([]*Item{{Kind: Pruned, Calls: keys}})
	}
	a.mu.Unlock()
	if won < atLeast || err != nil {
		return 0, err
	}
	a.emit(conversation.Event{Kind: conversation.Compaction, Reason: "pruned", Text: fmt.Sprintf("%d old results are no longer sent to the model, about %d tokens. It can read them again.", len(keys), won)})
	return won, nil
}

// prunable are the results that may go, and how many tokens they have. mu is held.
func (a *Agent) prunable(keep int64) (keys []string, won int64) {
	begin := 0
	if s := a.transcript.summary; s != nil {
		begin = s.Summary.Through
	}
	recent := int64(0)
	for k := len(a.transcript.live) - 1; k >= 0 && a.transcript.live[k].N > begin; k-- {
		i := &a.transcript.live[k]
		if i.Kind != Resulted || i.Result.Failed || a.transcript.pruned[i.Result.Call] {
			continue
		}
		size := tokens(len(i.Result.Text))
		if recent += size; recent <= keep || size < 100 || a.stays(i.Result.Call) {
			continue
		}
		keys = append(keys, i.Result.Call)
		won += size
	}
	slices.Reverse(keys)
	return keys, won
}

// stays reports whether a result is never pruned: a skill tells the agent how to work, and
// an answer of the user's is their word.
func (a *Agent) stays(key string) bool {
	c, ok := a.transcript.call(key)
	return ok && (c.Name == useSkill || askedWith(c.Name) != "")
}

// askedWith is the argument of a tool to which the user answers; "": its results are not
// the user's prompts.
func askedWith(tool string) string {
	return map[string]string{"ask_user": "question", "propose_plan": "plan"}[tool]
}

// call is a call by its key.
func (t *transcript) call(key string) (c model.Block, ok bool) {
	var answer, place int
	if _, err := fmt.Sscanf(key, "%d.%d", &answer, &place); err != nil {
		return c, false
	}
	k, ok := slices.BinarySearchFunc(t.live, answer, func(i Item, n int) int { return i.N - n })
	if !ok || t.live[k].Kind != Answered || place >= len(t.live[k].Answer.Blocks) {
		return c, false
	}
	return t.live[k].Answer.Blocks[place], true
}
