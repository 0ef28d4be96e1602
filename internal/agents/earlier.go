package agents

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// Bounds of a list of earlier conversations. An agent that has more pages is asked for
// them by the next call.
const (
	askTime     = time.Minute // to start the program and to have its answers
	maxPage     = 8 << 20     // bytes of an answer
	maxPages    = 20          // answers for a call
	enough      = 50          // conversations with which no more pages are asked for
	maxListed   = 1000        // conversations for a call: the newest
	maxID       = 1024        // bytes of an id or a cursor
	titleLength = 200         // characters
)

// ErrNoList says that an agent does not tell what it had.
var ErrNoList = errors.New("it has no list of its conversations; go on with one in its own program, or start a new run")

// Earlier asks an agent which conversations it had in the workspace, the newest first.
// Its program is started for that, in a world of its own, and ended.
func (m *Manager) Earlier(ctx context.Context, name, cursor string, consent bool) (EarlierPage, error) {
	p, err := m.allowed(name, consent)
	if err != nil {
		return EarlierPage{}, err
	}
	return m.past.list(ctx, *p, cursor)
}

// past lists the conversations that agents had before.
type past struct {
	m      *base
	asking chan struct{} // has something while an agent is asked: one at a time

	mu     sync.Mutex
	titles map[string]map[string]string // by profile and id, as they were listed last
}

func (h *past) list(ctx context.Context, p profile.Profile, cursor string) (EarlierPage, error) {
	if cursor != "" && !usable(cursor) {
		return EarlierPage{}, fmt.Errorf("cursor: %.40q is none; leave it out, or take next of the list before", cursor)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, fmt.Errorf("%s has not told its conversations within %s; try again, or start a new run", p.Title, askTime))
	defer cancel()
	defer context.AfterFunc(h.m.ctx, cancel)()
	select {
	case h.asking <- struct{}{}:
		defer func() { <-h.asking }()
	case <-ctx.Done():
		return EarlierPage{}, context.Cause(ctx)
	}
	var page EarlierPage
	err := ctx.Err()
	if err == nil {
		page, err = h.ask(ctx, p, cursor)
	}
	switch {
	case h.m.ctx.Err() != nil:
		return EarlierPage{}, conversation.ErrClosed
	case ctx.Err() != nil:
		return EarlierPage{}, context.Cause(ctx)
	case err != nil:
		return EarlierPage{}, fmt.Errorf("%s: %w", p.Title, err)
	}
	h.keepTitles(p.Name, page.Sessions, cursor == "")
	return page, nil
}

// ask starts a program, asks it and ends it.
func (h *past) ask(ctx context.Context, p profile.Profile, cursor string) (EarlierPage, error) {
	s, err := h.m.open(session.OpenRequest{}, p)
	if err != nil {
		return EarlierPage{}, err
	}
	defer func() {
		h.m.o.Parts().Leave(s.ID)
		_ = h.m.o.Sessions.Close(s.ID)
	}()
	a, streams, err := h.m.launch(p, s, nil, func(said string) {
		h.m.log.Warn("an agent that was asked for its conversations", "agent", p.Name, "left out", said)
	})
	if err != nil {
		return EarlierPage{}, err
	}
	defer a.stop()
	a.conn = acp.Open(streams.fromOut, streams.toIn, acp.World{Host: nobody{}}, acp.Options{Log: h.m.log, Client: h.m.client(), MaxLine: maxPage, MaxQueued: 2 * maxPage})
	page, err := h.pages(ctx, a.conn, p.Name, s.Root, cursor)
	var e *acp.Error
	switch {
	case errors.Is(err, acp.ErrGone) && ctx.Err() == nil:
		err = a.died(err)
	case errors.Is(err, acp.ErrUnsupported):
		err = ErrNoList
	case errors.As(err, &e) && e.Code == acp.CodeAuthRequired:
		err = fmt.Errorf("%w; start a run, which asks you how", err)
	}
	return page, err
}

