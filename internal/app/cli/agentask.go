package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// agentQuery is the name of the query that is about agents. Unlike the others it has
// several answers, and more may be said after it.
const agentQuery = "agent"

// agentAsk is what a person wants of agents. What is set follows from Verb.
type agentAsk struct {
	Verb string `json:"verb"`

	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Model   string `json:"model,omitempty"`
	Consent bool   `json:"consent,omitempty"`
	All     bool   `json:"all,omitempty"`
	Resume  string `json:"resume,omitempty"` // a conversation of the agent's
	Cursor  string `json:"cursor,omitempty"`

	Run      string `json:"run,omitempty"`
	Prompt   string `json:"prompt,omitempty"`
	Question string `json:"question,omitempty"`
	Answer   string `json:"answer,omitempty"`
	Reason   string `json:"reason,omitempty"` // of a no
}

// agentTold is a part of the answer. The last has Done, Error or Refused.
type agentTold struct {
	Agents []agents.Info       `json:"agents,omitempty"`
	Runs   []conversation.Info `json:"runs,omitempty"`

	Waiting  []openQuestion      `json:"waiting,omitempty"`
	Sessions *agents.EarlierPage `json:"sessions,omitempty"`
	Opening  *loop.Opening       `json:"opening,omitempty"`

	Run   *conversation.Info  `json:"run,omitempty"` // that is followed
	Event *conversation.Event `json:"event,omitempty"`
	Files []string            `json:"files,omitempty"` // of the run, at its end, that wait for review

	Done    bool   `json:"done,omitempty"`
	Error   string `json:"error,omitempty"`
	Usage   bool   `json:"usage,omitempty"`   // the command line makes no sense
	Refused bool   `json:"refused,omitempty"` // whoever asks is no person
}

// byTerminal is who answers questions here.
const byTerminal = "terminal"

// converse does what a person asks of agents, and what they say while it follows a
// run: an answer, a prompt, or that the agent is to stop.
func converse(ctx context.Context, a *serve.Agents, ask agentAsk, more <-chan agentAsk, tell func(agentTold)) error {
	if ask.Verb == "answer" && ask.Run == "" {
		return answerApproval(a, ask)
	}
	m, err := a.Manager()
	if err != nil {
		return err
	}
	switch ask.Verb {
	case "waiting":
		tell(agentTold{Waiting: whatWaits(a, m)})
		return nil
	case "list":
		tell(agentTold{Agents: m.List()})
		return nil
	case "runs":
		tell(agentTold{Runs: m.Runs(ask.All)})
		return nil
	case "sessions":
		list, err := m.Earlier(ctx, ask.Agent, ask.Cursor, ask.Consent)
		if err == nil {
			tell(agentTold{Sessions: &list})
		}
		return err
	case "prompt":
		o, err := m.Opening(ask.Mode, ask.Model)
		if err == nil {
			tell(agentTold{Opening: &o})
		}
		return err
	case "run":
		r, err := m.Begin(agents.Begin{Agent: ask.Agent, Session: ask.Session, Mode: ask.Mode, Model: ask.Model, Title: conversation.TitleOf(ask.Prompt), Consent: ask.Consent, Resume: ask.Resume})
		if err != nil {
			return err
		}
		info := r.Info()
		tell(agentTold{Run: &info})
		since := int64(0)
		if ask.Resume != "" {
			if since, err = followResumed(ctx, a, m, r, more, tell); err != nil || ask.Prompt == "" {
				return err
			}
		}
		if _, err := r.Prompt(conversation.Item{Text: ask.Prompt}, conversation.Queue); err != nil {
			return errors.Join(err, r.Close())
		}
		return followEvents(ctx, a, r, since, true, more, tell)
	}
	r, err := m.Get(ask.Run)
	if err != nil {
		return fmt.Errorf("%w; sidecar-ls agent runs lists them", err)
	}
	switch ask.Verb {
	case "attach":
		return followRun(ctx, a, r, 0, false, more, tell)
	case "resume":
		if err := m.Wake(r); err != nil {
			return err
		}
		_, since, err := r.History(0, 0, 0)
		if err != nil {
			return err
		}
		r.Resume()
		if ask.Prompt != "" {
			if _, err := r.Prompt(conversation.Item{Text: ask.Prompt}, conversation.Queue); err != nil {
				return err
			}
		}
		if i := r.Info(); i.State == conversation.Idle && i.Pending == 0 {
			return nil // nobody waits to be heard
		}
		return followRun(ctx, a, r, since, true, more, tell)
	case "answer":
		if err := m.Wake(r); err != nil {
			return err
		}
		return answerRunning(r, ask)
	case "fork":
		fork, err := m.Fork(ctx, r, 0)
		if err != nil {
			return err
		}
		info := fork.Info()
		tell(agentTold{Run: &info})
		return nil
	case "stop":
		r.Cancel()
		return nil
	case "close":
		return r.Close()
	}
	return fmt.Errorf("the sidecar-ls of process %d does not know agent %s; use the same version", os.Getpid(), ask.Verb)
}

