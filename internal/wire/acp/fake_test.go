package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeAgent is the other end of a connection, line by line.
type fakeAgent struct {
	t   *testing.T
	in  *bufio.Reader
	out io.WriteCloser
}

// wire is a message as the agent sees it.
type wire struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
	line   string
}

// dial connects a fake agent to a Conn.
func dial(t *testing.T, world World, opts Options) (*Conn, *fakeAgent) {
	t.Helper()
	fromAgent, out := io.Pipe()
	in, toAgent := io.Pipe()
	c := Open(fromAgent, toAgent, world, opts)
	t.Cleanup(func() {
		c.Close()
		_ = out.Close()
		<-c.Done()
	})
	return c, &fakeAgent{t, bufio.NewReaderSize(in, 1<<20), out}
}

func (a *fakeAgent) send(lines ...string) {
	a.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(a.out, line+"\n"); err != nil {
			a.t.Errorf("the agent can't write: %v", err)
		}
	}
}

func (a *fakeAgent) read() wire {
	a.t.Helper()
	line, err := a.in.ReadString('\n')
	if err != nil {
		a.t.Errorf("the agent can't read: %v", err)
		return wire{}
	}
	w := wire{line: line}
	if err := json.Unmarshal([]byte(line), &w); err != nil {
		a.t.Errorf("the host sent %q: %v", line, err)
	}
	return w
}

// expect reads a request or a notification.
func (a *fakeAgent) expect(method string) wire {
	a.t.Helper()
	w := a.read()
	if w.Method != method {
		a.t.Errorf("the host sent %s, want %s", w.line, method)
	}
	return w
}

func (a *fakeAgent) reply(to wire, result string) {
	a.t.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.ID, result))
}

// ask sends a request and reads the next message, which has to be its answer.
func (a *fakeAgent) ask(id, method, params string) wire {
	a.t.Helper()
	a.request(id, method, params)
	w := a.read()
	if string(w.ID) != id {
		a.t.Errorf("the answer to %s is %s", id, w.line)
	}
	return w
}

func (a *fakeAgent) request(id, method, params string) {
	a.t.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
}

func (a *fakeAgent) say(session, text string) {
	a.t.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, session, text))
}

// all is what an agent offers that offers everything.
const all = `{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1"},"agentCapabilities":{"loadSession":true,
"promptCapabilities":{"image":true,"embeddedContext":true},"mcpCapabilities":{"http":true},
"sessionCapabilities":{"list":{},"delete":{},"resume":{},"close":{}},"auth":{"logout":{}}},"authMethods":[{"id":"key","name":"Key"}]}`

var oneLine = strings.NewReplacer("\n", "").Replace

// open runs initialize and session/new.
func open(t *testing.T, c *Conn, a *fakeAgent) *Session {
	t.Helper()
	go func() {
		a.reply(a.expect("initialize"), oneLine(all))
		a.reply(a.expect("session/new"), `{"sessionId":"s1"}`)
	}()
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSession(t.Context(), SessionParams{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// prompting sends a prompt and returns when the agent has it.
func prompting(t *testing.T, s *Session, a *fakeAgent) (prompt wire, end chan ended) {
	t.Helper()
	end = make(chan ended, 1)
	go func() {
		stopped, err := s.Prompt(t.Context(), Text("go"))
		end <- ended{stopped, err}
	}()
	return a.expect("session/prompt"), end
}

type ended struct {
	Stopped
	err error
}

func (e ended) want(t *testing.T, reason string) {
	t.Helper()
	if e.err != nil || e.Reason != reason {
		t.Errorf("the turn ended with %q, %v; want %q", e.Reason, e.err, reason)
	}
}

// testWorld is a world in memory.
type testWorld struct {
	updates  chan Update
	permit   func(context.Context, PermissionRequest) (string, error)
	onUpdate func(Update)
	elicit   func(context.Context, ElicitRequest) (Elicited, error)
	onWrite  func(path string)

	mu    sync.Mutex
	files map[string]string
	terms []*testTerminal
}

func newWorld() *testWorld {
	return &testWorld{updates: make(chan Update, 100), files: map[string]string{}}
}

func (w *testWorld) world() World {
	return World{Host: w, Files: w, Terminals: w, Elicitor: w}
}

func (w *testWorld) Update(ctx context.Context, u Update) {
	if w.onUpdate != nil {
		w.onUpdate(u)
		return
	}
	w.updates <- u
}

func (w *testWorld) Permission(ctx context.Context, r PermissionRequest) (string, error) {
	return w.permit(ctx, r)
}

func (w *testWorld) Elicit(ctx context.Context, r ElicitRequest) (Elicited, error) {
	return w.elicit(ctx, r)
}

func (w *testWorld) ReadFile(ctx context.Context, session, path string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, ok := w.files[path]
	if !ok {
		return "", fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return text, nil
}

func (w *testWorld) WriteFile(ctx context.Context, session, path, text string) error {
	if w.onWrite != nil {
		w.onWrite(path)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[path] = text
	return nil
}

func (w *testWorld) Create(ctx context.Context, r TerminalRequest) (Terminal, error) {
	if r.Command == "missing" {
		return nil, fs.ErrNotExist
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &testTerminal{text: r.Command + " ran", killed: make(chan struct{}), released: make(chan struct{})}
	w.terms = append(w.terms, t)
	return t, nil
}

// testTerminal runs until it is killed.
type testTerminal struct {
	text     string
	once     sync.Once
	killed   chan struct{}
	released chan struct{}
}

func (t *testTerminal) exit() *Exit {
	select {
	case <-t.killed:
		signal := "SIGKILL"
		return &Exit{Signal: &signal}
	default:
		return nil
	}
}

func (t *testTerminal) Output() (string, bool, *Exit) { return t.text, false, t.exit() }

func (t *testTerminal) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-t.killed:
		return *t.exit(), nil
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
}

func (t *testTerminal) Kill() error {
	t.once.Do(func() { close(t.killed) })
	return nil
}

func (t *testTerminal) Release() {
	_ = t.Kill()
	close(t.released)
}

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

func get[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
