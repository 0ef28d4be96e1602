package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/handover"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// Agents that work on when the editor's window closes need a process that the
// editor has not started: editors end that. If the setting runs.outliveEditor says
// so, what the editor has started hands its streams to such a process, which is the
// server, and waits for its end.

// detachedFlag begins a server that takes its editor from the process that has
// started it.
const detachedFlag = "detached"

// errNoHandover says that the editor is still this process's.
var errNoHandover = errors.New("not handed over")

// handOver hands the editor to a server that outlives it, if the settings want one:
// to that which another editor has left in the same folder, or to a new one. first is
// the editor's first message, and read what was read for it. It returns how that
// ended, or errNoHandover.
func (c *cli) handOver(ctx context.Context, user config.Source, read, first []byte, log *slog.Logger) error {
	var m struct {
		Method string               `json:"method"`
		Params lsp.InitializeParams `json:"params"`
	}
	if json.Unmarshal(first, &m) != nil || m.Method != "initialize" {
		return errNoHandover // it is told so by the server
	}
	var options struct {
		Sidecar json.RawMessage `json:"sidecar"`
	}
	_ = json.Unmarshal(m.Params.InitializationOptions, &options) // of another shape: meant for somebody else
	machine, _ := c.Machine.Source()
	set, _ := config.Load(user, machine, config.Source{Origin: config.Client, Data: options.Sidecar})
	folders := server.FoldersOf(m.Params)
	in, isFile := c.In.(*os.File)
	out, isToo := c.Out.(*os.File)
	logged, isAll := c.Err.(*os.File)
	if !set.Bool("runs.outliveEditor") || len(folders) == 0 || c.Self == "" || !isFile || !isToo || !isAll {
		return errNoHandover
	}
	streams := handover.Streams{In: in, Out: out, Err: logged}
	if conn, err := attach.DialServer(ctx, folders[0].Dir); err == nil {
		code, err := handover.Give(ctx, conn, streams, read, exitError)
		if err == nil {
			return exitCode(code)
		}
		log.Info("a server without an editor did not take this one", "error", err)
	}
	args := []string{"serve", "--" + detachedFlag}
	if c.logLevel != "" {
		args = append(args, "--log-level", c.logLevel)
	}
	if c.logFile != "" {
		args = append(args, "--log-file", c.logFile)
	}
	conn, err := handover.Start(c.Self, args...)
	if err == nil {
		var code int
		if code, err = handover.Give(ctx, conn, streams, read, exitError); err == nil {
			return exitCode(code)
		}
	}
	log.Warn("agents end with this editor, whatever the setting runs.outliveEditor says", "error", err)
	return errNoHandover
}

// serveDetached serves the editor of the process that has started this one, and
// those that come after it while agents work.
func (c *cli) serveDetached(ctx context.Context, o serve.Options, log *switched) error {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // who read the log has gone: that ends nobody
	var now atomic.Pointer[handover.Editor]
	o.Stay = true
	if exit := c.Exit; exit != nil {
		o.Exit = func(code int) {
			now.Load().Leave(code)
			exit(code)
		}
	}
	s := serve.New(o)
	conn, err := handover.Inherited()
	if err != nil {
		return err
	}
	for {
		e, err := handover.Take(conn)
		if err == nil {
			now.Store(e)
			log.to(e.Err)
			c.serveEditor(ctx, s, e)
			log.to(nil)
		}
		next, ok := s.Next(ctx)
		if !ok {
			return err
		}
		conn = next
	}
}

// serveEditor serves one of them until it leaves.
func (c *cli) serveEditor(ctx context.Context, s *serve.Server, e *handover.Editor) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-e.Gone: // what the editor had started was ended, and with it the editor's part
			cancel()
		case <-ctx.Done():
		}
	}()
	widen(e.Out)
	code := exitOK
	if err := s.Serve(ctx, again(e.First, e.In), e.Out); err != nil {
		code = exitError
	}
	e.Leave(code)
}

// firstMessage reads the first message of an editor, unless ctx ends before one comes.
func firstMessage(ctx context.Context, r io.Reader) (read, first []byte) {
	came := make(chan struct{})
	go func() {
		defer close(came)
		read, first = handover.First(r)
	}()
	select {
	case <-came:
		return read, first
	case <-ctx.Done():
		return nil, nil
	}
}

// again is a stream of which some was read before.
func again(read []byte, r io.Reader) io.Reader {
	both := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), r), io.NopCloser(nil)}
	if c, ok := r.(io.Closer); ok {
		both.Closer = c
	}
	return both
}

// switched is where the log of a server goes whose editors change; nowhere while it
// has none.
type switched struct{ w atomic.Pointer[os.File] }

func (s *switched) to(f *os.File) { s.w.Store(f) }

func (s *switched) Write(p []byte) (int, error) {
	if f := s.w.Load(); f != nil {
		_, _ = f.Write(p) // that nobody reads it is no failure
	}
	return len(p), nil
}
