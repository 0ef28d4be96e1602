package acpdriver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// Options of a Bridge. The zero value is good.
type Options struct {
	// Decide answers a permission without asking people, or returns "" to have
	// them asked. by says who has decided.
	Decide func(ctx context.Context, r acp.PermissionRequest) (option, by string)
	// QuestionTime is how long people may think, default without end.
	QuestionTime time.Duration
	// DropHistory leaves out what an agent tells before Bind, which is what the
	// run's journal has already when a session is loaded.
	DropHistory bool
	// Close ends the agent, after its session.
	Close func() error
}

// Bridge is an acp.Host, an acp.Elicitor and a runs.Driver.
type Bridge struct {
	run  *conversation.Run
	opts Options

	mu      sync.Mutex
	session *acp.Session
	takes   acp.PromptCapabilities
	calls   map[string]*call
	order   []string // of calls, the oldest first
	texts   int      // bytes of what calls hold
	message int      // number of the latest message that has no id of the agent's
	last    string   // kind, role and parent of that message; "" when it is over
}

var (
	_ acp.Host            = (*Bridge)(nil)
	_ acp.Elicitor        = (*Bridge)(nil)
	_ conversation.Driver = (*Bridge)(nil)
)

// New makes the bridge of a run. It is the Host of a connection; when there is a
// session, Bind and then Run.Attach follow.
func New(run *conversation.Run, opts Options) *Bridge {
	return &Bridge{run: run, opts: opts, calls: map[string]*call{}}
}

// Bind gives the bridge its session, and what its agent takes in a prompt. The
// session's id is kept with the run, as Info.Ref: by it the session is loaded
// after a restart.
func (b *Bridge) Bind(s *acp.Session, takes acp.PromptCapabilities) {
	b.mu.Lock()
	b.session, b.takes = s, takes
	b.mu.Unlock()
	if b.run.Info().Ref != s.ID {
		b.emit(conversation.Event{Kind: conversation.Note, Reason: "session", Ref: s.ID})
	}
}

func (b *Bridge) bound() (*acp.Session, acp.PromptCapabilities) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.session, b.takes
}

// Prompt has the agent hear the items and waits for the end of its turn.
func (b *Bridge) Prompt(ctx context.Context, items []conversation.Item) (string, error) {
	session, takes := b.bound()
	if session == nil {
		return "", errors.New("the agent has no session: begin or load one first")
	}
	b.over()
	stopped, err := session.Prompt(ctx, blocks(items, takes)...)
	if err != nil {
		return "", err
	}
	return reason(stopped), nil
}

// reason is why the agent has stopped, in the words of a run.
func reason(s acp.Stopped) string {
	switch s.Reason {
	case acp.StopRefusal:
		return conversation.Refused
	case acp.StopMaxTokens, acp.StopMaxTurnRequests:
		return conversation.Budget
	case acp.StopCancelled:
		return conversation.Interrupted
	}
	return conversation.Done
}

// blocks are the items as the content of a prompt, in the forms that the agent
// takes.
func blocks(items []conversation.Item, takes acp.PromptCapabilities) []acp.Content {
	var all []acp.Content
	for _, i := range items {
		if i.Text != "" {
			all = append(all, acp.Text(i.Text))
		}
		for _, a := range i.Attachments {
			all = append(all, block(a, takes))
		}
	}
	return all
}

func block(a conversation.Attachment, takes acp.PromptCapabilities) acp.Content {
	name := cmp.Or(path.Base(a.URI), a.Kind)
	switch {
	case a.Kind == "image" && takes.Image && a.Data != "":
		return acp.Image(a.Data, cmp.Or(a.Mime, "image/png"))
	case a.Text != "" && a.URI != "" && takes.EmbeddedContext:
		return acp.Embedded(a.URI, cmp.Or(a.Mime, "text/plain"), a.Text)
	case a.Text != "" && a.URI != "":
		return acp.Text(fmt.Sprintf("%s%s:\n%s", a.URI, lines(a.Range), a.Text))
	case a.Text != "":
		return acp.Text(a.Text)
	case a.URI != "" && len(a.Range) > 0:
		return acp.Text(a.URI + lines(a.Range))
	case a.URI != "":
		return acp.Link(name, a.URI)
	}
	return acp.Text(fmt.Sprintf("(There was an attachment of the kind %q, which you can't read.)", a.Kind))
}

// lines says which lines a range has, counted from 1.
func lines(raw json.RawMessage) string {
	var r struct{ Start, End struct{ Line int } }
	if len(raw) == 0 || json.Unmarshal(raw, &r) != nil {
		return ""
	}
	return fmt.Sprintf(" (lines %d to %d)", r.Start.Line+1, r.End.Line+1)
}

// Steer is not in the protocol.
func (b *Bridge) Steer(context.Context, conversation.Item) error { return conversation.ErrNoSteer }

// Cancel asks the agent to stop.
func (b *Bridge) Cancel(context.Context) error {
	if session, _ := b.bound(); session != nil {
		session.Cancel()
	}
	return nil
}

// closeTime is how long an agent may take to close its session.
const closeTime = 2 * time.Second

// Close closes the session and ends the agent.
func (b *Bridge) Close() error {
	var err error
	if session, _ := b.bound(); session != nil {
		ctx, done := context.WithTimeout(context.Background(), closeTime)
		defer done()
		if err = session.Close(ctx); errors.Is(err, acp.ErrGone) {
			err = nil
		}
	}
	if b.opts.Close != nil {
		err = errors.Join(err, b.opts.Close())
	}
	return err
}

// Permission has the request decided, by Decide or by people, and tells of it.
func (b *Bridge) Permission(ctx context.Context, r acp.PermissionRequest) (string, error) {
	c := b.proposed(r.Tool)
	option, by := "", ""
	if b.opts.Decide != nil {
		option, by = b.opts.Decide(ctx, r)
	}
	if option == "" {
		var err error
		if option, by, err = b.ask(ctx, r, c, by); err != nil {
			return "", err
		}
	}
	c.Outcome = "deny"
	for _, o := range r.Options {
		if o.ID == option && (o.Kind == "allow_once" || o.Kind == "allow_always") {
			c.Outcome = "allow"
		}
	}
	b.emit(conversation.Event{Kind: conversation.CallDecided, Call: &c, Answer: option, By: by})
	return option, nil
}

// ask asks people: first what would be done, then why they are asked.
func (b *Bridge) ask(ctx context.Context, r acp.PermissionRequest, c conversation.Call, why string) (option, by string, err error) {
	q := conversation.Question{Text: cmp.Or(c.Title, "May the agent do this?"), Call: &c}
	if why != "" {
		q.Text += "\n" + why
	}
	for _, o := range r.Options {
		if o.ID != "" && !slices.ContainsFunc(q.Options, func(p conversation.Option) bool { return p.ID == o.ID }) {
			q.Options = append(q.Options, conversation.Option{ID: o.ID, Label: o.Name, Kind: o.Kind})
		}
	}
	if len(q.Options) == 0 {
		return "", "", errors.New("the agent asks for a permission and offers no answer")
	}
	return b.question(ctx, q)
}

// question asks people, in the time that they have.
func (b *Bridge) question(ctx context.Context, q conversation.Question) (answer, by string, err error) {
	if b.opts.QuestionTime > 0 {
		at := time.Now().Add(b.opts.QuestionTime)
		q.ExpiresAt = &at
	}
	return b.run.Ask(ctx, q)
}

// emit tells the run. After its end there is nobody to be told.
func (b *Bridge) emit(e conversation.Event) { _ = b.run.Emit(e) }
