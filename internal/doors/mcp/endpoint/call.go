package endpoint

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// question is the one member of what is asked at a time.
const question = "question"

// run is a call on its way.
type run struct {
	cancel context.CancelFunc
	asked  chan pending             // a question that the agent is to be given
	told   atomic.Pointer[progress] // of the request that waits for it now
	done   chan struct{}
	result *sdk.CallToolResult
	err    error

	mu     sync.Mutex
	answer chan<- sdk.InputResponse // of the question that is open
}

// pending is a question and where its answer goes.
type pending struct {
	params *sdk.ElicitParams
	answer chan<- sdk.InputResponse
}

// call is the handler of every tools/call.
func (e *endpoint) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	p := e.progress(req)
	defer p.end()
	if state := req.Params.RequestState; state != "" {
		return e.resume(ctx, state, req.Params.InputResponses, p)
	}
	agent := agentOf(req)
	name, _ := ctx.Value(nameKey{}).(string)
	c := Call{Name: name, Arguments: req.Params.Arguments}
	if req.ProtocolVersion() >= stateless {
		return e.begin(ctx, c, agent, p)
	}
	if p != nil {
		c.Progress = p.report
	}
	if agent.CanAsk {
		c.Ask = &Asker{ask: req.Session.Elicit}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.base, cancel)()
	return e.run(ctx, c, agent)
}

// begin runs a call that may have to wait for the agent to come back.
func (e *endpoint) begin(ctx context.Context, c Call, agent Agent, p *progress) (*sdk.CallToolResult, error) {
	background, cancel := context.WithCancel(e.base)
	r := &run{cancel: cancel, asked: make(chan pending), done: make(chan struct{})}
	r.told.Store(p)
	if p != nil {
		c.Progress = func(text string) { r.told.Load().report(text) }
	}
	if agent.CanAsk {
		c.Ask = &Asker{ask: r.ask}
	}
	e.work.Go(func() {
		defer cancel()
		defer close(r.done)
		r.result, r.err = e.run(background, c, agent)
	})
	return e.await(ctx, r)
}

// run has a backend do a call. What was not begun is tried again with the
// next one.
func (e *endpoint) run(ctx context.Context, c Call, agent Agent) (*sdk.CallToolResult, error) {
	for try := 1; ; try++ {
		b, err := e.connect(agent)
		if err != nil {
			return failure("unavailable: " + e.o.Hide(err.Error())), nil // the model is told
		}
		res, err := b.Call(ctx, c)
		var lost *LostError
		switch {
		case errors.As(err, &lost):
			e.drop(b)
			return failure(lost.Error()), nil
		case !errors.Is(err, ErrNotBegun) || try == maxTries:
			return res, err
		}
		select {
		case <-b.Gone():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// maxTries is how many backends are asked to do a call.
const maxTries = 3

// resume gives an answer to the call that waits for it.
func (e *endpoint) resume(ctx context.Context, state string, answers sdk.InputResponseMap, p *progress) (*sdk.CallToolResult, error) {
	e.mu.Lock()
	r := e.runs[state]
	delete(e.runs, state)
	e.mu.Unlock()
	if r == nil {
		return failure("the question that this answers is no longer open: it was answered before, or has expired; call the tool again"), nil
	}
	r.mu.Lock()
	answer := r.answer
	r.answer = nil
	r.told.Store(p)
	r.mu.Unlock()
	answer <- answers[question] // has room for it; nil is no answer
	return e.await(ctx, r)
}

// await waits for the end of a call, or for a question that the agent has to
// be given first.
func (e *endpoint) await(ctx context.Context, r *run) (*sdk.CallToolResult, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case q := <-r.asked:
		r.mu.Lock()
		r.answer = q.answer
		r.mu.Unlock()
		state := rand.Text()
		e.mu.Lock()
		e.runs[state] = r
		e.mu.Unlock()
		e.work.Go(func() { // a question that nobody comes back for ends with its call
			<-r.done
			e.mu.Lock()
			delete(e.runs, state)
			e.mu.Unlock()
		})
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{question: q.params}, RequestState: state}, nil
	case <-ctx.Done():
		r.cancel()
		<-r.done
		return r.result, r.err
	}
}

// ask hands a question to whoever waits for the call.
func (r *run) ask(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	answer := make(chan sdk.InputResponse, 1)
	select {
	case r.asked <- pending{params, answer}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-answer:
		got, ok := a.(*sdk.ElicitResult)
		if !ok {
			return nil, errors.New("the agent gave no answer")
		}
		return got, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ErrNotBegun is returned by a Backend that is about to go and has not begun a
// call.
var ErrNotBegun = errors.New("the process that served the tools has just ended; call again")

// LostError is returned by a Backend that ended while it worked on a call.
type LostError struct {
	Who string // the backend
}

func (e *LostError) Error() string {
	return fmt.Sprintf("unavailable: %s ended while this call was on its way, so it is not known whether it took effect. Look at the files before you do it again; the next call is served again.", e.Who)
}

// failure is a result that tells the model what went wrong.
func failure(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
