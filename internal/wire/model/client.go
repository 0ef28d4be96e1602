package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Profile is where a model is, and what is known of how it is spoken to.
type Profile struct {
	Name    string
	Wire    string // anthropic, chat or responses
	URL     string // what the wire's path is added to
	Model   string
	Key     func() (string, error) // nil: there is none. It is asked each time, because keys change
	Tokens  int                    // of an answer, at most; 0: 8192 where the wire needs a number, else what the provider says
	Longest int                    // tokens of the longest answer that there can be, with the reasoning; 0: not known
	Effort  string                 // of requests that have none
	Chat    ChatFlags
	NoCalls bool // it was not taught to call: see Request.ToolText
	Vision  bool // it sees images
	Cache   bool // marks say what may be cached, on wires that have such marks

	// Adaptive says that the model takes the word of an effort, and no number of tokens
	// to think. The other wires know nothing but the word.
	Adaptive bool
}

// from names whose raw blocks a profile may send back.
func (p Profile) from() string { return p.Wire + " " + p.URL + " " + p.Model }

// Policy is how often a request is made and how long is waited. It is the only one:
// nothing below it or above it tries again.
type Policy struct {
	Tries   int           // default 3
	Base    time.Duration // before the second try, about; doubled each time; default 1 s
	Longest time.Duration // a provider that asks for more is believed, and the request fails; default 60 s
	Idle    time.Duration // without an event, a stream is dead; default 90 s
	Start   time.Duration // until the first event; default Idle
	Empty   time.Duration // without a text or a call, a stream is of no use; default 60 s, and Start before the first
}

// Client asks one model.
type Client struct {
	Profile Profile
	Policy  Policy
	HTTP    *http.Client // nil: one that follows nobody elsewhere with a key
}

// wire is how one kind of provider is spoken to.
type wire interface {
	path() string
	header(key string) http.Header
	// body is the request.
	body(p Profile, r Request) (fields, error)
	// listen reads one answer.
	listen(p Profile, hear func(Piece)) listener
}

// listener makes an answer of the events of a stream.
type listener interface {
	// event takes one; last says that the answer is whole.
	event(data []byte) (last bool, err error)
	answer() Answer
}

var wires = map[string]wire{"anthropic": messages{}, "chat": completions{}, "responses": responses{}}

// Ask asks the model and waits for its whole answer, of which hear is told as it
// comes. An answer without its end is an error, whatever came of it: of the answer there
// is then what it took alone. The error is a *Failure or that of ctx.
func (c *Client) Ask(ctx context.Context, r Request, hear func(Piece)) (Answer, error) {
	w := wires[c.Profile.Wire]
	if w == nil {
		return Answer{}, &Failure{Cause: Rejected, Message: fmt.Sprintf("the profile %s has the wire %q; there are anthropic, chat and responses", c.Profile.Name, c.Profile.Wire)}
	}
	if hear == nil {
		hear = func(Piece) {}
	}
	r.Effort = cmp.Or(r.Effort, c.Profile.Effort)
	known := r.Tools
	if !c.Profile.Vision {
		r = blind(r)
	}
	if c.Profile.NoCalls {
		r = textual(r)
	}
	var text []byte
	body, err := w.body(c.Profile, r)
	if err == nil {
		text, err = body.body()
	}
	if err != nil {
		return Answer{}, &Failure{Cause: Rejected, Message: err.Error()}
	}
	var answer Answer
	var lost Usage
	err = c.tries(ctx, hear, func() error {
		p := &progress{}
		l := w.listen(c.Profile, func(piece Piece) {
			p.note(piece)
			hear(piece)
		})
		if err := c.post(ctx, w, text, l, p); err != nil {
			lost = lost.Plus(l.answer().Usage)
			return err
		}
		if answer = l.answer(); c.Profile.NoCalls {
			answer = withCalls(answer, known, len(r.Messages))
		}
		return nil
	})
	answer.Lost = lost
	return answer, err
}

// tries makes a request as often as the policy says.
func (c *Client) tries(ctx context.Context, hear func(Piece), once func() error) error {
	tries, wait, longest := cmp.Or(c.Policy.Tries, 3), cmp.Or(c.Policy.Base, time.Second), cmp.Or(c.Policy.Longest, time.Minute)
	for n := 1; ; n++ {
		err := once()
		f := FailureOf(err)
		if f == nil || !f.Again || n == tries || f.After > longest || ctx.Err() != nil {
			return err
		}
		pause := f.After
		if pause == 0 {
			pause = wait/2 + rand.N(wait) // so that many that failed together don't come back together
		}
		wait *= 2
		hear(Piece{Again: &Failure{f.Cause, f.Status, f.Message, true, pause}})
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// key is the profile's, or why there is none.
func (c *Client) key() (string, error) {
	if c.Profile.Key == nil {
		return "", nil
	}
	key, err := c.Profile.Key()
	if err != nil {
		return "", &Failure{Cause: Key, Message: err.Error()}
	}
	return key, nil
}

// errElsewhere says that a provider sends its callers to another place.
var errElsewhere = errors.New("the provider redirects to another address: name that one as the url of the profile, if you trust it")

func (c *Client) http() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return errElsewhere }}
}

// unseen are the words for an image that a model does not see.
func (b Block) unseen() string {
	return "[" + cmp.Or(b.Text, "an image") + ", not shown to this model]"
}

// blind is a request for a model that sees no images: it is told where there are some. A
// message that is an image alone would else be none, which providers refuse.
func blind(r Request) Request {
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		if !slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Kind == Image || len(b.Images) > 0 }) {
			continue
		}
		blocks := slices.Clone(m.Blocks)
		for k, b := range blocks {
			if b.Kind == Image {
				blocks[k] = Block{Kind: Text, Text: b.unseen()}
			}
			for _, i := range b.Images {
				blocks[k].Text = strings.TrimPrefix(blocks[k].Text+"\n"+i.unseen(), "\n")
			}
			blocks[k].Images = nil
		}
		r.Messages[i].Blocks = blocks
	}
	return r
}
