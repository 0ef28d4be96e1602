package model

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// The bounds of what is read of a provider, in bytes.
const (
	maxEvent   = 16 << 20
	maxAnswer  = 64 << 20
	maxEmpty   = 8 << 20 // without a text or a call
	maxRefusal = 64 << 10
)

// errQuiet ends a stream on which nothing comes any more.
var errQuiet = failed(Quiet, "nothing came for a long time")

// errEmpty ends a stream of which no answer becomes.
var errEmpty = failed(Quiet, "much came, and nothing of an answer")

// progress is what has come of an answer.
type progress struct {
	begun bool
	since int // bytes since the last of it
	call  string
	reset func() // waits for the next anew
}

// note takes a piece: a text, or a call that was not known.
func (p *progress) note(piece Piece) {
	if piece.Text == "" && (piece.Kind != Call || piece.ID == p.call) {
		return
	}
	p.begun, p.since, p.call = true, 0, piece.ID
	p.reset()
}

// took counts bytes of the stream, and reports whether there may be more.
func (p *progress) took(n int) bool {
	p.since += n
	return p.since <= maxEmpty
}

// post makes one request and hands the events of its answer to l.
func (c *Client) post(ctx context.Context, w wire, text []byte, l listener, p *progress) (err error) {
	key, err := c.key()
	if err != nil {
		return err
	}
	defer func() { // some providers quote it
		if f := FailureOf(err); f != nil && key != "" {
			f.Message = withoutKey(f.Message, key)
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := cmp.Or(c.Policy.Idle, 90*time.Second)
	watch := time.AfterFunc(cmp.Or(c.Policy.Start, idle), func() { cancel(errQuiet) })
	defer watch.Stop()
	empty := cmp.Or(c.Policy.Empty, time.Minute)
	waits := time.AfterFunc(max(empty, c.Policy.Start), func() { cancel(errEmpty) })
	defer waits.Stop()
	p.reset = func() { waits.Reset(empty) }

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.Profile.URL, "/")+w.path(), bytes.NewReader(text))
	if err != nil {
		return &Failure{Cause: Rejected, Message: "the url of the profile: " + err.Error()}
	}
	req.Header = w.header(key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := c.http().Do(req)
	if err != nil {
		return broken(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refused(resp)
	}
	err = events(resp.Body, func(n int) bool {
		watch.Reset(idle)
		return p.took(n)
	}, l.event)
	if err != nil && FailureOf(err) == nil {
		return broken(ctx, err)
	}
	return err
}

// broken is a failure of the connection, or the end of ctx.
func broken(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return cause
	case errors.Is(err, errElsewhere):
		return &Failure{Cause: Rejected, Message: errElsewhere.Error()}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return failed(Cut, err.Error())
	}
	return failed(Network, err.Error())
}

// refused is the failure of an answer that is no stream.
func refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	s, ok := errorIn(text)
	if !ok {
		s = said{Message: strings.TrimSpace(string(text[:min(len(text), 300)]))}
	}
	return refusal(resp.StatusCode, s, resp.Header)
}

// errorIn is the error of a body or an event, which some providers have in a list, and
// some as a word.
func errorIn(text []byte) (s said, ok bool) {
	var in struct {
		Error json.RawMessage `json:"error"`
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		text = list[0]
	}
	if json.Unmarshal(text, &in) != nil || len(in.Error) == 0 || string(in.Error) == "null" {
		return s, false
	}
	if json.Unmarshal(in.Error, &s) != nil {
		_ = json.Unmarshal(in.Error, &s.Message)
	}
	return s, true
}

// events reads server-sent events until one is the last. A stream that ends before
// that is cut, however orderly it ends.
func events(r io.Reader, alive func(bytes int) (more bool), each func(data []byte) (last bool, err error)) error {
	in := bufio.NewReaderSize(io.LimitReader(r, maxAnswer), 64<<10)
	var data []byte
	has := false
	for {
		line, err := readLine(in, maxEvent-len(data))
		if err != nil {
			if errors.Is(err, errLong) {
				return failed(Garbled, "an event is larger than 16 MB")
			}
			if errors.Is(err, io.EOF) {
				return failed(Cut, "the stream ended before the answer did")
			}
			return err
		}
		if !alive(len(line) + 1) {
			return errEmpty
		}
		if len(line) == 0 {
			if !has {
				continue
			}
			last, err := each(data)
			if last || err != nil {
				return err
			}
			data, has = nil, false
			continue
		}
		value, is := bytes.CutPrefix(line, []byte("data:"))
		if !is {
			continue // a comment, or the event's name, which the data have too
		}
		if has {
			data = append(data, '\n')
		}
		data, has = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
	}
}

var errLong = errors.New("a line is too long")

// readLine reads a line without its end. The last line of a stream that has no end is
// none.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > most {
			return nil, errLong
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// marshal writes JSON as it is: a model reads what is inside.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
