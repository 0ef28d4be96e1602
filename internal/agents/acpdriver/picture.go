package acpdriver

import (
	"fmt"
	"path"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// maxPictures bounds those of one event.
const maxPictures = 20

// picture is the data of a picture in content, in base64, and what it is called.
func picture(c acp.Content) (data, alt string, ok bool) {
	if c.Type == acp.TypeImage {
		return c.Data, called(c.URI), true
	}
	if r := c.Resource; r != nil && r.Blob != nil && strings.HasPrefix(r.MimeType, "image/") {
		return *r.Blob, called(r.URI), true
	}
	return "", "", false
}

// called is the name of the file that a picture is said to be from, which is not read.
func called(uri string) string {
	name := path.Base(uri)
	if strings.HasPrefix(uri, "data:") || name == "." || name == "/" {
		return ""
	}
	return name
}

// keep takes in a picture, or says in words why it is not shown.
func (b *Bridge) keep(data, alt string) (i conversation.Image, words string, ok bool) {
	if data == "" {
		return i, "[An image is not shown: it has no data, and none is loaded from elsewhere]", false
	}
	i, err := b.run.Keep(data, alt)
	if err != nil {
		return i, fmt.Sprintf("[An image is not shown: %v]", err), false
	}
	name := i.Mime
	if i.Alt != "" {
		name = i.Alt + ", " + name
	}
	return i, fmt.Sprintf("[Image: %s, %d × %d]", name, i.Width, i.Height), true
}