// pages asks for pages of the list until there is something to show.
func (h *past) pages(ctx context.Context, conn *acp.Conn, agent, root, cursor string) (EarlierPage, error) {
	offered, err := conn.Initialize(ctx)
	if err != nil {
		return EarlierPage{}, err
	}
	if _, known := h.m.offers.get(agent); !known {
		h.m.offers.set(agent, offerOf(offered))
	}
	page := EarlierPage{Sessions: []Earlier{}}
	asked, listed := map[string]bool{}, map[string]bool{}
	for range maxPages {
		asked[cursor] = true
		list, next, err := conn.ListSessions(ctx, root, cursor)
		if err != nil {
			return EarlierPage{}, err
		}
		page.Sessions = append(page.Sessions, h.earlier(agent, root, list, listed)...)
		if next != "" && !usable(next) {
			return EarlierPage{}, errors.New("it says that there is more, and how to ask for that can't be used")
		}
		if asked[next] { // it goes round
			next = ""
		}
		page.Next, cursor = next, next
		if next == "" || len(page.Sessions) >= enough {
			break
		}
	}
	slices.SortStableFunc(page.Sessions, func(a, b Earlier) int { return b.time().Compare(a.time()) })
	page.Sessions = page.Sessions[:min(len(page.Sessions), maxListed)]
	return page, nil
}

// earlier are the conversations of a page that were held in a directory and are not
// listed yet, each as a person may see it.
func (h *past) earlier(agent, root string, infos []acp.SessionInfo, listed map[string]bool) (list []Earlier) {
	open := runRefs(h.m.store, agent)
	for _, i := range infos {
		if !usable(i.ID) || listed[i.ID] || i.Dir != "" && filepath.Clean(i.Dir) != root {
			continue
		}
		listed[i.ID] = true
		one := Earlier{ID: i.ID, Title: titleOf(i.Title), Run: open[i.ID]}
		if at, err := time.Parse(time.RFC3339, i.UpdatedAt); err == nil && !at.IsZero() {
			at = at.UTC()
			one.UpdatedAt = &at
		}
		list = append(list, one)
	}
	return list
}

// runRefs are the open runs of an agent, by the conversation that they have.
func runRefs(store *conversation.Store, agent string) map[string]string {
	open := map[string]string{}
	for _, i := range store.List(false) {
		if i.Agent == agent && i.Ref != "" {
			open[i.Ref] = i.Run
		}
	}
	return open
}

// usable reports whether an agent's name of something can be shown and said again as
// it is.
func usable(id string) bool {
	return id != "" && len(id) <= maxID && redact.Visible(id) == id && !strings.ContainsAny(id, " \n\t")
}

// titleOf is a title of an agent's as a line that shows all that is in it.
func titleOf(title string) string {
	if len(title) > 8*titleLength {
		title = strings.ToValidUTF8(title[:8*titleLength], "")
	}
	title = strings.Join(strings.Fields(redact.Visible(title)), " ")
	if chars := []rune(title); len(chars) > titleLength {
		return string(chars[:titleLength-1]) + "…"
	}
	return title
}

// title is how a conversation was called when it was listed; "" where it was not.
func (h *past) title(agent, id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.titles[agent][id]
}

// keepTitles stores the titles of conversations for runs that resume one. reset drops older ones.
func (h *past) keepTitles(agent string, list []Earlier, reset bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	titles := h.titles[agent]
	if reset || titles == nil || len(titles) > maxListed {
		titles = map[string]string{}
		h.titles[agent] = titles
	}
	for _, one := range list {
		titles[one.ID] = one.Title
	}
}

// resume goes on with a conversation that the agent had before. What was said there is
// told to the run, if the agent tells it.
func (c *external) resume(ctx context.Context, conn *acp.Conn, ref string, p acp.SessionParams) (s *acp.Session, err error) {
	switch can := conn.Agent().Capabilities; {
	case can.LoadSession:
		s, err = conn.LoadSession(ctx, ref, p)
	case can.Session.Resume != nil:
		s, err = conn.ResumeSession(ctx, ref, p)
	default:
		return nil, errors.New("it can't go on with an earlier conversation; start a run without resume")
	}
	if err != nil {
		return nil, fmt.Errorf("the conversation %s: %w; sidecar.agent.sessions lists those that it has", ref, err)
	}
	c.tell(conversation.Event{Kind: conversation.Note, Reason: conversation.Resumed, Text: "It goes on with a conversation that it had before"})
	return s, nil
}

// nobody is the host of an agent that is only asked for a list.
type nobody struct{}

// Update implements acp.Host.
func (nobody) Update(context.Context, acp.Update) {}

// Permission implements acp.Host.
func (nobody) Permission(context.Context, acp.PermissionRequest) (string, error) {
	return "", errors.New("it was asked for a list of its conversations, and may do nothing else")
}
