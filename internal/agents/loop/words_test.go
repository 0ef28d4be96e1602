package loop

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// TestAttachedPath shows the model files by the paths that its tools take.
func TestAttachedPath(t *testing.T) {
	root := "/"
	uri := "file:///"
	if runtime.GOOS == "windows" {
		root, uri = `C:\`, "file:///c%3A/"
	}
	for _, c := range []struct{ uri, path string }{
		{uri + "p/a%20b.go", root + filepath.FromSlash("p/a b.go")},
		{uri + "p/%C3%A9.go", root + filepath.FromSlash("p/é.go")},
		{"untitled:Untitled-1", "untitled:Untitled-1"},
		{"https://example.org/a%20b", "https://example.org/a%20b"},
	} {
		if got, want := attached(conversation.Attachment{Kind: "file", URI: c.uri}), "[The user points to "+c.path+"]"; got != want {
			t.Errorf("%s: %s, want %s", c.uri, got, want)
		}
	}
}
