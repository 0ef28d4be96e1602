package acp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Options of a connection. The zero value is good.
type Options struct {
	Log         *slog.Logger   // nil is silence
	Client      Implementation // who the agent is told to talk to
	MaxLine     int            // bytes of a message, default 32 MiB
	MaxQueued   int            // bytes of messages that wait, and of requests that are open, default 64 MiB
	MaxRequests int            // open requests of the agent, default 256
	MaxUnsent   int            // bytes not yet written before senders wait, default 8 MiB

	CallTimeout   time.Duration // an answer that is not a prompt's or a session's history, default 1 min
	LoadTimeout   time.Duration // a session's history, default 5 min
	CancelTimeout time.Duration // how long a new prompt waits for the end of a cancelled one, default 10 s
	WriteTimeout  time.Duration // a message that the agent doesn't read, default 30 s

	// Notify hears notifications that are not session/update, in order.
	Notify func(method string, params json.RawMessage)
}

// Stats count what came and was not used.
type Stats struct {
	Noise   int // lines that are no messages
	Bad     int // messages that are wrong
	Replies int // answers that nobody waits for
	Updates int // of sessions that are not open
}

// Conn is a connection to an agent. Its methods may be called from any goroutine.
type Conn struct {
	r     io.Reader
	world World
	opts  Options
	log   *slog.Logger
	out   *writer
	in    *inbox
	base  context.Context // of all requests of the agent
	end   context.CancelCauseFunc
	done  chan struct{}

	handlers sync.WaitGroup
	mu       sync.Mutex
	err      error // why it ended
	agent    Initialized
	calls    map[string]*call
	lastCall int64
	requests map[string]*request
	bytes    int // of the requests
	sessions map[string]*Session
	opening  int // session/new under way: updates may come before the answer
	held     []heldUpdate
	heldSize int
	paths    map[string]chan struct{} // the end of the latest request about a file
	stats    Stats
	refused  int // messages without an id that were answered
}

// Open starts a connection over an agent's output and input. Both are closed at
// its end, if they can be: else the end waits for the agent to close its output.
func Open(r io.Reader, w io.Writer, world World, opts Options) *Conn {
	opts.MaxLine = cmp.Or(opts.MaxLine, 32<<20)
	opts.MaxQueued = cmp.Or(opts.MaxQueued, 64<<20)
	opts.MaxRequests = cmp.Or(opts.MaxRequests, 256)
	opts.MaxUnsent = cmp.Or(opts.MaxUnsent, 8<<20)
	opts.CallTimeout = cmp.Or(opts.CallTimeout, time.Minute)
	opts.LoadTimeout = cmp.Or(opts.LoadTimeout, 5*time.Minute)
	opts.CancelTimeout = cmp.Or(opts.CancelTimeout, 10*time.Second)
	opts.WriteTimeout = cmp.Or(opts.WriteTimeout, 30*time.Second)
	c := &Conn{
		r: r, world: world, opts: opts, log: opts.Log,
		out: newWriter(w, opts.MaxUnsent, opts.WriteTimeout), in: newInbox(opts.MaxQueued),
		done:  make(chan struct{}),
		calls: map[string]*call{}, requests: map[string]*request{}, sessions: map[string]*Session{}, paths: map[string]chan struct{}{},
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.base, c.end = context.WithCancelCause(context.Background())
	c.handlers.Add(3)
	go func() {
		defer c.handlers.Done()
		c.read()
	}()
	go func() {
		defer c.handlers.Done()
		c.work()
	}()
	go func() {
		defer c.handlers.Done()
		c.fail(c.out.run())
	}()
	go func() {
		<-c.base.Done()
		c.handlers.Wait()
		c.releaseAll()
		close(c.done)
	}()
	return c
}

// Close ends the connection: calls return ErrGone, the contexts of the agent's
// requests end, terminals are released. It doesn't wait; Done does.
func (c *Conn) Close() { c.fail(fmt.Errorf("%w: the connection was closed", ErrGone)) }

// Done is closed when the connection has ended and nothing of it works any more.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended, or nil.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Stats returns what was not used so far.
func (c *Conn) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

func (c *Conn) count(of func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of(&c.stats)
}

// fail ends the connection, with the first error that there is.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	calls := c.calls
	c.calls = map[string]*call{}
	c.mu.Unlock()
	for _, p := range calls {
		p.settle(message{}, err)
	}
	c.end(err)
	c.out.fail(err)
	c.in.close()
	closeStream(c.out.w)
	closeStream(c.r)
}

