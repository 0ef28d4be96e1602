package acpserver

import (
	"encoding/base64"
	"path"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// itemOf is a prompt as a run hears it. A file that is named in the middle of the text
// leaves its name there, and comes with it.
func itemOf(blocks []acp.Content) (conversation.Item, error) {
	var i conversation.Item
	var text strings.Builder
	for _, b := range blocks {
		switch b.Type {
		case acp.TypeText:
			text.WriteString(b.Text)
		case acp.TypeResourceLink:
			text.WriteString(named(b.Name, b.URI))
			i.Attachments = append(i.Attachments, conversation.Attachment{Kind: "file", URI: b.URI, Mime: b.MimeType})
		case acp.TypeResource:
			a, err := embedded(b.Resource)
			if err != nil {
				return i, err
			}
			text.WriteString(named("", b.Resource.URI))
			i.Attachments = append(i.Attachments, a)
		case acp.TypeImage:
			a, err := imageOf(b.Data, b.MimeType, b.URI)
			if err != nil {
				return i, err
			}
			i.Attachments = append(i.Attachments, a)
		default:
			return i, acp.Errorf(acp.CodeInvalidParams, "a prompt takes text, images, resources and links to them, and no %.40q", b.Type)
		}
	}
	i.Text = text.String()
	if strings.TrimSpace(i.Text) == "" && len(i.Attachments) == 0 {
		return i, acp.Errorf(acp.CodeInvalidParams, "the prompt is empty")
	}
	return i, nil
}

// named is a file in the middle of a text.
func named(name, uri string) string {
	if name == "" {
		name = path.Base(uri)
	}
	return "@" + name
}

func embedded(r *acp.Resource) (a conversation.Attachment, err error) {
	switch {
	case r == nil:
		return a, acp.Errorf(acp.CodeInvalidParams, "a resource of the prompt has no content")
	case r.Text != nil:
		return conversation.Attachment{Kind: "file", URI: r.URI, Mime: r.MimeType, Text: *r.Text}, nil
	case r.Blob != nil && strings.HasPrefix(r.MimeType, "image/"):
		return imageOf(*r.Blob, r.MimeType, r.URI)
	}
	return a, acp.Errorf(acp.CodeInvalidParams, "the resource %.200q is neither text nor an image: send a link to it", r.URI)
}

func imageOf(data, mime, uri string) (a conversation.Attachment, err error) {
	if _, err := base64.StdEncoding.DecodeString(data); err != nil || data == "" {
		return a, acp.Errorf(acp.CodeInvalidParams, "an image of the prompt is no base64")
	}
	return conversation.Attachment{Kind: "image", URI: uri, Mime: mime, Data: data}, nil
}
