package client

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

const (
	// progressDelay is how long a call takes before the user is shown that it
	// runs, when the client did not ask for that itself.
	progressDelay = time.Second
	// progressBytes bounds the output that waits to be reported.
	progressBytes = 16 << 10
	// progressCreateTimeout bounds how long a client may take to make a token.
	progressCreateTimeout = 5 * time.Second
)

// Progress shows running calls to the user, who can cancel them.
type Progress struct {
	client *Client

	mu      sync.Mutex
	running map[string]context.CancelFunc // by token, as it came
	made    int                           // tokens made by us
}

// Job is one call that is shown.
type Job struct {
	p      *Progress
	title  string
	cancel context.CancelFunc // of the call
	life   context.Context    // ends when the call is over
	finish context.CancelFunc // ends life
	gone   chan struct{}      // closed when its end was sent
	news   chan struct{}      // has room for one
	late   *time.Timer        // runs run later, if it runs at all; nil when it runs from the beginning
	over   sync.Once          // of End
	fixed  bool               // the user can't cancel it

	mu   sync.Mutex
	text []byte
}

// NewProgress shows nothing yet.
func NewProgress(c *Client) *Progress {
	return &Progress{client: c, running: map[string]context.CancelFunc{}}
}

// Begin shows work under the client's token or, when there is none, under one
// of ours as soon as the work takes long. The returned context ends when the
// user cancels; End must be called.
func (p *Progress) Begin(ctx context.Context, token lsp.ProgressToken, title string) (context.Context, *Job) {
	return p.adopt(ctx, token, &Job{title: title})
}

func (p *Progress) adopt(ctx context.Context, token lsp.ProgressToken, j *Job) (context.Context, *Job) {
	ctx, cancel := context.WithCancel(ctx)
	j.p, j.cancel, j.gone, j.news = p, cancel, make(chan struct{}), make(chan struct{}, 1)
	j.life, j.finish = context.WithCancel(context.WithoutCancel(ctx))
	free := context.WithoutCancel(ctx)
	switch {
	case token != "":
		p.register(token, cancel)
		go j.run(free, token)
	case p.client.Can.Progress:
		j.late = time.AfterFunc(progressDelay, func() { j.run(free, "") })
	default:
		close(j.gone)
	}
	return ctx, j
}

// Show is Begin for work in the background that nobody asked for and nobody can
// cancel.
func (p *Progress) Show(ctx context.Context, title string) *Job {
	_, j := p.adopt(ctx, "", &Job{title: title, fixed: true})
	return j
}

func (p *Progress) register(token lsp.ProgressToken, cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[string(token)] = cancel
}

// Running is how many calls the user can cancel now.
func (p *Progress) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.running)
}

// Emit reports a chunk of output. It never waits for the client: what does not
// get out in time is left out, oldest first.
func (j *Job) Emit(chunk string) {
	j.mu.Lock()
	j.text = append(j.text, chunk...)
	if n := len(j.text) - progressBytes; n > 0 {
		for n < len(j.text) && !utf8.RuneStart(j.text[n]) {
			n++
		}
		j.text = append([]byte("…"), j.text[n:]...)
	}
	j.mu.Unlock()
	select {
	case j.news <- struct{}{}:
	default:
	}
}

// Say reports text, in the place of what was not yet reported.
func (j *Job) Say(text string) {
	j.mu.Lock()
	j.text = []byte(text)
	j.mu.Unlock()
	select {
	case j.news <- struct{}{}:
	default:
	}
}

// End takes the progress away again, before it returns.
func (j *Job) End() {
	j.over.Do(func() {
		j.finish()
		if j.late == nil || !j.late.Stop() {
			<-j.gone
		}
		j.cancel()
	})
}

// Done is closed when the work is over.
func (j *Job) Done() <-chan struct{} { return j.life.Done() }

// run sends begin, reports and end, in that order.
func (j *Job) run(ctx context.Context, token lsp.ProgressToken) {
	defer close(j.gone)
	if token == "" {
		var ok bool
		if token, ok = j.create(); !ok {
			return
		}
	}
	defer func() {
		j.p.mu.Lock()
		defer j.p.mu.Unlock()
		delete(j.p.running, string(token))
	}()
	send := func(v lsp.WorkDoneProgress) {
		j.p.client.Notify(ctx, "$/progress", lsp.ProgressParams{Token: token, Value: v})
	}
	send(lsp.WorkDoneProgress{Kind: lsp.ProgressBegin, Title: j.title, Cancellable: !j.fixed})
	for over := false; !over; {
		select {
		case <-j.news:
		case <-j.life.Done():
			over = true
		}
		j.mu.Lock()
		text := strings.ToValidUTF8(string(j.text), "\uFFFD")
		j.text = nil
		j.mu.Unlock()
		if text != "" {
			send(lsp.WorkDoneProgress{Kind: lsp.ProgressReport, Message: text})
		}
	}
	send(lsp.WorkDoneProgress{Kind: lsp.ProgressEnd})
}

// create makes a token of our own for a call that has been running for a while.
func (j *Job) create() (lsp.ProgressToken, bool) {
	j.p.mu.Lock()
	j.p.made++
	token := lsp.StringToken("sidecar-" + strconv.Itoa(j.p.made))
	j.p.mu.Unlock()
	ctx, cancel := context.WithTimeout(j.life, progressCreateTimeout)
	defer cancel()
	if err := j.p.client.Call(ctx, "window/workDoneProgress/create", lsp.WorkDoneProgressCreateParams{Token: token}, nil); err != nil {
		return "", false
	}
	j.p.register(token, j.cancel)
	return token, true
}

// Cancel handles window/workDoneProgress/cancel.
func (p *Progress) Cancel(params json.RawMessage) {
	var c lsp.WorkDoneProgressCancelParams
	if lsp.Unmarshal(params, &c) != nil {
		return
	}
	p.mu.Lock()
	cancel := p.running[string(c.Token)]
	p.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
