package agents

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/acpdriver"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// start starts the agent's program in the session's world and opens the conversation.
func (c *external) start(ctx context.Context) (*agent, error) {
	door, err := c.m.openDoor(c.session.ID, world{c}.catchUp, world{c}.again)
	if err != nil {
		return nil, err
	}
	a, streams, err := c.m.launch(c.profile, c.session, []string{door.dir, c.m.o.Program}, func(said string) {
		c.tell(conversation.Event{Kind: conversation.Note, Reason: "left out", Text: said})
	})
	if err != nil {
		door.close()
		return nil, err
	}
	a.door = door
	a.bridge = acpdriver.New(c.run, acpdriver.Options{
		Decide: c.decide, QuestionTime: c.m.o.QuestionTime(), DropHistory: !c.earlier,
		Close: func() error {
			a.stop()
			return nil
		},
	})
	w := acp.World{Host: a.bridge, Files: world{c}, Terminals: world{c}, Elicitor: a.bridge}
	if c.profile.Alone {
		w.Files = nil
	}
	a.conn = acp.Open(streams.fromOut, streams.toIn, w, acp.Options{Log: c.m.log, Client: c.m.client()})
	if err := c.converse(ctx, a); err != nil {
		if errors.Is(err, acp.ErrGone) {
			err = a.died(err)
		}
		a.stop()
		return nil, fmt.Errorf("%s: %w", c.profile.Title, err)
	}
	c.earlier = false // the run knows what was said
	return a, nil
}

// converse opens the conversation with a program that was started: a new one, or
// the one that the run has.
func (c *external) converse(ctx context.Context, a *agent) error {
	offered, err := a.conn.Initialize(ctx)
	if err != nil {
		return err
	}
	offer := offerOf(offered)
	c.m.offers.set(c.profile.Name, offer)
	s, err := c.openSession(ctx, a, offered)
	var e *acp.Error
	if errors.As(err, &e) && e.Code == acp.CodeAuthRequired && len(offered.AuthMethods) > 0 {
		if err = c.signIn(ctx, a, offered.AuthMethods); err == nil {
			s, err = c.openSession(ctx, a, offered)
		}
	}
	if err != nil {
		return err
	}
	a.session = s
	offer.Modes, offer.Models = modesOf(s), choicesOf(s, "model")
	c.m.offers.set(c.profile.Name, offer)
	c.tellChosen(s.Config)
	if s.Modes != nil {
		c.tell(conversation.Event{Kind: conversation.Note, Reason: "chosen", AgentMode: s.Modes.Current})
	}
	if c.model != "" {
		if err := c.chooseOf(ctx, a, "model", c.model); err != nil {
			return err
		}
	}
	if mode := c.profile.Mode; slices.ContainsFunc(modesOf(s), func(ch Choice) bool { return ch.ID == mode }) {
		if err := c.chooseOf(ctx, a, "mode", mode); err != nil {
			return err
		}
	}
	a.bridge.Bind(s, offered.Capabilities.Prompt)
	return nil
}

// openSession opens the agent's session, or goes on with the one that the run has.
func (c *external) openSession(ctx context.Context, a *agent, offered acp.Initialized) (*acp.Session, error) {
	params := acp.SessionParams{Dir: c.session.Root, MCPServers: []acp.MCPServer{{Name: "sidecar", Command: c.m.o.Program, Args: []string{"mcp", "--door", a.door.path()}}}}
	i := c.run.Info()
	ref := i.Ref
	if more := c.m.others(c.session); offered.Capabilities.Session.AdditionalDirectories != nil {
		params.Directories = more
	} else if _, untold := profile.Further(c.profile.Further, more); len(untold) > 0 && ref == "" {
		c.session.Tell("The workspace has these folders, too, in which you may read and change files: " + strings.Join(untold, ", "))
	}
	switch {
	case ref == "" && i.ForkOf != "":
		return c.forkSession(ctx, a.conn, i.ForkOf, params)
	case ref == "":
		return a.conn.NewSession(ctx, params)
	case c.earlier:
		return c.resume(ctx, a.conn, ref, params)
	case offered.Capabilities.Session.Resume != nil:
		return a.conn.ResumeSession(ctx, ref, params)
	case offered.Capabilities.LoadSession:
		return a.conn.LoadSession(ctx, ref, params)
	}
	return nil, errors.New("it can't go on with a conversation whose program has ended; start a new run")
}

// signIn asks the person which way to sign in, and has the agent do it.
func (c *external) signIn(ctx context.Context, a *agent, methods []acp.AuthMethod) error {
	q := conversation.Question{Text: "Sign in to " + c.profile.Title}
	for _, m := range methods {
		if m.Type == "terminal" {
			continue // its program runs in a terminal of the person's
		}
		label := m.Name
		if m.Description != "" {
			label += ": " + m.Description
		}
		q.Options = append(q.Options, conversation.Option{ID: m.ID, Label: label})
	}
	if len(q.Options) == 0 {
		return fmt.Errorf("it wants you to sign in; start %s in a terminal once", c.profile.Title)
	}
	method, _, err := c.run.Ask(ctx, q)
	if err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	return a.conn.Authenticate(ctx, method)
}

// offerOf is what an agent says that it can.
func offerOf(i acp.Initialized) Info {
	var o Info
	for _, m := range i.AuthMethods {
		o.SignIn = append(o.SignIn, SignIn{ID: m.ID, Title: m.Name})
	}
	if i.Agent != nil {
		o.Version = i.Agent.Version
	}
	if i.Capabilities.LoadSession || i.Capabilities.Session.Resume != nil {
		o.Can = append(o.Can, "resume")
	}
	if i.Capabilities.Session.Fork != nil {
		o.Can = append(o.Can, canFork)
	}
	if i.Capabilities.Session.List != nil {
		o.Can = append(o.Can, "list")
	}
	if i.Capabilities.Prompt.Image {
		o.Can = append(o.Can, "images")
	}
	return o
}

// below is the name of a path in one of the session's folders; ok is false for others.
func (c *external) below(given string) (name string, ok bool) {
	folders := c.m.o.Folders(c.session)
	i, rest := workspace.Holding(folders, given)
	if i < 0 {
		return "", false
	}
	return path.Join(folders[i].Name, filepath.ToSlash(rest)), true
}

// others are the session's folders besides the one in which its agent begins.
func (b *base) others(s *session.Session) []string {
	return workspace.Others(b.o.Folders(s), s.Root)
}
