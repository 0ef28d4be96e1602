package acpdriver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// call is what is known of a tool call, and what was told of it.
type call struct {
	conversation.Call
	output            string   // what was told of what it shows
	parent            string   // the call of the sub-agent that makes it
	pictures          []string // the ids of those that were told
	started, finished bool
	size              int // bytes of texts
}

// Bounds of the calls that are remembered, and of their texts. One that is older
// is taken for a new one when something is told of it.
const (
	maxCalls = 1000
	maxTexts = 64 << 20
)

// Update tells the run what the agent tells. What the run has no member for is
// in Raw.
func (b *Bridge) Update(_ context.Context, u acp.Update) {
	session, _ := b.bound()
	if session != nil && u.Session != session.ID {
		return
	}
	if session == nil && b.opts.DropHistory {
		switch u.Kind {
		case acp.UserMessageChunk, acp.AgentMessageChunk, acp.AgentThoughtChunk, acp.ToolCallStarted, acp.ToolCallChanged, acp.PlanChanged:
			return
		}
	}
	for _, e := range b.translate(u) {
		b.emit(e)
	}
}

func (b *Bridge) translate(u acp.Update) []conversation.Event {
	unknown := []conversation.Event{{Kind: conversation.Note, Reason: u.Kind, Raw: u.Raw}}
	if u.Err != nil {
		unknown[0].Text = "The agent sent an update that can't be read: " + u.Err.Error()
		return unknown
	}
	switch u.Kind {
	case acp.UserMessageChunk:
		return b.chunk(conversation.Text, "user", u)
	case acp.AgentMessageChunk:
		return b.chunk(conversation.Text, "assistant", u)
	case acp.AgentThoughtChunk:
		return b.chunk(conversation.Thought, "assistant", u)
	case acp.ToolCallStarted, acp.ToolCallChanged:
		b.over()
		return b.tool(*u.Tool, u)
	case acp.PlanChanged:
		e := conversation.Event{Kind: conversation.Plan, Plan: []conversation.PlanEntry{}}
		for _, p := range u.Plan {
			e.Plan = append(e.Plan, conversation.PlanEntry{Text: p.Content, Status: p.Status, Priority: p.Priority})
		}
		return []conversation.Event{e}
	case acp.UsageChanged:
		usage := &conversation.Usage{Used: u.Usage.Used, Size: u.Usage.Size}
		if c := u.Usage.Cost; c != nil {
			usage.Cost, usage.Currency = c.Amount, c.Currency
		}
		return []conversation.Event{{Kind: conversation.UsageNow, Usage: usage}}
	case acp.ModeChanged:
		unknown[0].AgentMode = u.Mode
	case acp.ConfigChanged:
		unknown[0].AgentMode, unknown[0].Model = Chosen(u.Config)
	case acp.InfoChanged:
		if u.Info.Title != nil {
			unknown[0].Title = *u.Info.Title
		}
	case acp.NoticeGiven:
		unknown[0].Text = strings.TrimSpace(u.Notice.Title + "\n" + u.Notice.Description)
	case acp.CompactionChanged, acp.CompactionChunk:
		b.over()
		unknown[0].Kind = conversation.Compaction
		unknown[0].Reason = u.Compaction.Status
		unknown[0].Text = cmp.Or(u.Compaction.Error, text(u.Compaction.Summary...))
		if c := u.Compaction.Content; c != nil {
			unknown[0].Text = text(*c)
		}
	}
	return unknown
}

// chunk is a part of a message. An agent that gives its messages no ids gets
// some: a message goes on until another kind of thing is told.
func (b *Bridge) chunk(kind, role string, u acp.Update) []conversation.Event {
	e := conversation.Event{Kind: kind, Role: role, Parent: u.Parent, Message: u.Chunk.MessageID, Delta: text(u.Chunk.Content)}
	if data, alt, ok := picture(u.Chunk.Content); ok {
		b.over()
		e = conversation.Event{Kind: conversation.Note, Reason: conversation.ImageShown, Role: role, Parent: u.Parent, Message: u.Chunk.MessageID}
		i, words, ok := b.keep(data, alt)
		if e.Text = words; ok {
			e.Images = []conversation.Image{i}
		}
		return []conversation.Event{e}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Message == "" {
		who := kind + role + u.Parent
		if b.last != who {
			b.message++
		}
		b.last = who
		e.Message = fmt.Sprintf("message-%d", b.message)
	} else {
		b.last = ""
	}
	if e.Delta == "" { // a sound, or what is not known
		if u.Chunk.Content.Type == acp.TypeText {
			return nil
		}
		return []conversation.Event{{Kind: conversation.Note, Reason: u.Kind, Message: e.Message, Role: role, Parent: u.Parent, Raw: u.Raw}}
	}
	return []conversation.Event{e}
}

// over says that the next part without an id begins another message.
func (b *Bridge) over() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = ""
}

