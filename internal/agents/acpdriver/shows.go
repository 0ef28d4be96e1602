package acpdriver

import (
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// show is a part of what a call shows: a text, or what a terminal of the agent's own has.
type show struct{ text, screen string }

// shows takes the place of all that a call shows. b.mu is held.
func (b *Bridge) shows(c *call, all []show) {
	for _, s := range c.shows {
		b.grow(c, -len(s.text))
		if s.screen != "" {
			b.leave(s.screen, c.ID)
		}
	}
	for _, d := range c.Diff {
		b.grow(c, -weight(d))
	}
	c.shows, c.Diff = all, nil
}

func weight(d conversation.FileDiff) int {
	if d.Old == nil {
		return len(d.New)
	}
	return len(d.New) + len(*d.Old)
}

// content takes in what a call shows: all of it, or more of it.
func (b *Bridge) content(c *call, all []acp.ToolContent, whole bool) *conversation.Event {
	from := len(c.shows)
	add := func(s show) {
		c.shows = append(c.shows, s)
		b.grow(c, len(s.text))
	}
	var images []conversation.Image
	for _, part := range all {
		switch {
		case part.Type == acp.ShowsDiff:
			d := conversation.FileDiff{Path: part.Path, Old: part.OldText, New: part.NewText}
			c.Diff = append(c.Diff, d)
			b.grow(c, weight(d))
		case part.Type == acp.ShowsTerminal:
			c.URI = terminal + part.Terminal
		case part.Type == acp.ShowsTheirs:
			add(show{screen: part.Terminal})
			b.join(part.Terminal, c.ID)
		case part.Content != nil:
			data, alt, ok := picture(*part.Content)
			if !ok {
				add(show{text: text(*part.Content)})
				continue
			}
			i, words, ok := b.keep(data, alt)
			switch {
			case !ok:
				add(show{text: words})
			case len(images) < maxPictures && !slices.Contains(c.pictures, i.ID):
				c.pictures = append(c.pictures, i.ID)
				images = append(images, i)
			}
		}
	}
	var e *conversation.Event
	if words := b.words(c.shows[from:]); whole {
		e = b.says(c, words)
	} else if words != "" {
		e = b.adds(c, "\n", words)
	}
	if len(images) > 0 && e == nil {
		e = b.output(c)
	}
	if e != nil {
		e.Images = images
	}
	return e
}

// words are the texts of parts as one.
func (b *Bridge) words(all []show) string {
	texts := make([]string, len(all))
	for i, s := range all {
		if texts[i] = s.text; s.screen != "" {
			texts[i] = string(b.screen(s.screen).text)
		}
	}
	return strings.Join(texts, "\n")
}

// says tells what a call shows as a whole. What is new of its text is the rest behind
// what was there; nil is nothing new.
func (b *Bridge) says(c *call, whole string) *conversation.Event {
	told := string(c.output)
	if rest, ok := strings.CutPrefix(whole, told); ok && told != "" {
		return b.adds(c, "", rest)
	}
	if whole == "" {
		return nil
	}
	b.grow(c, len(whole)-len(c.output))
	c.output = []byte(whole)
	e := b.output(c)
	e.Text = whole
	return e
}

// adds tells more of what a call shows, with what stands before it unless it is the
// first; nil is nothing new.
func (b *Bridge) adds(c *call, before, words string) *conversation.Event {
	if words == "" {
		return nil
	}
	first := len(c.output) == 0
	if !first {
		words = before + words
	}
	b.grow(c, len(words))
	c.output = append(c.output, words...)
	e := b.output(c)
	if e.Delta = words; first {
		e.Text, e.Delta = words, ""
	}
	return e
}

// output is the event that tells what a call shows, as yet without it.
func (b *Bridge) output(c *call) *conversation.Event {
	c.OutputBytes = len(c.output)
	now := c.Call
	now.Diff = nil // told when the call is, and with its end
	return &conversation.Event{Kind: conversation.CallOutput, Parent: c.parent, Call: &now}
}
