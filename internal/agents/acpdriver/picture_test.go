package acpdriver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestPictures: those of messages stand where they were shown, those of a call are told
// once, and what is none is said in words.
func TestPictures(t *testing.T) {
	run, a := begin(t, store(t, t.TempDir()), Options{})
	sub := run.Subscribe(0)
	prompt(t, run, conversation.Item{Text: "go"})
	req := a.read()
	image := func(data, mime, uri string) string {
		return fmt.Sprintf(`{"type":"image","data":%q,"mimeType":%q,"uri":%q}`, data, mime, uri)
	}
	says := func(content string) {
		a.update("s1", `{"sessionUpdate":"agent_message_chunk","messageId":"m","content":`+content+`}`)
	}
	shows := func(status string, content ...string) {
		a.update("s1", `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"`+status+`","content":[{"type":"content","content":`+strings.Join(content, `},{"type":"content","content":`)+`}]}`)
	}
	says(`{"type":"text","text":"before"}`)
	says(image(pixel, "text/html", "file:///d/chart.png"))
	says(`{"type":"text","text":"after"}`)
	says(image("PHN2Zz48L3N2Zz4=", "image/png", ""))
	says(image("", "image/png", "https://evil.example/x.png"))
	says(`{"type":"resource","resource":{"uri":"data:x","mimeType":"image/png","blob":"` + pixel + `"}}`)
	says(`{"type":"resource","resource":{"uri":"file:///x.zip","mimeType":"application/zip","blob":"` + pixel + `"}}`)
	shows("in_progress", `{"type":"text","text":"one"}`, image(pixel, "image/png", ""))
	shows("in_progress", `{"type":"text","text":"one"}`, image(pixel, "image/png", ""))
	shows("completed", `{"type":"text","text":"one two"}`, image(pixel, "image/png", ""), image("R0lGODlhAQABAAAAACw=", "image/gif", ""), image("AAAA", "image/png", ""))
	a.reply(req, `{"stopReason":"end_turn"}`)
	await(t, sub, ofKind(conversation.RunEnd))

	var got []string
	for _, e := range told(t, run) {
		line := e.Kind + " " + e.Reason + " " + e.Text + e.Delta
		for _, i := range e.Images {
			line += fmt.Sprintf(" <%s %d×%d %q>", i.Mime, i.Width, i.Height, i.Alt)
			if _, mime, data, err := run.Picture(i.ID); err != nil || mime != i.Mime || len(data) != i.Bytes {
				t.Errorf("%s is %s, %d bytes, %v", i.ID, mime, len(data), err)
			}
		}
		got = append(got, line)
	}
	want := []string{
		`text  before`,
		`note image [Image: chart.png, image/png, 1 × 1] <image/png 1×1 "chart.png">`,
		`text  after`,
		`note image [An image is not shown: it is no PNG, JPEG, GIF or WebP image]`,
		`note image [An image is not shown: it has no data, and none is loaded from elsewhere]`,
		`note image [Image: image/png, 1 × 1] <image/png 1×1 "">`,
		`note agent_message_chunk `,
		`call.proposed  `,
		`call.started  `,
		`call.output  one <image/png 1×1 "">`,
		`call.output  `, // as it was
		"call.output   two\n[An image is not shown: it is no PNG, JPEG, GIF or WebP image] <image/gif 1×1 \"\">",
		`call.finished  `,
		`run.end done `,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("it is told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
