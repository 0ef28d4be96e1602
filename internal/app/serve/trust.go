package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
)

// trustAsker asks whoever sits at the editor about what has changed in trusted
// folders: about each change once.
type trustAsker struct {
	client *app.Client
	seat   *seat

	left context.Context // ends with close
	end  context.CancelFunc
	work sync.WaitGroup

	mu    sync.Mutex
	n     int                     // of the latest question
	asked map[string]bool         // by folder and hash
	open  map[string]openQuestion // by folder
}

type openQuestion struct {
	hash   string
	cancel context.CancelFunc
}

func newTrustAsker(c *app.Client, s *seat) *trustAsker {
	a := &trustAsker{client: c, seat: s, asked: map[string]bool{}, open: map[string]openQuestion{}}
	a.left, a.end = context.WithCancel(context.Background())
	return a
}

// close takes open questions back, and waits until given answers are kept.
func (a *trustAsker) close() {
	a.mu.Lock()
	a.end()
	a.mu.Unlock()
	a.work.Wait()
}

// maxAsked bounds how long a change may be that is asked about: nobody says yes to
// what was not shown.
const maxAsked = 256 << 10

// about asks in the background: until there is an answer, the stricter holds. An open
// question about what is no longer there is withdrawn, as its answer could only fail: an
// editor may save a file in two writes.
func (a *trustAsker) about(changed []*trust.State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := map[string]string{}
	for _, state := range changed {
		now[state.Dir] = state.Hash()
	}
	for dir, q := range a.open {
		if now[dir] != q.hash {
			q.cancel()
			delete(a.open, dir)
			delete(a.asked, dir+"\x00"+q.hash)
		}
	}
	for _, state := range changed {
		id := state.Dir + "\x00" + state.Hash()
		known := a.asked[id] || state.Refused
		a.asked[id] = true
		if known || a.left.Err() != nil {
			continue
		}
		a.n++
		number := a.n
		ctx, cancel := context.WithCancel(a.left)
		a.open[state.Dir] = openQuestion{state.Hash(), cancel}
		a.work.Go(func() {
			defer cancel()
			a.ask(ctx, state, number)
		})
	}
}

func (a *trustAsker) ask(ctx context.Context, state *trust.State, number int) {
	a.client.Log().Warn("trust", "problem", state.Words())
	shown := a.client.Hide.Shown
	patch := state.Diff()
	by := "; sidecar-ls trust yes --hash " + state.Hash() + " takes it"
	if len(patch) > maxAsked {
		a.client.Warn(shown(state.Words() + "; it is too long to be shown here" + by))
		return
	}
	if names := state.Unshown(); len(names) > 0 {
		a.client.Warn(shown(state.Words() + "; the text of " + strings.Join(names, ", ") + " can't be shown, so you are not asked here" + by))
		return
	}
	loose := ""
	if words := state.Loose(); len(words) > 0 {
		loose = " Not compared, because nobody knows which files they name: " + strings.Join(words, ", ") + "."
	}
	q := dispatch.Ask{
		ID: fmt.Sprintf("trust-%d-%s", number, state.Hash()[:16]), Tool: "trust", Rule: "trust.changed", Hash: state.Hash(), Expires: time.Now().Add(unattended),
		Title:  shown("Take what changed in the trusted folder " + filepath.Base(state.Dir) + "?"),
		Reason: shown(strings.Join(state.Changed(), ", ") + " changed since you trusted " + state.Dir + ". Until you allow it, the stricter of both holds. Deny keeps it so, and is asked again once something else changes." + loose),
		Body:   shown(patch), Diff: a.client.Hide.Text(patch),
	}
	q.Arguments, _ = json.Marshal(map[string]any{"folder": shown(state.Dir), "files": state.Changed()}) // strings
	q.Detail = q.Reason + "\n" + q.Body
	answer, err := a.seat.Approve(ctx, q)
	if err != nil || !answer.Allow && answer.Scope == "" { // no answer is none
		return
	}
	if err := a.client.Settings.Answer(state.Dir, state.Hash(), answer.Allow); err != nil {
		a.client.Log().Warn("trust", "problem", err)
		a.client.Warn(a.client.Hide.Shown(err.Error()))
	}
}
