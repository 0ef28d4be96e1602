package loop

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// promptOf are a prompt as the model reads it.
func (a *Agent) promptOf(i conversation.Item) *Prompt {
	w := &Prompt{By: byPerson, ID: i.ID, Text: i.Text}
	var b strings.Builder
	b.WriteString(i.Text)
	for _, at := range i.Attachments {
		if at.Kind == "image" && at.Data != "" {
			if data, err := base64.StdEncoding.DecodeString(at.Data); err == nil {
				w.Parts = append(w.Parts, model.Block{Kind: model.Image, Media: cmp.Or(at.Mime, "image/png"), Data: data})
				continue
			}
		}
		fmt.Fprintf(&b, "\n\n%s", attached(at, rootOf(a.host)))
	}
	w.Text = strings.TrimLeft(b.String(), "\n")
	return w
}

// rootOf is the folder to which paths are relative; "" where there are several.
func rootOf(h Host) string {
	if f := h.Facts(); f.Roots() == "" {
		return f.Root
	}
	return ""
}

// attached describes an attachment for the model. Files below the root get relative
// paths, as tools take them.
func attached(at conversation.Attachment, root string) string {
	name := cmp.Or(at.URI, at.Kind)
	if path, ok := workspace.FilePath(name); ok {
		name = path
		if rel, err := filepath.Rel(root, path); root != "" && err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
		}
	}
	name += lines(at.Range)
	switch {
	case at.Text != "":
		return fmt.Sprintf("<attached name=%q>\n%s\n</attached>", name, at.Text)
	case at.URI != "":
		return fmt.Sprintf("[The user points to %s]", name)
	}
	return fmt.Sprintf("[The user attached %s, which can't be read]", filepath.Base(name))
}

// lines says which lines a range has, counted from 1.
func lines(raw json.RawMessage) string {
	var r struct{ Start, End struct{ Line int } }
	if len(raw) == 0 || json.Unmarshal(raw, &r) != nil {
		return ""
	}
	return fmt.Sprintf(" lines %d to %d", r.Start.Line+1, r.End.Line+1)
}