// proposed tells of a call that a permission is asked for, unless that was told.
func (b *Bridge) proposed(t acp.ToolCall) conversation.Call {
	t.Status = "" // it has not begun, whatever is said here
	for _, e := range b.tool(t, acp.Update{}) {
		b.emit(e)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.calls[t.ID]; c != nil {
		return c.Call
	}
	return conversation.Call{ID: t.ID, Title: t.Title} // forgotten at once, among so many
}

// tool tells what has changed of a call.
func (b *Bridge) tool(t acp.ToolCall, u acp.Update) []conversation.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.calls[t.ID]
	isNew := c == nil
	if isNew {
		c = &call{Call: conversation.Call{ID: t.ID, Kind: "other"}}
		b.remember(c)
	}
	c.parent = cmp.Or(c.parent, u.Parent)
	c.Title, c.Kind = cmp.Or(t.Title, t.Name, c.Title), cmp.Or(t.Kind, c.Kind)
	if t.Locations != nil {
		c.Locations = nil
		for _, l := range t.Locations {
			place := conversation.Location{Path: l.Path}
			if l.Line != nil {
				place.Line = *l.Line
			}
			c.Locations = append(c.Locations, place)
		}
	}
	var output *conversation.Event
	if t.Content != nil {
		output = b.content(c, t.Content)
		b.weigh(c)
	}
	var events []conversation.Event
	tell := func(kind string) {
		now := c.Call
		events = append(events, conversation.Event{Kind: kind, Call: &now, Parent: c.parent})
	}
	if isNew {
		tell(conversation.CallProposed)
	}
	ends := t.Status == acp.StatusCompleted || t.Status == acp.StatusFailed
	if !c.started && (ends || t.Status == acp.StatusInProgress) {
		c.started = true
		tell(conversation.CallStarted)
	}
	if len(events) > 0 {
		events[0].Raw = u.Raw
	}
	if output != nil {
		events = append(events, *output)
	}
	if ends && !c.finished {
		c.finished = true
		c.Outcome = t.Status
		tell(conversation.CallFinished)
		events[len(events)-1].Raw = t.RawOutput
		c.output, c.Diff, c.pictures = "", nil, nil // the update replaces all of it
		b.weigh(c)
	}
	if len(events) == 0 && u.Raw != nil && (t.Title != "" || t.Locations != nil || t.Content != nil || t.RawInput != nil || t.RawOutput != nil) {
		tell(conversation.CallOutput) // without output: the call is known better now
		events[0].Raw = u.Raw
	}
	return events
}

// remember keeps a call, and forgets the oldest when there are too many.
func (b *Bridge) remember(c *call) {
	b.calls[c.ID] = c
	b.order = append(b.order, c.ID)
	if len(b.order) > maxCalls {
		b.forgetOldest()
	}
}

// weigh recounts the texts of a call, and forgets the oldest calls when there is
// too much of them.
func (b *Bridge) weigh(c *call) {
	if b.calls[c.ID] != c { // forgotten
		return
	}
	size := len(c.output)
	for _, d := range c.Diff {
		size += len(d.New)
		if d.Old != nil {
			size += len(*d.Old)
		}
	}
	b.texts += size - c.size
	c.size = size
	for b.texts > maxTexts && len(b.order) > 1 {
		b.forgetOldest()
	}
}

func (b *Bridge) forgetOldest() {
	c := b.calls[b.order[0]]
	b.texts -= c.size
	delete(b.calls, c.ID)
	b.order = slices.Delete(b.order, 0, 1)
}

// Chosen are the mode and the model in an agent's settings; "" where it has no such.
func Chosen(options []acp.ConfigOption) (mode, model string) {
	for _, o := range options {
		switch o.Category {
		case "mode":
			mode = o.Value
		case "model":
			model = o.Value
		}
	}
	return mode, model
}

// text is what of content can be read as text.
func text(all ...acp.Content) string {
	var texts []string
	for _, c := range all {
		switch {
		case c.Type == acp.TypeText:
			texts = append(texts, c.Text)
		case c.Type == acp.TypeResourceLink:
			texts = append(texts, cmp.Or(c.Title, c.Name, c.URI))
		case c.Resource != nil && c.Resource.Text != nil:
			texts = append(texts, *c.Resource.Text)
		}
	}
	return strings.Join(texts, "\n")
}
