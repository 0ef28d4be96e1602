package server

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

// progress shows running calls to the user, who can cancel them.
type progress struct {
	client *client

	mu      sync.Mutex
	running map[string]context.CancelFunc // by token, as it came
	made    int                           // tokens made by us
}

// job is one call that is shown.
type job struct {
	p      *progress
	title  string
	cancel context.CancelFunc // of the call
	life   context.Context    // ends when the call is over
	finish context.CancelFunc // ends life
	gone   chan struct{}      // closed when end was sent
	news   chan struct{}      // has room for one
	late   *time.Timer        // runs run later, if it runs at all; nil when it runs from the beginning
	over   sync.Once          // of end
	fixed  bool               // the user can't cancel it

	mu   sync.Mutex
	text []byte
}

// begin shows work under the client's token or, when there is none, under one
// of ours as soon as the work takes long. The returned context ends when the
// user cancels; end must be called.
func (p *progress) begin(ctx context.Context, token lsp.ProgressToken, title string) (context.Context, *job) {
	return p.adopt(ctx, token, &job{title: title})
}

func (p *progress) adopt(ctx context.Context, token lsp.ProgressToken, j *job) (context.Context, *job) {
	ctx, cancel := context.WithCancel(ctx)
	j.p, j.cancel, j.gone, j.news = p, cancel, make(chan struct{}), make(chan struct{}, 1)
	j.life, j.finish = context.WithCancel(context.WithoutCancel(ctx))
	free := context.WithoutCancel(ctx)
	switch {
	case token != "":
		p.register(token, cancel)
		go j.run(free, token)
	case p.client.can.progress:
		j.late = time.AfterFunc(progressDelay, func() { j.run(free, "") })
	default:
		close(j.gone)
	}
	return ctx, j
}

// show is begin for work in the background that nobody asked for and nobody can
// cancel.
func (p *progress) show(ctx context.Context, title string) *job {
	_, j := p.adopt(ctx, "", &job{title: title, fixed: true})
	return j
}

func (p *progress) register(token lsp.ProgressToken, cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[string(token)] = cancel
}

// emit reports a chunk of output. It never waits for the client: what does not
// get out in time is left out, oldest first.
func (j *job) emit(chunk string) {
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

// say reports text, in the place of what was not yet reported.
func (j *job) say(text string) {
	j.mu.Lock()
	j.text = []byte(text)
	j.mu.Unlock()
	select {
	case j.news <- struct{}{}:
	default:
	}
}

// end takes the progress away again, before it returns.
func (j *job) end() {
	j.over.Do(func() {
		j.finish()
		if j.late == nil || !j.late.Stop() {
			<-j.gone
		}
		j.cancel()
	})
}

// run sends begin, reports and end, in that order.
func (j *job) run(ctx context.Context, token lsp.ProgressToken) {
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
		j.p.client.notify(ctx, "$/progress", lsp.ProgressParams{Token: token, Value: v})
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
func (j *job) create() (lsp.ProgressToken, bool) {
	j.p.mu.Lock()
	j.p.made++
	token := lsp.StringToken("sidecar-" + strconv.Itoa(j.p.made))
	j.p.mu.Unlock()
	ctx, cancel := context.WithTimeout(j.life, progressCreateTimeout)
	defer cancel()
	if err := j.p.client.call(ctx, "window/workDoneProgress/create", lsp.WorkDoneProgressCreateParams{Token: token}, nil); err != nil {
		return "", false
	}
	j.p.register(token, j.cancel)
	return token, true
}

// cancelProgress handles window/workDoneProgress/cancel.
func (s *Server) cancelProgress(params json.RawMessage) {
	var p lsp.WorkDoneProgressCancelParams
	if lsp.Unmarshal(params, &p) != nil {
		return
	}
	s.progress.mu.Lock()
	cancel := s.progress.running[string(p.Token)]
	s.progress.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
