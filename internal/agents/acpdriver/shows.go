package acpdriver

import (
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// content takes in what a call shows, which always comes as a whole. What is new of its
// text is the rest behind what was there; nil is nothing new. b.mu is held.
func (b *Bridge) content(c *call, all []acp.ToolContent) *conversation.Event {
	var texts []string
	var images []conversation.Image
	c.Diff = nil
	for _, part := range all {
		switch {
		case part.Type == acp.ShowsDiff:
			c.Diff = append(c.Diff, conversation.FileDiff{Path: part.Path, Old: part.OldText, New: part.NewText})
		case part.Type == acp.ShowsTerminal:
			c.URI = terminal + part.Terminal
		case part.Content != nil:
			data, alt, ok := picture(*part.Content)
			if !ok {
				texts = append(texts, text(*part.Content))
				continue
			}
			i, words, ok := b.keep(data, alt)
			switch {
			case !ok:
				texts = append(texts, words)
			case len(images) < maxPictures && !slices.Contains(c.pictures, i.ID):
				c.pictures = append(c.pictures, i.ID)
				images = append(images, i)
			}
		}
	}
	whole := strings.Join(texts, "\n")
	if (whole == "" || whole == c.output) && len(images) == 0 {
		return nil
	}
	e := &conversation.Event{Kind: conversation.CallOutput, Parent: c.parent, Images: images}
	if rest, ok := strings.CutPrefix(whole, c.output); ok && c.output != "" {
		e.Delta = rest
	} else {
		e.Text = whole
	}
	if whole != "" { // pictures alone take nothing back
		c.output = whole
	}
	c.OutputBytes = len(c.output)
	now := c.Call
	now.Diff = nil // told when the call is, and with its end
	e.Call = &now
	return e
}