// followResumed tells of a run until its agent has gone on with the conversation that it
// had, and returns the number of the last event. On the way it may ask something.
func followResumed(ctx context.Context, a *serve.Agents, m *agents.Manager, r *conversation.Run, more <-chan agentAsk, tell func(agentTold)) (since int64, err error) {
	followed, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = followEvents(followed, a, r, 0, false, more, func(t agentTold) {
			tell(t)
			if e := t.Event; e != nil && e.Kind == conversation.Note && e.Reason == "ready" {
				since = e.Seq
				cancel()
			}
		})
	}()
	if err := m.Ready(ctx, r); err != nil {
		cancel()
		<-over
		return 0, err
	}
	<-over
	return since, ctx.Err()
}

// followRun tells of a run: until it has nothing more to do, with once, else until it
// is closed.
func followRun(ctx context.Context, a *serve.Agents, r *conversation.Run, since int64, once bool, more <-chan agentAsk, tell func(agentTold)) error {
	info := r.Info()
	tell(agentTold{Run: &info})
	return followEvents(ctx, a, r, since, once, more, tell)
}

func followEvents(ctx context.Context, a *serve.Agents, r *conversation.Run, since int64, once bool, more <-chan agentAsk, tell func(agentTold)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for {
			select {
			case say, ok := <-more:
				if !ok {
					return
				}
				var err error
				switch say.Verb {
				case "answer":
					err = r.Answer(say.Question, say.Answer, byTerminal)
				case "prompt":
					_, err = r.Prompt(conversation.Item{Text: say.Prompt}, conversation.Queue)
				case "stop":
					r.Cancel()
				}
				if err != nil {
					tell(agentTold{Event: &conversation.Event{Kind: conversation.Note, Reason: "failed", Text: err.Error()}})
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	events := r.Subscribe(since)
	for {
		e, err := events.Next(ctx)
		switch {
		case errors.Is(err, conversation.ErrEnded):
			return nil
		case err != nil:
			return err
		}
		tell(agentTold{Event: &e})
		if !once || e.Kind != conversation.StateNow || e.Seq <= 2 { // the second event is the state that a run begins with
			continue
		}
		if now := r.Info(); e.State == conversation.Idle && now.State == conversation.Idle || e.State == conversation.Paused {
			tell(agentTold{Files: a.Files(now.Session)})
			return nil
		}
	}
}

// answerAgent answers over a connection, on which more may be said.
func answerAgent(ctx context.Context, c *app.Client, a *serve.Agents, in *json.Decoder, conn net.Conn, args json.RawMessage) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tell := teller(conn)
	var ask agentAsk
	if err := json.Unmarshal(args, &ask); err != nil {
		tell(agentTold{Error: err.Error()})
		return
	}
	more := make(chan agentAsk)
	go func() {
		defer cancel() // whoever asks has gone
		for {
			var say agentAsk
			if in.Decode(&say) != nil {
				return
			}
			select {
			case more <- say:
			case <-ctx.Done():
				return
			}
		}
	}()
	c.Log().Info("a command line", "asks", "agent "+ask.Verb)
	if err := converse(ctx, a, ask, more, tell); err != nil {
		tell(agentTold{Error: hidden(c, err).Error()})
		return
	}
	tell(agentTold{Done: true})
}

// teller writes parts of an answer. What can't be written has nobody to read it.
func teller(conn net.Conn) func(agentTold) {
	turn := make(chan struct{}, 1)
	return func(t agentTold) {
		turn <- struct{}{}
		defer func() { <-turn }()
		if line, err := encode(t); err == nil {
			_, _ = conn.Write(line)
		}
	}
}

// agents has what a person asks done by whoever serves the workspace, or here. told
// hears the answer's parts; say says more.
func (c *cli) agents(ctx context.Context, ask agentAsk, more <-chan agentAsk, told func(agentTold)) error {
	folders, err := c.folders()
	if err != nil {
		return err
	}
	conn, _, err := attach.DialPerson(ctx, workspace.Dirs(folders)...)
	if err == nil {
		defer func() { _ = conn.Close() }()
		return c.agentsThere(ctx, conn, ask, more, told)
	}
	if errors.Is(err, attach.ErrApart) {
		return err
	}
	if err := c.makeRoom(ctx); err != nil {
		return err
	}
	s, err := share(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(converse(ctx, s.agents, ask, more, told), s.close(ctx))
}

// agentsThere asks over a connection.
func (c *cli) agentsThere(ctx context.Context, conn net.Conn, ask agentAsk, more <-chan agentAsk, told func(agentTold)) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	args, err := encode(ask)
	if err != nil {
		return err
	}
	line, err := encode(queryRequest{agentQuery, args})
	if err != nil {
		return err
	}
	if _, err := conn.Write(line); err != nil {
		return err
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case say, ok := <-more:
				line, err := encode(say)
				if !ok || err != nil {
					return
				}
				_, _ = conn.Write(line)
			case <-over:
				return
			}
		}
	}()
	in := json.NewDecoder(conn)
	for {
		var t agentTold
		if err := in.Decode(&t); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the server ended before it answered: %w; what the agent wrote is kept, see sidecar-ls agent runs", err)
		}
		switch {
		case t.Error != "":
			return errors.New(t.Error)
		case t.Done:
			return nil
		}
		told(t)
	}
}
