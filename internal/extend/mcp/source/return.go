package source

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// comeBack is the page on this machine to which a browser comes back from signing
// in. It takes one answer: the one with the state that was given.
type comeBack struct {
	address string
	web     *http.Server
	got     chan answer

	mu    sync.Mutex
	state string // "": none is expected
}

type answer struct {
	res *auth.AuthorizationResult
	err error
}

func newReturn() (*comeBack, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // it is at once
	if err != nil {
		return nil, fmt.Errorf("no port for the browser to come back to: %w", err)
	}
	b := &comeBack{address: "http://" + l.Addr().String() + "/callback", got: make(chan answer, 1)}
	b.web = &http.Server{Handler: b, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() { _ = b.web.Serve(l) }() // until it is closed
	return b, nil
}

func (b *comeBack) expect(state string) {
	b.mu.Lock()
	b.state = state
	b.mu.Unlock()
}

func (b *comeBack) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case a := <-b.got:
		return a.res, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("nobody has signed in within %v", signInTime)
		}
		return nil, errors.New("it was given up")
	}
}

func (b *comeBack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	b.mu.Lock()
	ours := b.state != "" && subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(b.state)) == 1
	if ours = ours && r.Method == http.MethodGet && r.URL.Path == "/callback" && "http://"+r.Host+"/callback" == b.address; ours {
		b.state = ""
	}
	b.mu.Unlock()
	if !ours {
		http.Error(w, "This is not an answer that sidecar-ls waits for.", http.StatusBadRequest)
		return
	}
	a := answer{res: &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
	if why := q.Get("error"); why != "" || a.res.Code == "" {
		a = answer{err: fmt.Errorf("it was refused: %s", printable(oneLine(why+" "+q.Get("error_description"), 200)))}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, "sidecar-ls has the answer. You can close this page and go back to your editor.\n")
	b.got <- a
}

// printable is a text of somebody's without what a terminal would obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// close ends it once what was said to the browser has gone out.
func (b *comeBack) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if b.web.Shutdown(ctx) != nil {
		_ = b.web.Close()
	}
}
