package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/framecorpus"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// minimal is the least server that has a life cycle. workspace/symbol with a
// query works until it is cancelled.
type minimal struct {
	mu       sync.Mutex
	phase    int // 0 new, 1 running, 2 shut down
	exitCode error
}

var errExit = errors.New("exit without shutdown")

func (m *minimal) Notification(_ context.Context, method string, _ json.RawMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if method == "exit" && m.phase != 2 {
		m.exitCode = errExit
	}
}

func (m *minimal) Request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	m.mu.Lock()
	phase := m.phase
	switch {
	case method == "initialize" && phase == 0:
		m.phase = 1
	case method == "shutdown" && phase == 1:
		m.phase = 2
	}
	m.mu.Unlock()
	switch {
	case phase == 2 || phase == 1 && method == "initialize":
		return nil, lsp.Errorf(lsp.InvalidRequest, "not now")
	case method == "initialize":
		return lsp.InitializeResult{ServerInfo: lsp.Info{Name: "minimal"}}, nil
	case phase == 0:
		return nil, lsp.Errorf(lsp.ServerNotInitialized, "initialize first")
	case method == "shutdown":
		return nil, nil
	case method == "workspace/symbol":
		var p struct {
			Query string `json:"query"`
		}
		if err := lsp.Params(params, &p); err != nil || p.Query == "" {
			return []string{}, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, lsp.Errorf(lsp.MethodNotFound, "unknown method %q", method)
}

func TestFrameCorpus(t *testing.T) {
	cases, err := framecorpus.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	framecorpus.Run(t, "file:///workspace", cases, func(*testing.T) framecorpus.Server {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		h := &minimal{}
		ended := make(chan error, 1)
		go func() {
			err := lsp.NewConn(in, out, h, lsp.Options{}).Run(context.Background())
			_ = in.Close()
			_ = out.Close()
			ended <- errors.Join(err, h.exitCode)
		}()
		return framecorpus.Server{In: toServer, Out: fromServer, Wait: func() error { return <-ended }}
	})
}
