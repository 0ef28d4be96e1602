package source

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// content is what a server has said, as a result: text, and pictures that the text
// names. What is neither is named.
type content struct {
	parts  []string
	images []tools.Image
}

func (x *content) add(c sdk.Content) {
	switch c := c.(type) {
	case *sdk.TextContent:
		x.parts = append(x.parts, c.Text)
	case *sdk.ImageContent:
		x.image(c.MIMEType, c.Data)
	case *sdk.AudioContent:
		x.say("[a sound, %s, %d bytes, is not shown]", oneLine(c.MIMEType, 60), len(c.Data))
	case *sdk.ResourceLink:
		x.say("[the resource %s]", oneLine(c.URI, 500))
	case *sdk.EmbeddedResource:
		x.resource(c.Resource)
	}
}

func (x *content) resource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
	case r.Text != "":
		x.parts = append(x.parts, r.Text)
	case strings.HasPrefix(r.MIMEType, "image/") && len(r.Blob) > 0:
		x.image(r.MIMEType, r.Blob)
	default:
		x.say("[the resource %s, %d bytes, is not shown]", oneLine(r.URI, 500), len(r.Blob))
	}
}

func (x *content) image(mime string, data []byte) {
	i, err := tools.NewImage(data)
	switch {
	case err != nil:
		x.say("[an image, %s, %d bytes, is not shown: %v]", oneLine(mime, 60), len(data), err)
		return
	case len(x.images) == tools.MaxImages:
		x.say("[%s, is not shown: a result has at most %d]", i.Words(), tools.MaxImages)
		return
	}
	x.say("[%s]", i.Words())
	x.images = append(x.images, i)
}

func (x *content) say(format string, args ...any) {
	x.parts = append(x.parts, fmt.Sprintf(format, args...))
}

// structured adds what a server says for programs, where it says nothing else.
func (x *content) structured(v any) {
	if len(x.parts) > 0 || v == nil {
		return
	}
	if data, err := json.Marshal(v); err == nil {
		x.parts = append(x.parts, string(data))
	}
}

// result is all of it, within the server's bound.
func (x *content) result(s *server) tools.Result {
	text := strings.Join(x.parts, "\n")
	if most := s.cfg.maxResult(); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("\n[%d of %d bytes are shown: maxResultBytes in the entry of the MCP server %s; ask it for less]", most, len(text), s.cfg.Name)
	}
	return tools.Result{Text: text, Images: x.images}
}
