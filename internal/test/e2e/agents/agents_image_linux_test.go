package agents_test

import (
	"encoding/base64"
	"net/url"
	"os"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// onePixel is a PNG.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestAgentImages: a picture of an agent's is told by its name and given by a command,
// to those who name it and its run, also after a restart; what is none is not kept.
func TestAgentImages(t *testing.T) {
	dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"})
	r, _ := e2e.Mortal(t, dir)
	svg := base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`))
	c := r.Agent("picture image/svg+xml "+onePixel+"\npicture image/png "+svg, nil)
	c.Stopped(1)
	var images []told.Image
	refused := 0
	for _, e := range c.History() {
		images = append(images, e.Images...)
		if strings.Contains(e.Text, "is not shown: it is no PNG") {
			refused++
		}
	}
	if len(images) != 2 || images[0] != images[1] || images[0].Mime != "image/png" || refused != 2 {
		t.Fatalf("it has %+v, and %d are refused", images, refused)
	}
	other := r.Agent("say hello", nil)
	other.Stopped(1)
	type given struct{ URI, Mime, Data string }
	check := func(r *e2e.Rig) {
		t.Helper()
		got := e2e.Command[given](r, "sidecar.agent.image", e2e.Object{"run": c.Run, "image": images[0].ID})
		if got.Data != onePixel || got.Mime != "image/png" {
			t.Errorf("it is %+v", got)
		}
		u, err := url.Parse(got.URI)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(u.Path)
		if err != nil || base64.StdEncoding.EncodeToString(data) != onePixel {
			t.Errorf("the file has %d bytes, %v", len(data), err)
		}
		for _, args := range []e2e.Object{
			{"run": other.Run, "image": images[0].ID}, {"run": c.Run, "image": "../" + c.Run + ".jsonl"}, {"run": c.Run, "image": "x"}, {"run": "nonesuch", "image": images[0].ID},
		} {
			if err := r.ExecuteCommand(t.Context(), "sidecar.agent.image", args, nil); err == nil || !strings.Contains(err.Error(), "no such") {
				t.Errorf("%v: %v", args, err)
			}
		}
	}
	check(r)
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(e2e.WorldIn(t, dir))
}
