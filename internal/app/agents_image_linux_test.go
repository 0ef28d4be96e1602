package app_test

import (
	"encoding/base64"
	"net/url"
	"os"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// onePixel is a PNG.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestAgentImages: a picture of an agent's is told by its name and given by a command,
// to those who name it and its run, also after a restart; what is none is not kept.
func TestAgentImages(t *testing.T) {
	dir := agentProject(t, map[string]string{"a.txt": "a\n"})
	r, _ := mortal(t, dir)
	svg := base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`))
	c := r.agent("picture image/svg+xml "+onePixel+"\npicture image/png "+svg, nil)
	c.stopped(1)
	var images []told.Image
	refused := 0
	for _, e := range c.history() {
		images = append(images, e.Images...)
		if strings.Contains(e.Text, "is not shown: it is no PNG") {
			refused++
		}
	}
	if len(images) != 2 || images[0] != images[1] || images[0].Mime != "image/png" || refused != 2 {
		t.Fatalf("it has %+v, and %d are refused", images, refused)
	}
	other := r.agent("say hello", nil)
	other.stopped(1)
	type given struct{ URI, Mime, Data string }
	check := func(r *rig) {
		t.Helper()
		got := command[given](r, "sidecar.agent.image", object{"run": c.run, "image": images[0].ID})
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
		for _, args := range []object{
			{"run": other.run, "image": images[0].ID}, {"run": c.run, "image": "../" + c.run + ".jsonl"}, {"run": c.run, "image": "x"}, {"run": "nonesuch", "image": images[0].ID},
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
	check(worldIn(t, dir))
}
