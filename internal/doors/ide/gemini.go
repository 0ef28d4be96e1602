package ide

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpSessions are the Gemini CLIs that are connected. The SDK's own handler has no
// way to notifications that are not of MCP.
type httpSessions struct {
	ide *IDE

	mu   sync.Mutex
	byID map[string]*httpSession
}

// httpSession is one of them.
type httpSession struct {
	transport *sdk.StreamableServerTransport
	conn      sdk.Connection
	agent     *agent

	mu      sync.Mutex
	streams int // GET requests
	leaving *time.Timer
	open    chan struct{} // closed while one of them carries notifications
	carries bool
}

// sessionHeader names the session of a request.
const sessionHeader = "Mcp-Session-Id"

// away is how long an agent may be without the stream on which it is told things:
// it opens another one when a stream breaks.
const away = 5 * time.Second

func newHTTPSessions(s *IDE) *httpSessions {
	return &httpSessions{ide: s, byID: map[string]*httpSession{}}
}

func (h *httpSessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxMessage)
	id := r.Header.Get(sessionHeader)
	if id == "" && r.Method == http.MethodPost {
		h.open(w, r)
		return
	}
	h.mu.Lock()
	session := h.byID[id]
	h.mu.Unlock()
	switch {
	case session == nil || !session.agent.held && standingOf(r).held: // it is a person's
		http.Error(w, "there is no such session; initialize a new one", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		session.agent.end()
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet:
		// The agent may go on without new requests: the stream says that it is there.
		session.stream(1)
		defer session.stream(-1)
		session.transport.ServeHTTP(&opening{w, session.opened}, r)
	default:
		session.transport.ServeHTTP(w, r)
	}
}

// open begins a session with its first request. One that does not initialize it has
// none.
func (h *httpSessions) open(w http.ResponseWriter, r *http.Request) {
	s := h.ide
	session := &httpSession{transport: &sdk.StreamableServerTransport{SessionID: rand.Text()}, open: make(chan struct{})}
	a := &agent{standing: standingOf(r), name: "gemini", says: "Gemini CLI", words: func(now Shown) any { return now.forGemini(s.o.Trusted()) }}
	a.tell = func(params any) { notify(a.ctx, session.conn, "ide/contextUpdate", params) }
	session.agent = a
	server := s.newServer(func() {})
	addTool(server, "openDiff", func(ctx context.Context, in geminiDiffIn) (*sdk.CallToolResult, error) { return session.openDiff(in) })
	addTool(server, "closeDiff", session.closeDiff)
	running, err := server.Connect(s.ctx, tapped{session}, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.join(a)
	h.mu.Lock()
	h.byID[session.transport.SessionID] = session
	h.mu.Unlock()
	s.work.Go(func() {
		<-a.ctx.Done()
		h.mu.Lock()
		delete(h.byID, session.transport.SessionID)
		h.mu.Unlock()
		_ = running.Close()
		a.close()
	})
	session.transport.ServeHTTP(w, r)
	if running.InitializeParams() == nil {
		a.end()
		return
	}
	session.stream(0) // it has some time to open its stream
}

// stream counts the streams of the agent. An agent without one is gone.
func (h *httpSession) stream(more int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams += more
	if h.leaving != nil {
		h.leaving.Stop()
	}
	if h.streams == 0 {
		h.leaving = time.AfterFunc(away, h.agent.end)
		if h.carries {
			h.open, h.carries = make(chan struct{}), false
		}
	}
}

// opened is called when a stream carries notifications from now on. What was sent
// without one is lost, so the agent is shown again what the user looks at.
func (h *httpSession) opened() {
	h.mu.Lock()
	if !h.carries {
		h.carries = true
		close(h.open)
	}
	h.mu.Unlock()
	h.agent.again.Store(true)
	h.agent.ide.ShownChanged()
}

// decided notifies the agent of a decision, once it has a stream.
func (h *httpSession) decided(method string, d geminiDecision) {
	h.mu.Lock()
	open := h.open
	h.mu.Unlock()
	select {
	case <-open:
		notify(h.agent.ctx, h.conn, method, d)
	case <-h.agent.ctx.Done():
	}
}

// opening calls opened when the answer to a request for a stream begins. The SDK holds
// back other messages at that time, until the stream takes them.
type opening struct {
	http.ResponseWriter
	opened func()
}

func (o *opening) WriteHeader(status int) {
	o.ResponseWriter.WriteHeader(status)
	if status == http.StatusOK {
		o.opened()
	}
}

// Unwrap lets the SDK flush.
func (o *opening) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// tapped is the SDK's transport, with the connection kept.
type tapped struct{ *httpSession }

func (t tapped) Connect(ctx context.Context) (conn sdk.Connection, err error) {
	t.conn, err = t.transport.Connect(ctx)
	return t.conn, err
}

type geminiDiffIn struct {
	Path string `json:"filePath"`
	Text string `json:"newContent"`
}

type geminiDecision struct {
	Path string  `json:"filePath"`
	Text *string `json:"content,omitempty"`
}

// openDiff answers at once; what is decided is told later.
func (h *httpSession) openDiff(in geminiDiffIn) (*sdk.CallToolResult, error) {
	a := h.agent
	d, err := a.propose(a.ctx, in.Path, in.Path, in.Text)
	if err != nil {
		return nil, err
	}
	a.ide.work.Go(func() {
		text, saved := d.wait(a.ctx)
		switch {
		case saved:
			h.decided("ide/diffAccepted", geminiDecision{in.Path, &text})
		case !d.takenBack() && a.ctx.Err() == nil:
			h.decided("ide/diffRejected", geminiDecision{Path: in.Path})
		}
	})
	return texts(), nil
}

type geminiCloseIn struct {
	Path string `json:"filePath"`
}

// closeDiff takes back what is not decided. Gemini takes the text that it answers as
// the outcome when its user agreed in the terminal.
func (h *httpSession) closeDiff(_ context.Context, in geminiCloseIn) (*sdk.CallToolResult, error) {
	text := h.agent.proposed(in.Path)
	h.agent.withdraw(in.Path)
	data, err := json.Marshal(struct {
		Text *string `json:"content"`
	}{text})
	if err != nil {
		return nil, err
	}
	return texts(string(data)), nil
}
