// Package realmodel gives tests a language model that somebody has, so that more than what
// a test plays is known to work.
package realmodel

import (
	"net/url"
	"os"
	"strings"
	"testing"
)

// Variable names the model: the URL of its interface, its name, and its key, which may be
// empty, with commas between them.
const Variable = "SIDECAR_TEST_MODEL"

// Name is that of the profile.
const Name = "real"

// Named is an entry of the setting backend.profiles for that model; nil: none is named,
// and tests play theirs.
func Named(t testing.TB) map[string]any {
	t.Helper()
	text := os.Getenv(Variable)
	if text == "" {
		return nil
	}
	p, why := parse(text)
	if why != "" {
		t.Fatalf("%s: %s; it is url,model,key", Variable, why)
	}
	return p
}

func parse(text string) (profile map[string]any, why string) {
	parts := strings.SplitN(text, ",", 3)
	if len(parts) < 2 || parts[1] == "" {
		return nil, "it names no model"
	}
	u, err := url.Parse(parts[0])
	if err != nil || u.Host == "" {
		return nil, "it begins with no URL" // which is not quoted: a key may stand there
	}
	p := map[string]any{"name": Name, "provider": "openai", "url": parts[0], "model": parts[1]}
	if u.Hostname() == "anthropic.com" || strings.HasSuffix(u.Hostname(), ".anthropic.com") {
		p["provider"] = "anthropic"
	}
	if len(parts) == 3 && parts[2] != "" {
		p["key"] = parts[2]
	}
	return p, ""
}
