package docs_test

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/docs"
)

// TestFind: a topic is a page, a section, or a row of a table.
func TestFind(t *testing.T) {
	for topic, want := range map[string]string{
		"claude": "# Claude Code\n", "nvim": "# Neovim\n", "claude.md": "# Claude Code\n",
		"mcp#the-mode": "## The mode\n", "the-ide-integration": "## The ide integration\n", "The ide integration": "## The ide integration\n",
		"the-ide-road": "## The ide integration\n", "The ide road": "## The ide integration\n", "the-hook-road": "## The hook integration\n",
		"agents#the-hook-road": "## The hook integration\n", "agents.md#roads": "## Integrations\n", "roads": "## Integrations\n",
		"autonomous": "## autonomous\n\n| mode |", "AUTONOMOUS": "## autonomous\n\n| mode |",
	} {
		if text, also := docs.Find(topic); !strings.HasPrefix(text, want) || len(also) > 0 {
			t.Errorf("%s: %q, %.60s", topic, also, text)
		}
	}
	if text, _ := docs.Find("the-ide-integration"); strings.Contains(text, "The hook integration\n") {
		t.Error("a section goes on into the next")
	}
	if text, also := docs.Find("if-not"); text != "" || len(also) < 10 {
		t.Errorf("a section of many pages: %q", also)
	}
	for _, topic := range []string{"", "nothing-like-that", "claude#nothing", "claude#roads", "the-acp-road", "mode-nobody-has"} {
		if text, also := docs.Find(topic); text != "" || len(also) > 0 {
			t.Errorf("%q: %q, %.60s", topic, also, text)
		}
	}
}
