package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// form is a way in which messages lie in a stream.
type form struct {
	name  string
	open  func(io.Reader, int) Framing
	frame func(body string) string
	read  func(*bufio.Reader) (string, error)
}

// each runs a test over each framing.
func each(t *testing.T, test func(t *testing.T, f form)) {
	lines := form{
		open:  func(r io.Reader, most int) Framing { return Lines(r, most, nil) },
		frame: func(body string) string { return body + "\n" },
		read: func(r *bufio.Reader) (string, error) {
			line, err := r.ReadString('\n')
			return strings.TrimSuffix(line, "\n"), err
		},
	}
	head := form{
		open:  Headers,
		frame: func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) },
		read:  readHeaders,
	}
	ahead := lines
	ahead.open = func(r io.Reader, most int) Framing { return ReadAhead(Lines(r, most, nil), 64<<10) }
	head.name, lines.name, ahead.name = "headers", "lines", "lines, read ahead"
	for _, f := range []form{head, lines, ahead} {
		t.Run(f.name, func(t *testing.T) { test(t, f) })
	}
}

func readHeaders(r *bufio.Reader) (string, error) {
	header, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(header, "Content-Length: ")))
	if err != nil {
		return "", err
	}
	body := make([]byte, n)
	if _, err := r.Discard(2); err != nil {
		return "", err
	}
	_, err = io.ReadFull(r, body)
	return string(body), err
}

// inBubble runs a test over each framing, with a clock of its own.
func inBubble(t *testing.T, test func(t *testing.T, f form)) {
	each(t, func(t *testing.T, f form) {
		synctest.Test(t, func(t *testing.T) { test(t, f) })
	})
}

// funcs is a handler made of functions.
type funcs struct {
	notify  func(ctx context.Context, method string, params json.RawMessage)
	prepare func(r *Request) error
	request func(ctx context.Context, method string, params json.RawMessage) (any, error)
	ended   func(error)
}

func (f funcs) Notification(ctx context.Context, method string, params json.RawMessage) {
	if f.notify != nil {
		f.notify(ctx, method, params)
	}
}

func (f funcs) Prepare(_ context.Context, r *Request) (Work, error) {
	if f.prepare != nil {
		if err := f.prepare(r); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, r *Request) (any, error) { return f.request(ctx, r.Method, r.Params) }, nil
}

func (f funcs) Explain(_ context.Context, _ *Request, err error) *Error {
	var own *Error
	if errors.As(err, &own) && !own.Remote() {
		return own
	}
	return Errorf(-1, "%s", err)
}

func (f funcs) Dropped(Message, *Error) {}

func (f funcs) Ended(err error) {
	if f.ended != nil {
		f.ended(err)
	}
}

var echo = funcs{request: func(_ context.Context, _ string, params json.RawMessage) (any, error) { return params, nil }}

var errGone = errors.New("the peer is gone")

// options are those of a test, with what each needs.
func options(o Options) Options {
	o.Gone, o.Cancel, o.CancelID = errGone, "cancel", "request"
	if o.MaxUnsent == 0 {
		o.MaxUnsent = 4 << 20
	}
	if o.MaxSend == 0 {
		o.MaxSend = o.MaxUnsent
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 30 * time.Second
	}
	return o
}

// peer is the other end of a connection. What it sends and reads are bodies.
type peer struct {
	form
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	conn *Conn
	end  chan error
}

func dial(t *testing.T, f form, h Handler, o Options) *peer {
	t.Helper()
	sr, in := io.Pipe()
	out, sw := io.Pipe()
	p := &peer{form: f, t: t, in: in, out: bufio.NewReaderSize(out, 256<<10), conn: New(f.open(sr, 1<<20), sw, h, options(o)), end: make(chan error, 1)}
	go func() {
		p.end <- p.conn.Run(context.Background())
		_ = sw.Close()
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = out.Close()
	})
	return p
}

func (p *peer) send(bodies ...string) {
	p.t.Helper()
	for _, b := range bodies {
		if _, err := io.WriteString(p.in, p.frame(b)); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *peer) next() string {
	p.t.Helper()
	body, err := p.read(p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	return body
}

func (p *peer) want(body string) {
	p.t.Helper()
	if got := p.next(); got != body {
		p.t.Errorf("got %s, want %s", got, body)
	}
}

// close closes the peer's end and waits for the connection's.
func (p *peer) close() {
	p.t.Helper()
	_ = p.in.Close()
	if err := <-p.end; err != nil {
		p.t.Error(err)
	}
}

func failure(id, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":%q}}`, id, message)
}
