package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds one message of a server, in bytes, unless its entry takes longer
// results: what is longer ends the connection.
const maxMessage = 8 << 20

// conn is a connection to a server.
type conn struct {
	session *sdk.ClientSession
	process *Process // nil: it is reached by HTTP
	out     *stdout  // of the process
	changed chan struct{}
	gone    chan struct{}
	once    sync.Once
	life    context.Context // of the connection
	cancel  context.CancelFunc
	most    int  // bytes of a message
	sse     bool // by the old transport
	heard   hearing
	running calls
	writes  writes
	sampled atomic.Int64 // tokens that the user's model took for it
	over    bool         // its tools are taken away; guarded by server.listing

	mu  sync.Mutex
	why error // it was given up
}

// connect starts or reaches the server and says hello.
func (s *server) connect(ctx context.Context) (*conn, error) {
	cfg, err := s.m.o.Config.Expand(s.cfg)
	if err != nil {
		return nil, err
	}
	c := &conn{changed: make(chan struct{}, 1), gone: make(chan struct{}), most: max(maxMessage, cfg.maxResult())}
	c.life, c.cancel = context.WithCancel(s.m.base)
	if cfg.Command != nil {
		c.process, err = s.m.o.Start(s.m.base, cfg)
		if err != nil {
			c.cancel()
			return nil, fmt.Errorf("it can't be started: %w", err)
		}
	}
	options := &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}}, //nolint:staticcheck // servers of the field ask
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { c.change() },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { c.change() },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { c.change() },
		ProgressNotificationHandler: progress(s.m, &c.heard),
	}
	if s.m.o.People != nil {
		options.ElicitationHandler = s.elicit(c)
	}
	samples := s.m.o.People != nil && s.m.o.Models != nil
	if samples {
		options.CreateMessageHandler = s.sample(c) //nolint:staticcheck // likewise
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "sidecar-ls", Version: s.m.o.Version}, options)
	client.AddRoots(&sdk.Root{Name: filepath.Base(s.cfg.Root), URI: (&url.URL{Scheme: "file", Path: s.cfg.Root}).String()}) //nolint:staticcheck // likewise
	client.AddReceivingMiddleware(offered(s.m.o.People != nil, samples))
	// A server that does not answer must not hold up more than itself: the SDK
	// waits for its end when a connection is given up.
	defer context.AfterFunc(ctx, c.kill)()
	if c.process != nil {
		c.out = newStdout(c.process.Out, c.most, s.m.o.Clean)
		c.session, err = client.Connect(ctx, &sdk.IOTransport{Reader: c.out, Writer: c.process.In, MaxLineLength: c.most}, nil)
	} else {
		c.session, err = s.reach(ctx, c, cfg, client)
	}
	if err != nil {
		c.kill()
		err = c.because(err)
		if c.process != nil && c.process.Hidden != nil {
			if paths := c.process.Hidden(s.m.base); len(paths) > 0 {
				return nil, &hiddenError{err, paths}
			}
		}
		return nil, err
	}
	go func() {
		err := c.session.Wait()
		c.giveUp(err)
		close(c.gone)
	}()
	return c, nil
}

// change has what the server offers listed again.
func (c *conn) change() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// hiddenError is why a server could not be reached that names files which the
// sandbox hides from it.
type hiddenError struct {
	err   error
	paths []string
}

func (e *hiddenError) Unwrap() error { return e.err }

func (e *hiddenError) Error() string {
	list, err := json.Marshal(e.dirs())
	if err != nil {
		return e.err.Error()
	}
	return fmt.Sprintf("%v; %s is there, but the sandbox hides it from the server: the setting sidecar.sandbox.readOnly (in the user's settings file) shows it, as %s", e.err, strings.Join(e.paths, ", "), list)
}

// dirs are the directories to show: a program comes with what lies beside it.
func (e *hiddenError) dirs() (list []string) {
	home, _ := os.UserHomeDir()
	for _, p := range e.paths {
		info, err := os.Stat(p)
		if dir := filepath.Dir(p); err == nil && !info.IsDir() && dir != home && dir != "/" && dir != os.TempDir() {
			p = dir
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// offered answers what a server may ask: whether we are there, for the workspace,
// its user, if there is one, and the user's language model with the user's word for it.
func offered(people, samples bool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "sampling/createMessage" && !samples || method == "elicitation/create" && !people {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " is not offered"}
			}
			return next(ctx, method, req)
		}
	}
}

// giveUp ends the connection for a reason. The first one counts.
func (c *conn) giveUp(why error) {
	c.mu.Lock()
	if c.why == nil {
		c.why = why
	}
	c.mu.Unlock()
	c.kill()
	if c.process == nil {
		go func() { _ = c.session.Close() }() // nothing else ends one that is reached by HTTP
	}
}

func (c *conn) kill() {
	c.once.Do(func() {
		c.cancel()
		if c.process != nil {
			c.process.Kill()
			_ = c.process.In.Close()
			_ = c.process.Out.Close()
		}
	})
}

// end ends the connection and its process.
func (c *conn) end() {
	c.kill()
	go func() { _ = c.session.Close() }() // says goodbye to who is reached by HTTP, who may not listen
	select {
	case <-c.gone:
	case <-time.After(goodbye):
	}
}

// goodbye is how long a server may take to hear that it is left.
const goodbye = 2 * time.Second

// because is the reason for the end of a connection, with what the process
// said last, and what can be done about that.
func (c *conn) because(err error) error {
	c.mu.Lock()
	if c.why != nil {
		err = c.why
	}
	c.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, io.EOF):
		err = errors.New("it has ended")
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("it did not answer within %v", connectTime)
	}
	if c.process != nil {
		if said := c.process.Said(); said != "" {
			const most = 300
			if len(said) > most {
				said = "…" + said[len(said)-most:]
			}
			err = fmt.Errorf("%w; it wrote: %s", err, said)
		}
		if odd := c.out.odd(); odd != "" {
			err = fmt.Errorf("%w; %s", err, odd)
		}
		if c.process.Advice != nil {
			if advice := c.process.Advice(); advice != "" {
				err = fmt.Errorf("%w; %s", err, advice)
			}
		}
	}
	return err
}
