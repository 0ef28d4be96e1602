package serve

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/trust"
)

// trustAsker asks whoever sits at the editor about what has changed in trusted
// folders: about each change once.
type trustAsker struct {
	client *app.Client
	seat   *seat

	mu    sync.Mutex
	asked map[string]bool // by folder and hash
}

// maxAsked bounds how much of a change a question shows.
const maxAsked = 16 << 10

// about asks beside what goes on: until there is an answer, the stricter holds.
func (a *trustAsker) about(changed []*trust.State) {
	for _, state := range changed {
		id := state.Dir + "\x00" + state.Hash()
		a.mu.Lock()
		known := a.asked[id] || state.Refused
		a.asked[id] = true
		a.mu.Unlock()
		if !known {
			go a.ask(state)
		}
	}
}

func (a *trustAsker) ask(state *trust.State) {
	a.client.Log().Warn("trust", "problem", state.Words())
	patch := state.Diff()
	if len(patch) > maxAsked {
		patch = strings.ToValidUTF8(patch[:maxAsked], "") + "\n… (sidecar-ls trust shows all of it)\n"
	}
	shown := a.client.Hide.Shown
	q := dispatch.Ask{
		ID: "trust-" + state.Hash()[:16], Tool: "trust", Rule: "trust.changed", Hash: state.Hash(), Expires: time.Now().Add(unattended),
		Title:  shown("Take what changed in the trusted folder " + filepath.Base(state.Dir) + "?"),
		Reason: shown(strings.Join(state.Changed(), ", ") + " changed since you trusted " + state.Dir + ". Until you allow it, the stricter of both holds. Deny keeps it so, and is asked again once something else changes."),
		Body:   shown(patch), Diff: a.client.Hide.Text(patch),
	}
	q.Arguments, _ = json.Marshal(map[string]any{"folder": shown(state.Dir), "files": state.Changed()}) // strings
	q.Detail = q.Reason + "\n" + q.Body
	answer, err := a.seat.Approve(context.Background(), q)
	if err != nil || !answer.Allow && answer.Scope == "" { // no answer is none
		return
	}
	if err := a.client.Settings.Answer(state.Dir, state.Hash(), answer.Allow); err != nil {
		a.client.Log().Warn("trust", "problem", err)
		a.client.Warn(a.client.Hide.Shown(err.Error()))
	}
}
