package endpoint

import (
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what is told of a call's progress.
const (
	maxProgress   = 1 << 10                // bytes of one message
	progressPause = 100 * time.Millisecond // between two
)

// progress tells the agent what a tool says while it runs, without making the
// tool wait: when there is more than can be told, the latest is.
type progress struct {
	latest atomic.Pointer[string]
	wake   chan struct{} // has a token when there is something to tell
	over   chan struct{} // closed by end
	done   chan struct{}
}

// progress returns nil when the agent does not want to know.
func (e *endpoint) progress(req *sdk.CallToolRequest) *progress {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	p := &progress{wake: make(chan struct{}, 1), over: make(chan struct{}), done: make(chan struct{})}
	n := 0.0
	send := func() {
		if text := p.latest.Swap(nil); text != nil {
			n++
			// An agent that can't be told has left, which ends the call.
			_ = req.Session.NotifyProgress(e.base, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: *text})
		}
	}
	go func() {
		defer close(p.done)
		defer send()
		for {
			select {
			case <-p.wake:
				send()
			case <-p.over:
				return
			}
			select {
			case <-time.After(progressPause):
			case <-p.over:
				return
			}
		}
	}()
	return p
}

// report notes what is to be told next.
func (p *progress) report(text string) {
	text = strings.TrimSpace(text)
	if p == nil || text == "" {
		return
	}
	if len(text) > maxProgress {
		text = strings.ToValidUTF8(text[len(text)-maxProgress:], "")
	}
	p.latest.Store(&text)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// end tells what is left and waits until it is told.
func (p *progress) end() {
	if p != nil {
		close(p.over)
		<-p.done
	}
}