// read is the read loop: it cuts lines and puts them into the inbox.
func (c *Conn) read() {
	lines := lineReader{bufio.NewReaderSize(c.r, 64<<10), c.opts.MaxLine}
	defer c.in.last()
	for {
		line, err := lines.next()
		var long *longLine
		switch {
		case errors.As(err, &long):
			m := long.message
			m.err = Errorf(CodeInvalidRequest, "%s", long)
			if !m.reply {
				c.refuse(m, m.err)
				continue
			}
			if !c.in.put(m) {
				return
			}
			continue
		case err != nil:
			return
		}
		if line[0] != '{' && line[0] != '[' { // agents print what belongs into their log
			c.count(func(s *Stats) { s.Noise++ })
			c.log.Debug("the agent printed a line that is no message", "line", string(line[:min(len(line), 200)]))
			continue
		}
		if line[0] == '[' {
			c.refuse(message{}, Errorf(CodeInvalidRequest, "batches are not part of the protocol: send one message a line"))
			continue
		}
		m, bad := parse(line)
		if bad != nil {
			c.refuse(m, bad)
			continue
		}
		if !c.in.put(m) {
			return
		}
	}
}

// maxRefused bounds how many messages without an id are answered: more help
// nobody, and an agent that doesn't read them is not to be flooded.
const maxRefused = 100

// refuse answers a message that can't be used.
func (c *Conn) refuse(m message, why *Error) {
	c.mu.Lock()
	c.stats.Bad++
	if m.id == nil {
		c.refused++
	}
	quiet := m.reply || m.id == nil && c.refused > maxRefused
	c.mu.Unlock()
	c.log.Warn("a message of the agent can't be used", "method", m.method, "error", why)
	if !quiet {
		c.answer(m.id, nil, why)
	}
}

// work handles messages in their order: updates and answers inline, requests
// from here on beside each other.
func (c *Conn) work() {
	for {
		m, ok := c.in.take()
		if !ok {
			c.fail(fmt.Errorf("%w: it closed its output", ErrGone))
			return
		}
		switch {
		case m.reply:
			c.deliver(m)
		case m.id != nil:
			c.request(m)
		default:
			c.notification(m)
		}
	}
}

// notification handles one. A panic costs only this message.
func (c *Conn) notification(m message) {
	defer c.caught(m.method)
	switch m.method {
	case "session/update":
		c.update(m)
	case "$/cancel_request":
		var p struct{ RequestID json.RawMessage }
		if json.Unmarshal(m.params, &p) == nil {
			c.mu.Lock()
			r := c.requests[string(p.RequestID)]
			c.mu.Unlock()
			if r != nil {
				r.cancel(errRequestCancelled)
			}
		}
	default:
		if c.opts.Notify != nil {
			c.opts.Notify(m.method, m.params)
		}
	}
}

func (c *Conn) caught(method string) {
	if p := recover(); p != nil {
		c.log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
	}
}

// Bounds of what is kept of sessions whose ids are not known yet.
const (
	maxHeld      = 1024
	maxHeldBytes = 8 << 20
)

// heldUpdate is an update of a session whose id is not known yet.
type heldUpdate struct {
	session string
	raw     json.RawMessage
}

// update hands one to the host, if its session is open.
func (c *Conn) update(m message) {
	var p struct {
		SessionID string
		Update    json.RawMessage
	}
	if err := json.Unmarshal(m.params, &p); err != nil || isNull(p.Update) {
		c.count(func(s *Stats) { s.Bad++ })
		c.log.Warn("an update of the agent can't be read", "error", err)
		return
	}
	c.mu.Lock()
	session := c.sessions[p.SessionID]
	if session == nil && c.opening > 0 && len(c.held) < maxHeld && c.heldSize+m.size <= maxHeldBytes {
		c.held = append(c.held, heldUpdate{p.SessionID, p.Update})
		c.heldSize += m.size
		c.mu.Unlock()
		return
	}
	if session == nil {
		c.stats.Updates++
	}
	c.mu.Unlock()
	if session != nil {
		session.hear(p.Update)
	}
}

// answer replies to a request. It waits while too much is unsent, also in the
// read loop: who asks without reading the answers has to wait, too. The end of
// the connection is the only failure, and needs no other error.
func (c *Conn) answer(id json.RawMessage, result any, bad *Error) {
	reply := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result,omitempty"`
		Error   *Error          `json:"error,omitempty"`
	}{"2.0", id, result, bad}
	line, err := json.Marshal(reply)
	if err != nil {
		reply.Result, reply.Error = nil, Errorf(CodeInternal, "the answer can't be written: %s", err)
		line, _ = json.Marshal(reply)
	}
	_ = c.out.send(c.base, append(line, '\n'), false)
}
