package acpdriver

import (
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// message is what was told of a message that has an id.
type message struct {
	key      string
	text     []byte
	pictures int
	anew     bool // what was told is not what it is
}

// Bounds of the messages that are remembered, and of their texts. One that is older, or
// longer, is told anew when it comes as a whole.
const (
	maxMessages     = 100
	maxMessageTexts = 8 << 20
)

// role is who says a message, and of which kind it is.
func role(u acp.Update) (kind, role string) {
	switch u.Kind {
	case acp.UserMessage, acp.UserMessageChunk:
		return conversation.Text, "user"
	case acp.AgentThought, acp.AgentThoughtChunk:
		return conversation.Thought, "assistant"
	}
	return conversation.Text, "assistant"
}

// told finds what is remembered of a message. b.mu is held.
func (b *Bridge) told(u acp.Update, id string) *message {
	kind, role := role(u)
	key := kind + role + u.Parent + "\n" + id
	if i := slices.IndexFunc(b.messages, func(m *message) bool { return m.key == key }); i >= 0 {
		m := b.messages[i]
		b.messages = append(slices.Delete(b.messages, i, i+1), m)
		return m
	}
	m := &message{key: key}
	b.messages = append(b.messages, m)
	size := 0
	for i := len(b.messages) - 1; i >= 0; i-- {
		if size += len(b.messages[i].text); size > maxMessageTexts || len(b.messages)-i > maxMessages {
			b.messages = b.messages[i+1:]
			break
		}
	}
	return m
}

// whole tells what is new of a message that came as a whole.
func (b *Bridge) whole(u acp.Update) (events []conversation.Event) {
	if u.Message.Content == nil {
		return nil
	}
	kind, role := role(u)
	e := conversation.Event{Kind: kind, Role: role, Parent: u.Parent, Message: u.Message.ID}
	var words strings.Builder
	var pictures []acp.Update
	for _, c := range u.Message.Content {
		if _, _, ok := picture(c); ok {
			pictures = append(pictures, acp.Update{Kind: u.Kind, Parent: u.Parent, Raw: u.Raw, Chunk: &acp.Chunk{MessageID: u.Message.ID, Content: c}})
		} else {
			words.WriteString(text(c))
		}
	}
	b.mu.Lock()
	m := b.told(u, u.Message.ID)
	rest, goesOn := strings.CutPrefix(words.String(), string(m.text))
	switch {
	case goesOn && !m.anew:
		e.Delta = rest
	case words.Len() == 0: // a run keeps what was said
		m.anew = true
	default:
		e.Text, m.anew = words.String(), false
	}
	m.text = []byte(words.String())
	shown := min(m.pictures, len(pictures))
	m.pictures = len(pictures)
	b.last = ""
	b.mu.Unlock()
	if e.Text != "" || e.Delta != "" {
		events = append(events, e)
	}
	for _, p := range pictures[shown:] {
		events = append(events, b.chunk(kind, role, p)...)
	}
	return events
}

// added remembers a part of a message. b.mu is held.
func (b *Bridge) added(u acp.Update, e *conversation.Event) {
	m := b.told(u, u.Chunk.MessageID)
	m.text = append(m.text, e.Delta...)
	if m.anew { // nothing of it is valid that was told
		e.Text, e.Delta, m.anew = string(m.text), "", false
	}
	if len(m.text) > maxMessageTexts {
		b.messages = slices.DeleteFunc(b.messages, func(one *message) bool { return one == m })
	}
}
